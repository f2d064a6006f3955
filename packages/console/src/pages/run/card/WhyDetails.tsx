import { isTerminal, refusalWords, type Why } from "@runplane/domain"
import { CheckCircle2, Circle, XCircle } from "lucide-react"
import { useMemo } from "react"
import { UserText } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import { duration, whole } from "../../../view/format/Format.ts"
import type { ShownRun } from "../useShown.ts"

interface WhyDetailsProps {
  readonly shown: ShownRun
  readonly onSelect: (index: number) => void
  readonly answer: Pick<Why, "cost" | "decidedAt" | "notes" | "outcome" | "rules">
}

/** Events of one rule that are linked, the latest ones. */
const MOST_LINKS = 6

/** The rules held against the record, with their events; the reason of the commitment, and its cost. */
export const WhyDetails = ({ answer, onSelect, shown }: WhyDetailsProps) => {
  const indexOf = useMemo(() => new Map(shown.events.map(({ index, seq }) => [seq, index])), [shown.events])
  const { cost, decidedAt, notes, outcome, rules } = answer
  // The rules of an unfinished run can still be satisfied.
  const isOpen = outcome === null && !isTerminal(shown.state.run.status)
  const isSettled = decidedAt !== undefined && decidedAt.msBeforeCommitment > 0
  const hasCost = outcome !== null && cost.byParticipant.length > 0
  if (rules.length === 0 && notes.length === 0 && outcome?.reason === undefined && !isSettled) return null
  return (
    <section className="panel overflow-hidden" aria-label="Why">
      {outcome?.reason === undefined && !isSettled && !hasCost ? null : (
        <div className="flex flex-col gap-1 px-4 py-2.5 text-soft">
          {outcome?.reason === undefined ? null : (
            <p>
              <span className="text-muted">Reason: </span>
              <UserText text={outcome.reason} />
            </p>
          )}
          {!isSettled ? null : (
            <p className="text-muted">
              Settled at{" "}
              <button type="button" className="text-accent underline" onClick={() => onSelect(decidedAt.index)}>
                event {decidedAt.index}
              </button>
              , {duration(decidedAt.msBeforeCommitment)} before the commitment.
            </p>
          )}
          {!hasCost ? null : (
            <p className="text-muted">
              Cost up to the commitment: <CostText cost={cost} />, {whole(cost.totalTokens)} tokens.
            </p>
          )}
        </div>
      )}
      {rules.length === 0 ? null : (
        <ul className="border-t border-line px-4 py-2.5 first:border-0" aria-label="Rules">
          {rules.map(({ rule, satisfied, seqs, text }) => (
            <li key={rule} className="flex items-baseline gap-2 py-0.5">
              {satisfied ? (
                <CheckCircle2 size={13} aria-hidden className="shrink-0 translate-y-0.5 text-soft" />
              ) : isOpen ? (
                <Circle size={13} aria-hidden className="shrink-0 translate-y-0.5 text-muted" />
              ) : (
                <XCircle size={13} aria-hidden className="shrink-0 translate-y-0.5 text-bad" />
              )}
              <span className="min-w-0">
                <span className="sr-only">
                  {satisfied ? "satisfied: " : isOpen ? "not satisfied yet: " : "not satisfied: "}
                </span>
                <UserText text={refusalWords(text)} />
                {seqs.length === 0 ? null : (
                  <span className="ml-2 text-[12px] text-muted">
                    {seqs.slice(-MOST_LINKS).map((seq) => {
                      const index = indexOf.get(seq)
                      return index === undefined ? null : (
                        <button
                          key={seq}
                          type="button"
                          aria-label={`event ${index}`}
                          className="num mr-1.5 px-0.5 text-accent underline"
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
      {notes.length === 0 ? null : (
        <p
          tabIndex={0}
          className="max-h-24 overflow-auto border-t border-line px-4 py-2 text-[12px] text-muted first:border-0"
        >
          <UserText text={notes.join("; ")} />
        </p>
      )}
    </section>
  )
}
