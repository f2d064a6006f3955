import type { StabilityAnswer } from "@runplane/api"
import { outcomeWords } from "../view/decision/OutcomeWords.ts"
import { dollars, duration, percent, whole } from "../view/format/Format.ts"
import { excludedText, intervalText, type OutcomeBar, outcomeBars, type StabilityFigures } from "../view/gates/Gates.ts"
import { UserText } from "./basics.tsx"
import { countColumn, Facts, type TableColumn, TextLink } from "./kit.tsx"

const width = (share: number) => `${(100 * share).toFixed(2)}%`

/** A share from 0 to 1 as a bar, and its interval as a line across it. */
export const ShareBar = ({ high, label, low, rate, tone }: BarProps) => (
  <span role="img" aria-label={label} title={label} className="relative block h-3.5 rounded-sm bg-sunken">
    <span className={`absolute inset-y-0 left-0 rounded-sm opacity-70 ${tone}`} style={{ width: width(rate) }} />
    <span
      className="absolute top-1/2 h-0.5 -translate-y-1/2 bg-text"
      style={{ left: width(low), width: width(high - low) }}
    />
    {[low, high].map((end, at) => (
      <span
        key={at === 0 ? "low" : "high"}
        className={`absolute inset-y-0.5 w-0.5 bg-text ${at === 0 ? "" : "-translate-x-full"}`}
        style={{ left: width(end) }}
      />
    ))}
  </span>
)

interface BarProps {
  readonly rate: number
  readonly low: number
  readonly high: number
  /** The bar in words. */
  readonly label: string
  /** Its class of colour. */
  readonly tone: string
}

const toneOf = ({ positive }: Pick<OutcomeBar, "positive">) =>
  positive === null ? "bg-calm" : positive ? "bg-good" : "bg-bad"

/** The outcomes of runs as bars, each with the 95 % interval of its share. */
export const OutcomeBars = ({ stability }: { readonly stability: Pick<StabilityAnswer, "n" | "outcomes"> }) => (
  <ul className="flex flex-col gap-2 p-3" aria-label="Outcomes">
    {outcomeBars(stability).map((bar) => (
      <li key={bar.text} data-outcome={bar.text}>
        <div className="mb-0.5 flex flex-wrap items-baseline gap-x-3">
          <UserText text={bar.text} className="min-w-0 font-medium" />
          <span className="num">{bar.countText}</span>
          <span className="num text-muted">{bar.intervalText}</span>
        </div>
        <ShareBar {...bar} label={`${bar.countText}, ${bar.intervalText}`} tone={toneOf(bar)} />
      </li>
    ))}
  </ul>
)

/** Agreement, changed votes, costs and durations of runs. */
export const StabilityFacts = ({ stability }: { readonly stability: StabilityFigures }) => {
  const { agreement, cost, durationMs, excluded, mindChanges, n } = stability
  const left = excludedText(excluded)
  return (
    <Facts
      facts={[
        ["Agreement", n === 0 ? "–" : `${percent(agreement.rate)}, ${intervalText(agreement)}`],
        ["Cost", `${dollars(cost.p50, [cost.p95])} median, ${dollars(cost.p95, [cost.p50])} at the 95th percentile`],
        ["Duration", `${duration(durationMs.p50)} median, ${duration(durationMs.p95)} at the 95th percentile`],
        ["Changed votes", whole(mindChanges)],
        ...(left === "" ? [] : ([["Not counted", left]] as const))
      ]}
    />
  )
}

/** The causes of other outcomes than the most frequent one, each with its two example runs. */
export const Flips = ({ flips, n, outcomes }: Pick<StabilityAnswer, "flips" | "n" | "outcomes">) =>
  flips.length === 0 ? (
    <p className="px-3 py-2 text-soft">
      {outcomes.length > 1
        ? "No cause is on record for the other outcomes."
        : n === 0
          ? "No run counts yet."
          : "All counted runs have the same outcome."}
    </p>
  ) : (
    <ul aria-label="Causes of flips">
      {flips.map(({ count, exampleLeft, exampleRight, key, text }) => (
        <li key={key} className="border-b border-line px-3 py-2 last:border-0" data-flip>
          <span className="num font-medium">
            {whole(count)} of {whole(n)}
          </span>{" "}
          parted where <UserText text={text} />{" "}
          <span className="inline-flex flex-wrap gap-x-3 text-muted">
            <TextLink href={`/compare?${new URLSearchParams({ left: exampleLeft, right: exampleRight }).toString()}`}>
              Compare an example
            </TextLink>
            <TextLink href={`/runs/${exampleLeft}`}>usual run</TextLink>
            <TextLink href={`/runs/${exampleRight}`}>other run</TextLink>
          </span>
        </li>
      ))}
    </ul>
  )

/** Columns of groups of runs: their number, their agreement with its interval, and their most frequent outcome. */
export const agreementColumns: ReadonlyArray<TableColumn<StabilityFigures>> = [
  countColumn("Runs", ({ n }) => n),
  {
    title: "Agreement",
    by: ({ agreement, n }) => (n === 0 ? undefined : agreement.low),
    className: "w-[30%] min-w-[96px]",
    cell: ({ agreement, n }) =>
      n === 0 ? (
        "–"
      ) : (
        <ShareBar {...agreement} tone="bg-accent" label={`${percent(agreement.rate)}, ${intervalText(agreement)}`} />
      )
  },
  {
    title: "Share",
    align: "right",
    by: ({ agreement, n }) => (n === 0 ? undefined : agreement.rate),
    cell: ({ agreement, n }) => <span className="num whitespace-nowrap">{n === 0 ? "–" : percent(agreement.rate)}</span>
  },
  {
    title: "Most frequent",
    from: "sm",
    className: "max-w-[240px]",
    cell: ({ outcomes: [most] }) => (most === undefined ? "–" : <UserText text={outcomeWords(most)} />)
  }
]
