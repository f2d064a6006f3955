import { type Cost, costNote, costOf } from "../view/Format.ts"

/** A cost. A tooltip, and a text for screen readers, say why it is not exact. */
export const CostText = ({
  cost,
  say,
  className = ""
}: {
  readonly cost: Cost
  readonly say?: (value: number) => string
  readonly className?: string
}) => {
  const note = costNote(cost)
  return (
    // Positioned, so that the hidden text scrolls with its table.
    <span className={`num relative whitespace-nowrap ${className}`} {...(note !== "" && { title: note })}>
      {costOf(cost, say)}
      {note === "" ? null : <span className="sr-only"> ({note})</span>}
    </span>
  )
}
