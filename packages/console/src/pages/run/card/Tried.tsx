import { type DecisionCard, refusalWords } from "@runplane/domain"
import type { UseQueryResult } from "@tanstack/react-query"
import { UserText } from "../../../ui/basics.tsx"
import { Reasons } from "../../../ui/kit.tsx"
import { Failure } from "../../../ui/States.tsx"
import { triedQuestion } from "../../../view/decision/TriedVotes.ts"
import type { RunPageState } from "../RunParams.ts"
import type { TriedAnswer } from "./useWhatIf.ts"

interface TriedProps {
  readonly card: DecisionCard
  readonly page: Pick<RunPageState, "policy" | "votes">
  readonly asked: UseQueryResult<TriedAnswer>
  readonly onBack: () => void
}

/** Named participants whose vote alone turns the answer. */
const MOST_PIVOTAL = 6

/** The verdict with other votes or under another policy. */
export const Tried = ({ asked, card, onBack, page }: TriedProps) => {
  const { data, error, refetch } = asked
  const names = new Map(card.rings.map(({ name, proposalId }) => [proposalId, name]))
  const nameOf = (proposalId: string) => (card.rings.length > 1 ? names.get(proposalId) : undefined)
  return (
    <div className="flex flex-col gap-2" data-what-if>
      <p className="font-semibold text-accent">
        <UserText text={triedQuestion(page.votes, page.policy, nameOf)} />
      </p>
      {error !== null ? (
        <Failure what="The service did not answer" error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <div className="skeleton h-16" />
      ) : (
        <Answer answer={data} card={card} />
      )}
      <p className="text-[12.5px] text-muted">
        The run itself is unchanged.{" "}
        <button type="button" className="py-0.5 text-accent underline" onClick={onBack}>
          Back to the recorded votes
        </button>
      </p>
    </div>
  )
}

const Answer = ({ answer, card }: { readonly answer: TriedAnswer; readonly card: DecisionCard }) => {
  const { after, before, changed, notes, pivotal } = answer
  const what = after.outcome === "positive" ? "an approval" : "a decline"
  const alone = [...new Set(pivotal.map(({ participantId }) => participantId))]
  const isCommitted = card.action !== undefined
  return (
    <>
      <p>
        <b className="font-semibold">
          {isCommitted
            ? after.allowed
              ? changed
                ? "It would stand."
                : "It would still stand."
              : changed
                ? "It would not stand."
                : "It would not stand either."
            : after.allowed
              ? `The policy would allow ${what}.`
              : `The policy would refuse ${what}.`}
        </b>
        {isCommitted || !changed ? null : before.allowed ? " Now it allows one." : " Now it refuses one."}
      </p>
      <Reasons texts={after.reasons.map(refusalWords)} className="" />
      {alone.length === 0 ? null : (
        <p className="text-soft">
          One vote of <UserText text={alone.slice(0, MOST_PIVOTAL).join(", ")} />
          {alone.length > MOST_PIVOTAL ? ` or ${alone.length - MOST_PIVOTAL} others` : ""} alone would turn this.
        </p>
      )}
      {notes.length === 0 ? null : (
        <p className="text-[12px] text-muted">
          <UserText text={notes.join("; ")} />
        </p>
      )}
    </>
  )
}
