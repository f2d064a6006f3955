import type { CompileLaunchResult } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { CircleAlert, CircleCheck } from "lucide-react"
import { Suspense } from "react"
import { call } from "../../client/Client.ts"
import { Chip, Said } from "../../ui/basics.tsx"
import { JsonTree } from "../../ui/JsonTree.tsx"
import { lazily } from "../../ui/lazily.ts"
import { duration, modeLabel } from "../../view/Format.ts"

// Its rules take the part of the domain that reads policies.
const PolicyInWords = lazily(() => import("./PolicyInWords.tsx"))

interface PreviewProps {
  readonly compiled: CompileLaunchResult | undefined
  /** What the launch service says against the inputs; undefined while it takes them. */
  readonly refusal: string | undefined
  readonly isWorking: boolean
}

/** What the inputs come to, as the launch service compiles them while they are written. */
export const Preview = ({ compiled, isWorking, refusal }: PreviewProps) => {
  const session = compiled?.runDescriptor.session
  const policyId = session?.policyVersion
  const policy = useQuery({
    queryKey: ["policy", policyId],
    enabled: policyId !== undefined,
    staleTime: 60_000,
    queryFn: ({ signal }) => call((api) => api.policies.get({ params: { policyId: policyId ?? "" } }), signal)
  })
  return (
    <section className="panel p-4" aria-label="Preview">
      <h3 className="flex items-center gap-2 font-semibold">
        Preview
        <span role="status" className="text-[12px] font-normal text-muted">
          {isWorking ? "compiling…" : ""}
        </span>
      </h3>
      {refusal === undefined ? null : (
        <p className="mt-1 flex items-baseline gap-1.5 text-bad" data-compiled="no">
          <CircleAlert size={14} aria-hidden className="shrink-0 translate-y-0.5" />
          <Said text={refusal} />
        </p>
      )}
      {compiled === undefined || session === undefined ? null : (
        <div className="mt-1 flex flex-col gap-2" data-compiled={refusal === undefined ? "yes" : "before"}>
          <p className="flex items-baseline gap-1.5">
            <CircleCheck size={14} aria-hidden className="shrink-0 translate-y-0.5 text-good" />
            <span>
              {compiled.initiator === undefined ? (
                "Nobody opens the session."
              ) : (
                <>
                  <Said text={compiled.initiator.participantId} className="font-medium" /> opens a session to{" "}
                  <Said text={compiled.initiator.sessionStart.intent} className="font-medium" />.
                </>
              )}
            </span>
          </p>
          <p className="flex flex-wrap gap-1.5">
            <Chip>{modeLabel(session.modeName)} mode</Chip>
            <Chip>at most {duration(session.ttlMs)}</Chip>
            {(compiled.runDescriptor.execution?.tags ?? []).map((tag) => (
              <Chip key={tag}>
                <Said text={tag} className="truncate" />
              </Chip>
            ))}
          </p>
          {policyId === undefined ? (
            <p className="text-muted">No policy is named: the initiator commits, and nothing else is asked.</p>
          ) : (
            <div>
              <h4 className="font-medium">
                <Said text={policyId} />
              </h4>
              {policy.isError ? (
                <p className="text-muted">The control plane does not tell its rules.</p>
              ) : policy.data === undefined ? null : (
                <Suspense fallback={null}>
                  <PolicyInWords policy={policy.data} modeName={session.modeName} />
                </Suspense>
              )}
            </div>
          )}
          <details>
            <summary className="cursor-pointer text-soft">What the agents are told, and the run descriptor</summary>
            <div className="mt-2 flex flex-col gap-3 overflow-auto">
              {compiled.scenarioMeta.sessionContext === undefined ? null : (
                <JsonTree value={compiled.scenarioMeta.sessionContext} />
              )}
              <JsonTree value={compiled.runDescriptor} />
            </div>
          </details>
        </div>
      )}
    </section>
  )
}
