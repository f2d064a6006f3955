import { memo } from "react"
import { Failure } from "../../../ui/States.tsx"
import type { RunPageState } from "../RunParams.ts"
import type { ShownRun } from "../useShown.ts"
import { DecisionCard } from "./DecisionCard.tsx"
import { useCardOf, useServedCard } from "./useCard.ts"
import { WhyDetails } from "./WhyDetails.tsx"

interface CardSectionProps {
  readonly shown: ShownRun
  readonly page: Pick<RunPageState, "policy" | "votes">
  readonly set: (patch: Partial<Pick<RunPageState, "event" | "policy" | "votes">>) => void
  /** Whether the rules follow the card. */
  readonly hasDetails?: boolean
}

/** The decision of the run as a card, and the rules behind it. */
export default memo(function CardSection(props: CardSectionProps) {
  const { isNow, isWhole, start } = props.shown
  // The events are loading, and a part of them is not a decision.
  if (!isWhole && start === 0) return <div className="skeleton h-64" />
  if (start === 0) return <FromEvents {...props} />
  if (isNow) return <FromService {...props} />
  return <p className="text-muted">The decision at an earlier index is available for shorter runs only.</p>
})

/** Computed here from the events. */
const FromEvents = ({ hasDetails = false, page, set, shown }: CardSectionProps) => {
  const { by, card, run, why } = useCardOf(shown.events)
  return (
    <>
      <DecisionCard card={card} shown={shown} page={page} set={set} local={{ run, by }} />
      {hasDetails ? <WhyDetails answer={why} shown={shown} onSelect={(index) => set({ event: index })} /> : null}
    </>
  )
}

/** Read from the service. */
const FromService = ({ hasDetails = false, page, set, shown }: CardSectionProps) => {
  const { card, why } = useServedCard(shown)
  const failed = [card, why].find(({ error }) => error !== null)
  if (failed !== undefined) {
    const retry = () => {
      void card.refetch()
      void why.refetch()
    }
    return <Failure what="The decision cannot be read" error={failed.error ?? new Error("no answer")} retry={retry} />
  }
  if (card.data === undefined || typeof why.data !== "object") return <div className="skeleton h-40" />
  return (
    <>
      <DecisionCard card={card.data} shown={shown} page={page} set={set} local={undefined} />
      {hasDetails ? <WhyDetails answer={why.data} shown={shown} onSelect={(index) => set({ event: index })} /> : null}
    </>
  )
}
