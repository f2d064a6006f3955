import type { StabilityAnswer, StabilityGroup } from "@runplane/api"
import { type FlipCause, outcomeText, type Stability, usdText } from "@runplane/domain"
import type { Style } from "../narrative/Narrative.ts"
import { plainText } from "../narrative/PlainText.ts"

/** Characters of a whole bar. */
const BAR = 20

const barOf = (share: number): string => {
  const filled = Math.max(1, Math.round(share * BAR))
  return `${"█".repeat(filled)}${"░".repeat(BAR - filled)}`
}

/** The outcomes of runs as bars, the number of those that do not count, and the causes of flips in words. */
export const distributionLines = (
  stability: Pick<Stability, "excluded" | "n" | "outcomes">,
  flips: ReadonlyArray<FlipCause>
): ReadonlyArray<string> => [
  ...stability.outcomes.map(
    (outcome) => `  ${barOf(outcome.share)} ${String(outcome.count).padStart(4)}  ${plainText(outcomeText(outcome))}`
  ),
  ...Object.entries(stability.excluded.byReason).map(([reason, count]) => `  not counted: ${count} ${reason}`),
  ...flips.map((flip) => `  ${plainText(flipText(flip, stability))}`)
]

/** `7 of 20 parted where risk-analyst voted REJECT after the second evaluation`. */
export const flipText = ({ count, text }: FlipCause, { n }: Pick<Stability, "n">): string =>
  `${count} of ${n} parted where ${text}`

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`

const agreementText = ({ high, low, rate }: Stability["agreement"]): string =>
  `${percent(rate)}, between ${percent(low)} and ${percent(high)}`

const secondsText = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

/** The answer of `GET /stability` as lines for people. */
export const stabilityLines = (
  { by = [], flips, isLimited, ...stability }: StabilityAnswer,
  group: StabilityGroup | undefined,
  { bold, dim }: Style
): ReadonlyArray<string> => {
  const { agreement, cost, durationMs, mindChanges, n } = stability
  return [
    `${bold(`${n} counted run${n === 1 ? "" : "s"}`)}${isLimited ? dim(", the latest ones") : ""}`,
    ...distributionLines(stability, flips),
    ...(n === 0
      ? []
      : [
          `  agreement      ${agreementText(agreement)}`,
          `  changed votes  ${mindChanges}`,
          `  cost           ${usdText(cost.p50, 4, [cost.p95])} median, ${usdText(cost.p95, 4, [cost.p50])} at the 95th percentile`,
          `  duration       ${secondsText(durationMs.p50)} median, ${secondsText(durationMs.p95)} at the 95th percentile`
        ]),
    ...(group === undefined ? [] : ["", bold(`By ${group}`)]),
    ...by.map((each) => {
      const name = plainText((group === undefined ? undefined : each[group]) || "none")
      const [most] = each.outcomes
      const rest =
        most === undefined ? "no counted run" : `${agreementText(each.agreement)}, mostly ${outcomeText(most)}`
      return `  ${barOf(each.agreement.rate)} ${String(each.n).padStart(4)}  ${name}  ${dim(plainText(rest))}`
    })
  ]
}
