import { memo } from "react"
import type { RunPageState, SetRunPage } from "../RunParams.ts"
import type { ShownRun } from "../useShown.ts"
import { DecisionCard } from "./DecisionCard.tsx"
import { useCardOf } from "./useCard.ts"
import { WhyDetails } from "./WhyDetails.tsx"

interface CardSectionProps {
  readonly shown: ShownRun
  readonly page: Pick<RunPageState, "policy" | "votes">
  readonly set: SetRunPage
  /** Whether the rules follow the card. */
  readonly hasDetails?: boolean
}

/** The decision of the run as a card, and the rules behind it. */
export default memo(function CardSection(props: CardSectionProps) {
  const { isNow, start } = props.shown
  if (start === 0) return <FromEvents {...props} />
  if (isNow) return <FromService {...props} />
  return <p className="text-muted">The decision at an earlier index is available for shorter runs only.</p>
})

/** Computed here from the events. */
const FromEvents = ({ hasDetails = false, page, set, shown }: CardSectionProps) => {
  const { answer, by, card, run } = useCardOf(shown.events)
  return (
    <>
      <DecisionCard card={card} shown={shown} page={page} set={set} local={{ run, by }} />
      {hasDetails ? <WhyDetails answer={answer} shown={shown} onSelect={(index) => set({ event: index })} /> : null}
    </>
  )
}
