import type { CommitteeIndependence, CommitteeSeatWorth } from "@runplane/api"
import { percentText } from "@runplane/domain"
import { type Column, tableLines } from "../../Table.ts"

/** Pairs that a table lists, those that err together most first. */
const MAX_PAIRS = 20

export type Seat = CommitteeIndependence["seats"][number]
type Pair = CommitteeIndependence["pairs"][number]

const interval = ({ high, low }: { readonly low: number; readonly high: number }) =>
  `${percentText(low)} to ${percentText(high)}`

const figure = (value: number) => value.toFixed(2)

/** Share of right votes of a seat or a shadow. */
export const rightText = ({ accuracy }: Pick<Seat, "accuracy">): string =>
  accuracy === undefined ? "no truth" : `${percentText(accuracy.rate)} (${interval(accuracy)})`

const errorsTogether = ({ errors: { isTooFew, phi } }: Pair): string =>
  phi === undefined
    ? "not defined"
    : `${figure(phi.value)} (${figure(phi.low)} to ${figure(phi.high)})${isTooFew ? ", too few runs" : ""}`

const pairColumns = (title: string): ReadonlyArray<Column<Pair>> => [
  { title, text: ({ left, right }) => `${left}, ${right}`, elastic: true },
  { title: "BOTH ERRED", text: ({ errors }) => `${errors.both} of ${errors.sharedRuns}` },
  { title: "CORRELATION OF ERRORS", text: errorsTogether },
  { title: "AT MOST", text: ({ errors }) => (errors.largestPhi === undefined ? "" : figure(errors.largestPhi)) },
  {
    title: "SAME VOTE",
    text: ({ agreement: { agreed, runs, share } }) =>
      share === undefined ? "no shared votes" : `${percentText(share.rate)}, ${agreed} of ${runs}`
  }
]

export const countText = ({ count, n }: { readonly count: number; readonly n: number }) =>
  n === 0 ? "" : `${count} of ${n}`

export const notCountedText = ({ notCounted }: Pick<CommitteeSeatWorth, "notCounted">): string =>
  Object.entries(notCounted)
    .map(([reason, runs]) => `${runs} ${reason}`)
    .join(", ")

/** Decisions that would be refused, with the bound of a seat or shadow that changes none. */
export const changedText = ({ changed, idle }: Pick<CommitteeSeatWorth, "changed" | "idle">): string =>
  `${countText(changed)}${idle === undefined ? "" : `, at most ${percentText(idle.atMost, 1)}`}`

const byDependence = (one: Pair, other: Pair): number =>
  (other.errors.phi?.value ?? Number.NEGATIVE_INFINITY) - (one.errors.phi?.value ?? Number.NEGATIVE_INFINITY) ||
  (other.agreement.share?.rate ?? 0) - (one.agreement.share?.rate ?? 0)

/** A table of pairs, those that err together most first. */
export const pairLines = (title: string, pairs: ReadonlyArray<Pair>, width: number): ReadonlyArray<string> => {
  const shown = pairs.toSorted(byDependence).slice(0, MAX_PAIRS)
  return [
    ...tableLines(pairColumns(title), shown, width),
    ...(shown.length < pairs.length ? [`and ${pairs.length - shown.length} more pairs; --json has all`] : [])
  ]
}
