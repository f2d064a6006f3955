import type { CanonicalEvent } from "@runplane/domain"
import { Pause, Play, X } from "lucide-react"
import { Suspense, useDeferredValue, useMemo, useRef, useState } from "react"
import { useTail } from "../../live/useTail.ts"
import { useWhole } from "../../live/useWhole.ts"
import { Id, toneText, UserText } from "../../ui/basics.tsx"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { useNow, useTitle, useUrlState } from "../../ui/hooks.ts"
import JsonTree from "../../ui/json/JsonTree.tsx"
import { useShortcuts } from "../../ui/Keys.ts"
import { Facts, TextLink } from "../../ui/kit.tsx"
import { lazily } from "../../ui/lazily.ts"
import { InsteadOfRows, RowList, type RowListHandle } from "../../ui/RowList.tsx"
import { Empty, Failure, Skeleton, Stale } from "../../ui/States.tsx"
import { QueryBar } from "../../ui/search/QueryBar.tsx"
import { useRead } from "../../ui/useRead.ts"
import { eventTone, gistOf, whoOf, withoutEchoes } from "../../view/events/Events.ts"
import { rateOf } from "../../view/events/Rate.ts"
import { clockTime, counted, exactTime, middleCut, whole } from "../../view/format/Format.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { flagParam, numberParam, textParam } from "../../view/query/UrlState.ts"

const TimeChart = lazily(() => import("../../ui/charts/TimeChart.tsx"))

const params = {
  q: textParam,
  environment: textParam,
  paused: flagParam,
  /** A time that was brushed, milliseconds. */
  from: numberParam(1),
  to: numberParam(1),
  /** seq of the open event. */
  event: numberParam(1)
}

const HEIGHT = 34

/** The events of all runs as they arrive. */
export default function EventsPage() {
  const [state, set] = useUrlState(params)
  const [isAway, setAway] = useState(false)
  const search = useRef<HTMLInputElement>(null)
  const now = useNow(1_000)
  useTitle("Events")
  const q = [
    state.q === "" ? "" : state.environment === "" ? state.q : `(${state.q})`,
    environmentOf(state.environment)
  ]
    .filter((part) => part !== "")
    .join(" ")
  const isBrushed = state.from !== undefined && state.to !== undefined
  const isPaused = state.paused || isAway || isBrushed
  const tail = useTail(q, isPaused)
  const views = useRead(["views", "events"], (api) => api.views.list({ query: { resource: "events" } }))

  const events = useMemo(
    () =>
      isBrushed
        ? tail.events.filter(({ ts }) => {
            const at = Date.parse(ts)
            return at >= (state.from ?? 0) && at <= (state.to ?? 0)
          })
        : tail.events,
    [isBrushed, tail.events, state.from, state.to]
  )
  const rows = useMemo(() => (q.includes("message.received") ? events : withoutEchoes(events)), [events, q])
  const list = useRef<RowListHandle>(null)

  const resume = () => {
    set({ paused: false, from: undefined, to: undefined })
    list.current?.scrollTo(0)
  }
  const toggle = () => (isPaused ? resume() : set({ paused: true }))
  useShortcuts([
    { keys: "/", says: "Search", group: "Events", run: () => search.current?.focus() },
    { keys: "p", says: "Pause, resume", group: "Events", run: toggle }
  ])
  const chosen = tail.events.find(({ seq }) => seq === state.event)

  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-col gap-2 border-b border-line bg-panel px-4 py-2.5">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <h1 className="text-[17px] font-semibold tracking-tight">Events</h1>
          <span className="num text-muted">
            {counted(events.length, "event")}
            {rows.length === events.length ? "" : ` in ${counted(rows.length, "row")}`}
            {tail.isCut ? ", older ones were dropped" : ""}
          </span>
          <span className="ml-auto flex items-center gap-2">
            {isBrushed ? (
              <button
                type="button"
                className="btn num"
                onClick={() => set({ from: undefined, to: undefined })}
                title="Show the whole time"
              >
                {clockTime(state.from ?? 0)} – {clockTime(state.to ?? 0)} <X size={13} aria-hidden />
                <span className="sr-only">show the whole time</span>
              </button>
            ) : null}
            <button
              type="button"
              aria-pressed={isPaused}
              className={`btn ${isPaused ? "text-warn" : ""}`}
              onClick={toggle}
            >
              {isPaused ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />}
              {isPaused ? "Resume" : "Pause"}
              {tail.waiting === 0 ? null : (
                <span className="num rounded-full bg-warn-soft px-1.5 text-[11px] text-warn" data-waiting>
                  {whole(tail.waiting)} new
                </span>
              )}
            </button>
          </span>
        </div>
        <div className="flex flex-wrap items-start gap-2">
          <QueryBar
            resource="events"
            label="Search the events"
            placeholder="type:decision.finalized sender:agent-1"
            value={state.q}
            onChange={(next) => set({ q: next })}
            inputRef={search}
          />
          <span className="flex flex-wrap gap-1">
            {(views.data ?? []).map((view) => (
              <button
                key={view.id}
                type="button"
                aria-pressed={state.q === view.q}
                className={`h-7 rounded-full px-2.5 text-[12px] font-medium ${
                  state.q === view.q ? "bg-accent-soft text-accent" : "text-soft hover:bg-sunken"
                }`}
                onClick={() => set({ q: state.q === view.q ? "" : view.q })}
              >
                {view.name}
              </button>
            ))}
          </span>
        </div>
        {events.length === 0 ? null : <RateChart events={tail.events} now={now} onBrush={set} />}
      </div>
      {tail.away === undefined || events.length === 0 ? null : (
        <Stale since={tail.away.since} error={tail.away.error} retry={tail.again} />
      )}
      {events.length === 0 ? (
        <InsteadOfRows>
          {tail.error !== undefined || tail.away !== undefined ? (
            <Failure what="The events cannot be followed" error={tail.error ?? tail.away?.error} retry={tail.again} />
          ) : tail.isBegun ? (
            <Empty title="No event yet">
              {q === ""
                ? "The events of all runs appear here as they arrive. Launch a scenario, or submit a run."
                : "The latest events do not match; the page waits for the next match."}
            </Empty>
          ) : (
            <Skeleton rows={12} height={HEIGHT} />
          )}
        </InsteadOfRows>
      ) : (
        <>
          {tail.error === undefined ? null : (
            <Failure what="The events cannot be followed" error={tail.error} retry={tail.again} />
          )}
          <RowList
            label="Events of all runs"
            role="table"
            rows={rows}
            height={HEIGHT}
            keyOf={({ seq }) => seq}
            grid={GRID}
            attributes={({ seq }) => ({ "data-seq": seq, className: "border-b border-line" })}
            head={["Time", "Event", "Run", "Participant", "Summary"].map((title, at) => (
              <span key={title} role="columnheader" className={`label ${COLUMNS[at]}`}>
                {title}
              </span>
            ))}
            onOpen={({ seq }) => set({ event: seq })}
            // Rows do not move while the list is scrolled down.
            onAway={setAway}
            list={list}
          >
            {(event) => <Cells event={event} open={(seq) => set({ event: seq })} />}
          </RowList>
        </>
      )}
      <Overlay open={chosen !== undefined} onClose={() => set({ event: undefined })} title="Event" form="side">
        {chosen === undefined ? null : <Details event={chosen} />}
      </Overlay>
    </div>
  )
}

const environmentOf = (environment: string) => (environment === "" ? "" : `environment:${queryValue(environment)}`)

const GRID =
  "grid items-center gap-x-3 px-4 grid-cols-[92px_minmax(110px,1fr)_minmax(90px,140px)] md:grid-cols-[96px_190px_140px_150px_1fr]"
const COLUMNS = ["", "", "", "max-md:hidden", "max-md:hidden"]

const runLink = ({ index, runId }: CanonicalEvent) => `/runs/${runId}?view=events&event=${index}&at=${index}`

interface CellsProps {
  readonly event: CanonicalEvent
  readonly open: (seq: number) => void
}

const Cells = ({ event, open }: CellsProps) => (
  <>
    <span role="cell" className="num text-[12px] text-soft" title={exactTime(Date.parse(event.ts))}>
      {clockTime(Date.parse(event.ts))}
    </span>
    <span role="cell" className="min-w-0">
      <button
        type="button"
        className={`max-w-full truncate font-mono text-[12px] ${toneText[eventTone(event)]}`}
        onClick={(click) => {
          click.stopPropagation()
          open(event.seq)
        }}
      >
        <UserText text={event.recorded.type} />
      </button>
    </span>
    <span role="cell" className="min-w-0 truncate" onClick={(click) => click.stopPropagation()}>
      <TextLink href={runLink(event)} className="font-mono text-[12px]">
        {middleCut(event.runId, 4)} <span className="sr-only">at this event</span>
        <span aria-hidden className="num">
          #{event.index}
        </span>
      </TextLink>
    </span>
    <span role="cell" className={`min-w-0 truncate ${COLUMNS[3]}`}>
      <UserText text={whoOf(event)} />
    </span>
    <span role="cell" className={`min-w-0 truncate text-soft ${COLUMNS[4]}`}>
      <UserText text={gistOf(event)} />
    </span>
  </>
)

interface RateChartProps {
  readonly events: ReadonlyArray<CanonicalEvent>
  readonly now: number
  readonly onBrush: (span: { readonly from: number; readonly to: number }) => void
}

const CHART_HEIGHT = 64

/** The rate of events over time; a drag selects a time range. */
const RateChart = ({ events, now, onBrush }: RateChartProps) => {
  const calm = useDeferredValue(now)
  const rate = useMemo(() => {
    const times = events.map(({ ts }) => Date.parse(ts))
    const from = times.at(-1) ?? calm
    return rateOf(times, { from, to: Math.max(calm, times[0] ?? calm) })
  }, [events, calm])
  return (
    <Suspense fallback={<div className="skeleton" style={{ height: CHART_HEIGHT }} />}>
      <TimeChart
        label={`Events over time, ${counted(events.length, "event")}; drag to select a time`}
        at={rate.at}
        bucketMs={rate.bucketMs}
        as="bars"
        isCount
        format={whole}
        sync="events"
        height={CHART_HEIGHT}
        isBare
        onZoom={onBrush}
        lines={[{ title: "events", colour: "--c-accent", values: rate.counts }]}
      />
    </Suspense>
  )
}

const Details = ({ event }: { readonly event: CanonicalEvent }) => {
  const read = useWhole(event.runId, event.seq, event)
  return (
    <>
      <Facts
        facts={[
          ["Event", <UserText key="type" text={event.recorded.type} className="font-mono text-[12px]" />],
          [
            "Run",
            <span key="run" className="flex flex-col gap-1">
              <Id id={event.runId} edge={10} label="run id" />
              <TextLink href={runLink(event)}>Open the run at event {event.index}</TextLink>
            </span>
          ],
          ["Time", exactTime(Date.parse(event.ts))],
          ["seq", whole(event.seq)],
          ["Id", <Id key="id" id={event.id} label="event id" />]
        ]}
      />
      <div className="overflow-auto border-t border-line px-3 py-3">
        {read.error === null ? null : (
          <Failure
            what="The event is shortened: the whole event cannot be read"
            error={read.error}
            retry={read.retry}
          />
        )}
        <JsonTree value={read.event?.recorded} />
      </div>
    </>
  )
}
