import type { CHART_NAMES, DashboardCharts } from "@runplane/api"
import { Suspense } from "react"
import { TextLink } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { overBuckets, type TimeSpan } from "../../view/charts/Series.ts"
import { axisDollars, compact, dollars, duration, whole } from "../../view/format/Format.ts"
import { type OverviewRange, runsLink } from "./OverviewQuery.ts"

// The library of the charts is loaded beside the figures, which do not wait for it.
const TimeChart = lazily(() => import("../../ui/charts/TimeChart.tsx"))

type ChartName = (typeof CHART_NAMES)[number]

interface Described {
  readonly name: ChartName
  readonly title: string
  readonly says: string
  readonly as: "bars" | "line"
  readonly format: (value: number) => string
  readonly colour: string
}

const points = (value: number) => `${Math.round(value)} %`

/** The charts over time, in the order of the page. */
const OVER_TIME: ReadonlyArray<Described> = [
  { name: "runVolume", title: "Runs created", says: "runs", as: "bars", format: whole, colour: "--c-accent" },
  { name: "throughput", title: "Runs completed", says: "completed", as: "bars", format: whole, colour: "--c-good" },
  {
    name: "successRate",
    title: "Completed share of ended runs",
    says: "share",
    as: "line",
    format: points,
    colour: "--c-good"
  },
  {
    name: "decisionOutcome",
    title: "Positive minus negative decisions",
    says: "decisions",
    as: "bars",
    format: whole,
    colour: "--p-1"
  },
  { name: "queueDepth", title: "Runs waiting", says: "waiting", as: "bars", format: whole, colour: "--c-warn" },
  { name: "signalVolume", title: "Signals", says: "signals", as: "bars", format: compact, colour: "--p-4" },
  { name: "cost", title: "Cost", says: "US dollars", as: "bars", format: axisDollars, colour: "--p-2" },
  { name: "latency", title: "Mean duration", says: "mean", as: "line", format: duration, colour: "--p-3" },
  { name: "latencyP50", title: "Duration p50", says: "p50", as: "line", format: duration, colour: "--p-3" },
  { name: "latencyP95", title: "Duration p95", says: "p95", as: "line", format: duration, colour: "--p-3" },
  { name: "latencyP99", title: "Duration p99", says: "p99", as: "line", format: duration, colour: "--p-3" }
]

const isMeasured = (name: ChartName) => name.startsWith("latency") || name === "successRate"

interface ChartsProps {
  readonly charts: DashboardCharts
  /** Part of the cost that is a guess. */
  readonly guessedCostUsd: number | undefined
  readonly range: OverviewRange
  readonly buckets: ReadonlyArray<number>
  readonly onZoom: (span: TimeSpan) => void
}

const HEIGHT = 132

/** The charts of the dashboard: one crosshair over all of them, and a drag over any chooses the time of the page. */
export default function Charts({ buckets, charts, guessedCostUsd = 0, range, onZoom }: ChartsProps) {
  return (
    <div className="grid gap-3 p-3 sm:grid-cols-2 xl:grid-cols-3 2xl:grid-cols-4">
      {OVER_TIME.map(({ as, colour, format, name, says, title }) => {
        const { data } = charts[name]
        return (
          <section key={name} aria-label={title} className="panel min-w-0 px-3 py-2" data-chart={name}>
            <h3 className="font-medium text-soft">
              {title}
              {name === "cost" && guessedCostUsd > 0 ? (
                <span className="font-normal text-muted"> ≈ {dollars(guessedCostUsd)} of it is a guess</span>
              ) : null}
            </h3>
            {data.length === 0 ? (
              <p className="flex items-center justify-center text-muted" style={{ height: HEIGHT + 26 }}>
                No data in this time
              </p>
            ) : (
              <Suspense fallback={<div className="skeleton my-1" style={{ height: HEIGHT + 18 }} />}>
                <TimeChart
                  label={`${title}: ${summary(data, format)}`}
                  at={buckets}
                  bucketMs={range.bucketMs}
                  as={as}
                  isCount={format === whole}
                  format={format}
                  sync="overview"
                  height={HEIGHT}
                  onZoom={onZoom}
                  lines={[
                    { title: says, colour, values: overBuckets(charts[name], buckets, isMeasured(name) ? null : 0) }
                  ]}
                />
              </Suspense>
            )}
          </section>
        )
      })}
      <ByName
        title="Errors"
        name="errorClasses"
        charts={charts}
        none="No run of this time has failed"
        colour="var(--c-bad)"
        linkOf={(label) => runsLink(range, label === "UNKNOWN" ? "status:failed" : `errorCode:"${label}"`)}
      />
      <ByName
        title="Runs by scenario"
        name="perScenario"
        charts={charts}
        none="No run in this time"
        colour="var(--c-accent)"
        linkOf={(label) => (label === "unknown" ? runsLink(range, "-has:scenario") : runsLink(range, "", label))}
      />
    </div>
  )
}

const summary = (data: ReadonlyArray<number>, format: (value: number) => string) =>
  `${data.length} buckets with data, least ${format(Math.min(...data))}, most ${format(Math.max(...data))}`

interface ByNameProps {
  readonly title: string
  readonly name: ChartName
  readonly charts: DashboardCharts
  readonly none: string
  readonly colour: string
  readonly linkOf: (label: string) => string
}

const ByName = ({ charts, colour, linkOf, name, none, title }: ByNameProps) => {
  const { data, labels } = charts[name]
  const most = Math.max(1, ...data)
  return (
    <section aria-label={title} className="panel min-w-0 px-3 py-2" data-chart={name}>
      <h3 className="font-medium text-soft">{title}</h3>
      {data.length === 0 ? (
        <p className="flex items-center justify-center text-muted" style={{ height: HEIGHT + 26 }}>
          {none}
        </p>
      ) : (
        <ul className="mt-1 flex flex-col gap-1 overflow-auto" style={{ maxHeight: HEIGHT + 26 }}>
          {labels.map((label, at) => {
            const count = data[at] ?? 0
            return (
              <li key={label} className="flex flex-col gap-0.5">
                <span className="flex min-w-0 items-baseline justify-between gap-2 text-[12px]">
                  <TextLink href={linkOf(label)} className="min-w-0 truncate">
                    {label}
                  </TextLink>
                  <span className="num">{whole(count)}</span>
                </span>
                <span
                  aria-hidden
                  className="h-1 rounded-full"
                  style={{ width: `${(100 * count) / most}%`, background: colour }}
                />
              </li>
            )
          })}
        </ul>
      )}
    </section>
  )
}
