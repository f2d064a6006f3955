import type { DashboardCharts } from "@runplane/api"
import { Bell, Rocket, Scale } from "lucide-react"
import { type ReactNode, Suspense } from "react"
import { Link } from "wouter"
import { UserText } from "../../ui/basics.tsx"
import { Panel } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { useRead } from "../../ui/useRead.ts"
import { overBuckets, type TimeSpan } from "../../view/charts/Series.ts"
import { axisDollars, dateTime, dollars, duration } from "../../view/format/Format.ts"
import { LATER_MS } from "../../view/live/Polls.ts"
import { type Change, changesIn } from "../../view/overview/Changes.ts"
import type { OverviewRange } from "./OverviewQuery.ts"
import type { useDecided } from "./useDecided.ts"

// The library of the charts is loaded beside the figures, which do not wait for it.
const TimeChart = lazily(() => import("../../ui/charts/TimeChart.tsx"))

const HEIGHT = 150
/** Changes that are listed, the latest ones. */
const MOST_CHANGES = 8
const ALERTS = { limit: 50, offset: 0 }

interface TrendsProps {
  readonly charts: DashboardCharts
  readonly guessedCostUsd: number | undefined
  readonly range: OverviewRange
  readonly buckets: ReadonlyArray<number>
  readonly found: ReturnType<typeof useDecided>
  readonly onZoom: (span: TimeSpan) => void
}

/** What runs cost and their duration over time, with the changes that may be why. */
export const Trends = ({ buckets, charts, found, guessedCostUsd = 0, onZoom, range }: TrendsProps) => {
  const policies = useRead(["policies"], (api) => api.policies.list({ query: {} }), { everyMs: LATER_MS })
  const alerts = useRead(["alerts", "latest"], (api) => api.alerts.list({ query: ALERTS }), { everyMs: LATER_MS })
  const [from = range.span.from] = buckets
  const changes = changesIn(
    { policies: policies.data ?? [], alerts: alerts.data?.data ?? [], runs: found.runs },
    { from, to: range.span.to }
  )
  const marks = changes.map(({ at }) => at)
  const shared = { at: buckets, bucketMs: range.bucketMs, sync: "overview", height: HEIGHT, marks, onZoom }
  const line = (name: "latencyP50" | "latencyP95", title: string, colour: string) => ({
    title,
    colour,
    values: overBuckets(charts[name], buckets, null)
  })
  return (
    <Panel title="Money and time">
      <div className="grid gap-x-4 gap-y-2 p-3 lg:grid-cols-2">
        <Trend
          name="cost"
          title="Cost"
          note={guessedCostUsd > 0 ? `≈ ${dollars(guessedCostUsd)} of it is a guess` : undefined}
          isEmpty={!charts.cost.data.some((usd) => usd > 0)}
          none="No run of this time has a cost"
        >
          <TimeChart
            {...shared}
            label={`Cost: ${summary(charts.cost.data, dollars)}`}
            as="bars"
            format={axisDollars}
            lines={[{ title: "US dollars", colour: "--p-2", values: overBuckets(charts.cost, buckets, 0) }]}
          />
        </Trend>
        <Trend
          name="latency"
          title="Time of completed runs"
          note="median and 95th percentile"
          isEmpty={charts.latencyP50.data.length === 0}
          none="No run has completed in this time"
        >
          <TimeChart
            {...shared}
            label={`Time: median ${summary(charts.latencyP50.data, duration)}; 95th percentile ${summary(charts.latencyP95.data, duration)}`}
            as="line"
            format={duration}
            lines={[line("latencyP50", "median", "--p-3"), line("latencyP95", "95th percentile", "--p-4")]}
          />
        </Trend>
      </div>
      {changes.length === 0 ? null : <Changes changes={changes} />}
      {policies.isError || alerts.isError ? (
        <p className="border-t border-line px-3 py-1.5 text-warn">
          Not all changes of this time are known: {policies.isError ? "the policies" : "the alerts"} cannot be read.
        </p>
      ) : null}
    </Panel>
  )
}

const summary = (data: ReadonlyArray<number>, format: (value: number) => string) =>
  data.length === 0
    ? "no data"
    : `least ${format(Math.min(...data))}, most ${format(Math.max(...data))} in ${data.length} buckets`

interface TrendProps {
  readonly name: string
  readonly title: string
  readonly note: string | undefined
  readonly isEmpty: boolean
  readonly none: string
  readonly children: ReactNode
}

const Trend = ({ children, isEmpty, name, none, note, title }: TrendProps) => (
  <section aria-label={title} className="min-w-0" data-trend={name}>
    <h3 className="font-medium text-soft">
      {title}
      {note === undefined ? null : <span className="font-normal text-muted"> {note}</span>}
    </h3>
    {isEmpty ? (
      <p className="flex items-center justify-center text-muted" style={{ height: HEIGHT }}>
        {none}
      </p>
    ) : (
      <Suspense fallback={<div className="skeleton my-1" style={{ height: HEIGHT + 18 }} />}>{children}</Suspense>
    )}
  </section>
)

const ICONS = { policy: Scale, alert: Bell, release: Rocket } as const

const Changes = ({ changes }: { readonly changes: ReadonlyArray<Change> }) => (
  <ul aria-label="Changes in this time" className="flex flex-wrap gap-x-4 border-t border-line px-3 py-2">
    {changes.slice(0, MOST_CHANGES).map(({ at, href, kind, text }) => {
      const Icon = ICONS[kind]
      return (
        <li key={`${kind} ${at} ${text}`} className="flex min-w-0 items-baseline gap-1.5" data-change={kind}>
          <Icon size={13} aria-hidden className="shrink-0 self-center text-muted" />
          <span className="num whitespace-nowrap text-muted">{dateTime(at)}</span>
          <Link href={href} className="min-w-0 leading-6 hover:underline">
            <UserText text={text} />
          </Link>
        </li>
      )
    })}
    {changes.length > MOST_CHANGES ? <li className="text-muted">and {changes.length - MOST_CHANGES} earlier</li> : null}
  </ul>
)
