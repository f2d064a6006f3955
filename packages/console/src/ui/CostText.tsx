import { type Cost, costNote, costOf } from "../view/format/Format.ts"

interface CostTextProps {
  readonly cost: Cost
  readonly say?: (usd: number) => string
}

/** A cost. A tooltip, and a text for screen readers, say why it is not exact. */
export const CostText = ({ cost, say }: CostTextProps) => {
  const note = costNote(cost)
  if (note === "") return <span className="num whitespace-nowrap">{costOf(cost, say)}</span>
  return (
    // Positioned, so that the hidden text scrolls with its table.
    <span title={note} className="num relative whitespace-nowrap">
      {costOf(cost, say)}
      <span className="sr-only"> ({note})</span>
    </span>
  )
}
