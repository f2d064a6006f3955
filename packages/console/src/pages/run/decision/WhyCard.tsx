import { isTerminal, type RunStatus, shownTallies, type Why, why } from "@runplane/domain"
import { useQuery } from "@tanstack/react-query"
import { Ban, CheckCircle2, Circle, CircleDashed, CircleHelp, TriangleAlert, XCircle } from "lucide-react"
import { memo, useMemo } from "react"
import { callFor } from "../../../client/Client.ts"
import { UserText } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import { Reasons } from "../../../ui/kit.tsx"
import { Failure } from "../../../ui/States.tsx"
import { counted, duration, whole } from "../../../view/format/Format.ts"
import { OFTEN_MS } from "../../../view/live/Polls.ts"
import type { ShownRun } from "../useShown.ts"
import { DecisionProof } from "./DecisionProof.tsx"
import { useActivePolicy } from "./useActivePolicy.ts"

interface WhyCardProps {
  readonly shown: ShownRun
  readonly onSelect: (index: number) => void
}

/** Why the run ended as it did, or what is missing. */
export default memo(function WhyCard(props: WhyCardProps) {
  const { isNow, start } = props.shown
  if (start === 0) return <FromEvents {...props} />
  if (isNow) return <FromService {...props} />
  return <p className="text-muted">The explanation of an earlier index is available for shorter runs only.</p>
})

/** Computed here from the events, by the same code as the service. */
const FromEvents = (props: WhyCardProps) => {
  const { by, run } = useActivePolicy(props.shown.events)
  return <Card {...props} answer={useMemo(() => why(run, by), [run, by])} />
}

/** Read from the service, when not all events are loaded. */
const FromService = (props: WhyCardProps) => {
  const { run, state } = props.shown
  const { data, error, refetch } = useQuery({
    // A receipt arrives after the end.
    queryKey: ["why", run.id, run.status, isTerminal(run.status) ? state.timeline.latestIndex : 0],
    refetchInterval: isTerminal(run.status) ? false : OFTEN_MS,
    queryFn: ({ signal }) => callFor("application/json", (api) => api.decisions.why({ params: { id: run.id } }), signal)
  })
  if (error !== null)
    return <Failure what="The explanation cannot be read" error={error} retry={() => void refetch()} />
  return typeof data === "object" ? <Card {...props} answer={data} /> : <div className="skeleton h-24" />
}

/** The part of the explanation that the card shows. */
type Explanation = Pick<
  Why,
  | "cost"
  | "counterfactuals"
  | "decidedAt"
  | "missing"
  | "notes"
  | "outcome"
  | "receipt"
  | "rules"
  | "summary"
  | "tallies"
  | "voting"
> &
  Partial<Pick<Why, "warnings">> & { readonly counted?: object }

const Card = ({ answer, onSelect, shown }: WhyCardProps & { readonly answer: Explanation }) => {
  const indexOf = useMemo(() => new Map(shown.events.map(({ index, seq }) => [seq, index])), [shown.events])
  const {
    cost,
    counterfactuals,
    decidedAt,
    missing,
    outcome,
    receipt,
    rules,
    summary,
    voting = [],
    warnings = []
  } = answer
  const { status } = shown.state.run
  const style = outcomeStyle(outcome, status)
  const Icon = style.icon
  // The rules of an unfinished run can still be satisfied.
  const isOpen = outcome === null && !isTerminal(status)
  const pivotal = counterfactuals.filter(({ stillAllowed }) => !stillAllowed)
  return (
    <section className={`panel overflow-hidden border-l-4 ${style.border}`} aria-label="Why">
      <div className="flex gap-3 p-4">
        <Icon size={22} aria-hidden className={`mt-0.5 shrink-0 ${style.text}`} />
        <div className="min-w-0 flex-1">
          <h2 className="text-[15px] font-semibold tracking-tight">
            {outcome === null ? style.title : <UserText text={outcome.action} />}
            {outcome === null ? null : <span className="font-normal text-muted"> · {style.title}</span>}
          </h2>
          {outcome?.reason === undefined ? null : (
            <p className="mt-0.5 text-soft">
              <UserText text={outcome.reason} />
            </p>
          )}
          <p className="mt-1 text-soft">
            <UserText text={summary} />
          </p>
          {warnings.map((text) => (
            <p key={text} className="mt-1.5 flex items-baseline gap-2 text-warn">
              <TriangleAlert size={13} aria-hidden className="shrink-0 translate-y-0.5" />
              <span className="min-w-0">
                <span className="sr-only">Warning: </span>
                <UserText text={text} />
              </span>
            </p>
          ))}
          <Reasons texts={[...shownTallies(answer), ...voting].map(({ text }) => text)} className="mt-1.5" />
          <Reasons texts={missing} className="mt-1.5" />
          {cost.byParticipant.length === 0 ? null : (
            <p className="mt-1 text-muted">
              Cost up to the commitment: <CostText cost={cost} />, {whole(cost.totalTokens)} tokens.
            </p>
          )}
          {decidedAt === undefined || decidedAt.msBeforeCommitment <= 0 ? null : (
            <p className="mt-1 text-muted">
              Settled at{" "}
              <button type="button" className="text-accent underline" onClick={() => onSelect(decidedAt.index)}>
                event {decidedAt.index}
              </button>
              , {duration(decidedAt.msBeforeCommitment)} before the commitment.
            </p>
          )}
          <DecisionProof commitmentHash={outcome?.commitmentHash} receipt={receipt} />
        </div>
      </div>
      {rules.length === 0 ? null : (
        <ul className="border-t border-line px-4 py-2.5">
          {rules.map(({ rule, satisfied, seqs, text }) => (
            <li key={rule} className="flex items-baseline gap-2 py-0.5">
              {satisfied ? (
                <CheckCircle2 size={13} aria-hidden className="shrink-0 translate-y-0.5 text-good" />
              ) : isOpen ? (
                <Circle size={13} aria-hidden className="shrink-0 translate-y-0.5 text-muted" />
              ) : (
                <XCircle size={13} aria-hidden className="shrink-0 translate-y-0.5 text-bad" />
              )}
              <span className="min-w-0">
                <span className="sr-only">
                  {satisfied ? "satisfied: " : isOpen ? "not satisfied yet: " : "not satisfied: "}
                </span>
                <UserText text={text} />
                {seqs.length === 0 ? null : (
                  <span className="ml-2 text-[12px] text-muted">
                    {seqs.slice(-6).map((seq) => {
                      const index = indexOf.get(seq)
                      return index === undefined ? null : (
                        <button
                          key={seq}
                          type="button"
                          className="num mr-1.5 text-accent underline"
                          onClick={() => onSelect(index)}
                        >
                          {index}
                        </button>
                      )
                    })}
                  </span>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {pivotal.length === 0 ? null : (
        <p tabIndex={0} className="max-h-24 overflow-auto border-t border-line px-4 py-2.5 text-soft">
          {counted(pivotal.length, "vote was", "votes were each")} needed:{" "}
          <UserText text={pivotal.map(({ participantId }) => participantId).join(", ")} />.
        </p>
      )}
      {answer.notes.length === 0 ? null : (
        <p tabIndex={0} className="max-h-24 overflow-auto border-t border-line px-4 py-2 text-[12px] text-muted">
          <UserText text={answer.notes.join("; ")} />
        </p>
      )}
    </section>
  )
}

const outcomeStyle = (outcome: Explanation["outcome"], status: RunStatus) => {
  if (outcome === null) {
    if (status === "cancelled")
      return { icon: Ban, text: "text-calm", border: "border-l-line-strong", title: "None, cancelled" }
    return isTerminal(status)
      ? { icon: XCircle, text: "text-bad", border: "border-l-bad", title: "Ended without a decision" }
      : { icon: CircleDashed, text: "text-accent", border: "border-l-accent", title: "No decision yet" }
  }
  const { againstVotes, positive } = outcome
  if (againstVotes === true) {
    const title = `${positive === false ? "negative" : "positive"}, against its votes`
    return { icon: TriangleAlert, text: "text-warn", border: "border-l-warn", title }
  }
  if (positive === true) return { icon: CheckCircle2, text: "text-good", border: "border-l-good", title: "positive" }
  if (positive === false) return { icon: XCircle, text: "text-bad", border: "border-l-bad", title: "negative" }
  return { icon: CircleHelp, text: "text-calm", border: "border-l-line-strong", title: "outcome not stated" }
}
