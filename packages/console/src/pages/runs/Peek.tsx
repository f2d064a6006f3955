import type { Run } from "@runplane/api"
import { runDuration } from "@runplane/domain"
import { Said, StatusBadge, Time } from "../../ui/basics.tsx"
import { Facts, Shown, To } from "../../ui/kit.tsx"
import { Overlay } from "../../ui/Overlay.tsx"
import { useRead } from "../../ui/useRead.ts"
import { costOf, duration, percent, whole } from "../../view/Format.ts"
import { runFacts } from "../../view/RunFacts.ts"
import { Bulk } from "./Bulk.tsx"

/** A run beside the list: what it was about, what came of it, and what can be done with it. */
export default function Peek({ onClose, run }: { readonly run: Run; readonly onClose: () => void }) {
  const facts = runFacts(run)
  const state = useRead(["run state", run.id], (api) => api.runs.state({ params: { id: run.id } }))
  const elapsed = runDuration(run, Date.now())
  return (
    <Overlay open onClose={onClose} title={facts.title} form="side">
      <div className="flex flex-wrap items-center gap-3 px-3 pt-3">
        <StatusBadge status={run.status} chip />
        <To href={`/runs/${run.id}`}>Open the run</To>
        <To href={`/compare?left=${run.id}`}>Compare with…</To>
      </div>
      <Shown read={state} what="The state of the run cannot be read" rows={6}>
        {({ decision: { current }, participants }) => (
          <Facts
            facts={[
              ["Asked", <Said key="asked" text={current?.prompt ?? facts.intent ?? "–"} />],
              [
                "Decision",
                current?.finalized === true ? (
                  <span key="decision">
                    <Said text={current.action ?? "–"} className="font-medium" />
                    {current.confidence === undefined ? null : (
                      <span className="num text-muted"> {percent(current.confidence)}</span>
                    )}
                    {current.reasons.map((reason) => (
                      <span key={reason} className="block text-soft">
                        <Said text={reason} />
                      </span>
                    ))}
                  </span>
                ) : (
                  "None yet"
                )
              ],
              ...(run.errorMessage === undefined
                ? []
                : [
                    [
                      "Error",
                      <Said key="error" text={`${run.errorCode ?? ""} ${run.errorMessage}`} className="text-bad" />
                    ] as const
                  ]),
              [
                "Participants",
                <Said key="who" text={participants.map(({ participantId }) => participantId).join(", ")} />
              ],
              ["Scenario", facts.scenario ?? "–"],
              ["Policy", facts.policy ?? "–"],
              ["Started", run.startedAt === undefined ? "–" : <Time key="started" at={run.startedAt} />],
              ["Duration", elapsed === undefined ? "–" : duration(elapsed)],
              ["Events", whole(run.lastEventIndex)],
              ["Tokens", facts.tokens === undefined ? "–" : whole(facts.tokens)],
              [
                "Cost",
                facts.costUsd === undefined && facts.callsWithoutUsage === undefined
                  ? "–"
                  : costOf(facts.costUsd ?? 0, facts.callsWithoutUsage)
              ],
              ["Tags", run.tags.length === 0 ? "–" : run.tags.join(", ")]
            ]}
          />
        )}
      </Shown>
      <Bulk runs={[run]} onClear={onClose} />
    </Overlay>
  )
}
