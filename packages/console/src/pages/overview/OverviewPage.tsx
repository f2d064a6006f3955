import type { DashboardCharts } from "@runplane/api"
import { X } from "lucide-react"
import { useNow, useTitle, useUrlState } from "../../ui/hooks.ts"
import { Sheet, Shown } from "../../ui/kit.tsx"
import { useRead } from "../../ui/useRead.ts"
import { dateTime } from "../../view/Format.ts"
import type { Scope } from "../../view/Scope.ts"
import { bucketsOf } from "../../view/Series.ts"
import { Attention } from "./Attention.tsx"
import { Charts } from "./Charts.tsx"
import { Kpis } from "./Kpis.tsx"
import { lookOf, overviewParams } from "./OverviewQuery.ts"
import { Scenarios } from "./Scenarios.tsx"

const WINDOWS: ReadonlyArray<readonly [Exclude<Scope["window"], "">, string]> = [
  ["1h", "1 h"],
  ["6h", "6 h"],
  ["24h", "24 h"],
  ["7d", "7 days"],
  ["30d", "30 days"]
]

const REFRESH_MS = 5_000
/** The end of an open window moves on so often; what lies before is asked for again then. */
const STEP_MS = 60_000

/** How the fleet of runs is doing, and what has to be looked at. */
export default function OverviewPage() {
  const [state, set] = useUrlState(overviewParams)
  const now = useNow(REFRESH_MS)
  const minute = Math.ceil(now / STEP_MS) * STEP_MS
  const look = lookOf(state, minute)
  useTitle("Overview")
  // The same key from minute to minute: what was read stays on the page when the next minute cannot be read.
  const overview = useRead(["overview", state], (api) => api.dashboard.overview({ query: look.query }), {
    everyMs: REFRESH_MS
  })
  const before = useRead(["overview", look.before], (api) => api.dashboard.overview({ query: look.before }))
  const buckets = bucketsOf(look.span, look.bucketMs)
  return (
    <Sheet
      title="Overview"
      note={state.environment === "" ? undefined : state.environment}
      actions={
        <>
          {look.window === undefined ? (
            <button
              type="button"
              className="btn num"
              title="Back to a time up to now"
              onClick={() => set({ from: undefined, to: undefined }, { push: true })}
            >
              {dateTime(look.span.from)} – {dateTime(look.span.to)} <X size={13} aria-hidden />
              <span className="sr-only">leave this time</span>
            </button>
          ) : null}
          <span
            className="inline-flex overflow-hidden rounded-md border border-line-strong"
            role="group"
            aria-label="Time"
          >
            {WINDOWS.map(([window, title]) => (
              <button
                key={window}
                type="button"
                aria-pressed={look.window === window}
                className={`h-[26px] px-2 font-medium whitespace-nowrap ${
                  look.window === window ? "bg-accent-soft text-accent" : "bg-panel text-soft hover:bg-sunken"
                }`}
                onClick={() => set({ window, from: undefined, to: undefined }, { push: true })}
              >
                {title}
              </button>
            ))}
          </span>
        </>
      }
    >
      <Shown read={overview} what="The overview cannot be read" rows={8} height={64}>
        {(shown) => (
          <>
            <Kpis overview={shown} before={before.data} look={look} buckets={buckets} />
            <div className="grid items-start gap-3 xl:grid-cols-3">
              <Scenarios scenarios={shown.scenarios} look={look} />
              <Attention look={look} />
            </div>
            {hasFigures(shown.charts) ? (
              <Charts
                charts={shown.charts}
                look={look}
                buckets={buckets}
                onZoom={({ from, to }) => set({ from, to }, { push: true })}
              />
            ) : null}
          </>
        )}
      </Shown>
    </Sheet>
  )
}

/** Thirteen empty charts say less than none. */
const hasFigures = (charts: DashboardCharts): boolean =>
  Object.values(charts).some(({ data }) => data.some((value) => value !== 0))
