import type { Run } from "@runplane/api"
import { isTerminal, runDuration } from "@runplane/domain"
import { StatusBadge, Time, UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { Facts, Loaded, TextLink } from "../../ui/kit.tsx"
import { Overlay } from "../../ui/Overlay.tsx"
import { useRead } from "../../ui/useRead.ts"
import { duration, percent, whole } from "../../view/Format.ts"
import { runFacts } from "../../view/RunFacts.ts"
import { Bulk } from "./Bulk.tsx"

/** A run beside the list: question, decision, facts and actions. */
export default function Peek({ onClose, run }: { readonly run: Run; readonly onClose: () => void }) {
  const facts = runFacts(run)
  const state = useRead(["run state", run.id], (api) => api.runs.state({ params: { id: run.id } }))
  const elapsed = runDuration(run, Date.now())
  return (
    <Overlay open onClose={onClose} title={facts.title} form="side">
      <div className="flex flex-wrap items-center gap-3 px-3 pt-3">
        <StatusBadge status={run.status} chip />
        <TextLink href={`/runs/${run.id}`}>Open the run</TextLink>
        <TextLink href={`/compare?left=${run.id}`}>Compare with…</TextLink>
      </div>
      <Loaded read={state} what="The state of the run cannot be read" rows={6}>
        {({ decision: { current }, participants, run: { intent } }) => (
          <Facts
            facts={[
              ["Question", <UserText key="question" text={intent ?? facts.intent ?? "–"} />],
              [
                "Decision",
                current?.finalized === true ? (
                  <span key="decision">
                    <UserText text={current.action ?? "–"} className="font-medium" />
                    {current.confidence === undefined ? null : (
                      <span className="num text-muted"> {percent(current.confidence)}</span>
                    )}
                    {current.reasons.map((reason) => (
                      <span key={reason} className="block text-soft">
                        <UserText text={reason} />
                      </span>
                    ))}
                  </span>
                ) : run.status === "cancelled" ? (
                  "None, cancelled"
                ) : isTerminal(run.status) ? (
                  "None"
                ) : (
                  "None yet"
                )
              ],
              ...(run.errorMessage === undefined
                ? []
                : [
                    [
                      "Error",
                      <UserText key="error" text={`${run.errorCode ?? ""} ${run.errorMessage}`} className="text-bad" />
                    ] as const
                  ]),
              [
                "Participants",
                <UserText key="who" text={participants.map(({ participantId }) => participantId).join(", ")} />
              ],
              ["Scenario", facts.scenario ?? "–"],
              ["Policy", facts.policy ?? "–"],
              ["Started", run.startedAt === undefined ? "–" : <Time key="started" at={run.startedAt} />],
              ["Duration", elapsed === undefined ? "–" : duration(elapsed)],
              ["Events", whole(run.lastEventIndex)],
              ["Tokens", facts.tokens === undefined ? "–" : whole(facts.tokens)],
              ["Cost", facts.cost === undefined ? "–" : <CostText key="cost" cost={facts.cost} />],
              ["Tags", run.tags.length === 0 ? "–" : run.tags.join(", ")]
            ]}
          />
        )}
      </Loaded>
      <Bulk runs={[run]} onClear={onClose} />
    </Overlay>
  )
}
