import type { CompileLaunchResult } from "@runplane/api"
import { useQuery } from "@tanstack/react-query"
import { CircleAlert, CircleCheck } from "lucide-react"
import { Suspense } from "react"
import { call } from "../../client/Client.ts"
import { Chip, UserText } from "../../ui/basics.tsx"
import { lazily } from "../../ui/lazily.ts"
import { duration, modeLabel } from "../../view/format/Format.ts"

// It loads the part of the domain that reads policies.
const PolicyInWords = lazily(() => import("./PolicyInWords.tsx"))
const JsonTree = lazily(() => import("../../ui/json/JsonTree.tsx"))

interface PreviewProps {
  readonly compiled: CompileLaunchResult | undefined
  /** Why the launch service refuses the inputs; undefined when it accepts them. */
  readonly refusal: string | undefined
  readonly isWorking: boolean
}

/** The result of the inputs, compiled by the launch service while they are typed. */
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
          <UserText text={refusal} />
        </p>
      )}
      {compiled === undefined || session === undefined ? null : (
        <div className="mt-1 flex flex-col gap-2" data-compiled={refusal === undefined ? "yes" : "before"}>
          <p className="flex items-baseline gap-1.5">
            <CircleCheck
              size={14}
              aria-hidden
              className={`shrink-0 translate-y-0.5 ${refusal === undefined ? "text-good" : "text-muted"}`}
            />
            <span>
              {compiled.initiator === undefined ? (
                "No participant opens the session."
              ) : (
                <>
                  <UserText text={compiled.initiator.participantId} className="font-medium" /> opens a session to{" "}
                  <UserText text={compiled.initiator.sessionStart.intent} className="font-medium" />.
                </>
              )}
            </span>
          </p>
          <p className="flex flex-wrap gap-1.5">
            <Chip>{modeLabel(session.modeName)} mode</Chip>
            <Chip>at most {duration(session.ttlMs)}</Chip>
            {(compiled.runDescriptor.execution?.tags ?? []).map((tag) => (
              <Chip key={tag}>
                <UserText text={tag} className="truncate" />
              </Chip>
            ))}
          </p>
          {policyId === undefined ? (
            <p className="text-muted">No policy: the initiator may commit without further conditions.</p>
          ) : (
            <div>
              <h4 className="font-medium">
                <UserText text={policyId} />
              </h4>
              {policy.isError ? (
                <p className="text-muted">The rules of the policy cannot be read.</p>
              ) : policy.data === undefined ? null : (
                <Suspense fallback={null}>
                  <PolicyInWords policy={policy.data} modeName={session.modeName} />
                </Suspense>
              )}
            </div>
          )}
          <details>
            <summary className="cursor-pointer text-soft">Context of the agents, and run descriptor</summary>
            <div className="mt-2 flex flex-col gap-3 overflow-auto">
              <Suspense fallback={null}>
                {compiled.scenarioMeta.sessionContext === undefined ? null : (
                  <JsonTree value={compiled.scenarioMeta.sessionContext} />
                )}
                <JsonTree value={compiled.runDescriptor} />
              </Suspense>
            </div>
          </details>
        </div>
      )}
    </section>
  )
}
