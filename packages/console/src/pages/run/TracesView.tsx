import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { call } from "../../client/Client.ts"
import { Id, Said } from "../../ui/basics.tsx"
import { Failure } from "../../ui/States.tsx"
import { clockTime, counted, duration, whole } from "../../view/Format.ts"
import { type SpanRow, spansOf } from "../../view/Spans.ts"
import { type EventColumn, EventTable } from "./EventTable.tsx"
import type { Shown } from "./Facts.ts"
import type { RunPageState, SetRunPage } from "./RunParams.ts"

interface TracesViewProps {
  readonly page: RunPageState
  readonly set: SetRunPage
  readonly shown: Shown
}

const columns: ReadonlyArray<EventColumn<SpanRow>> = [
  { title: "Event", width: 52, cell: ({ index }) => index },
  { title: "First", width: 92, className: "num text-soft", cell: ({ first }) => clockTime(Date.parse(first)) },
  {
    title: "Lasted",
    width: 80,
    className: "num text-soft",
    cell: ({ first, last }) => duration(Date.parse(last) - Date.parse(first))
  },
  { title: "Span", width: 150, cell: ({ spanId }) => <Id id={spanId} label="span id" edge={8} /> },
  {
    title: "Within",
    width: 150,
    cell: ({ parentSpanId }) => (parentSpanId === undefined ? "–" : <Id id={parentSpanId} label="span id" edge={8} />)
  },
  { title: "Events", width: 60, className: "num", cell: ({ events }) => whole(events) },
  {
    title: "Of the types",
    width: 150,
    grows: true,
    className: "font-mono text-[12px] text-soft",
    cell: ({ types }) => <Said text={types.join(", ")} />
  }
]

/** Where the run is found in a tracing back end, and the spans that its events carry. */
export default function TracesView({ page, set, shown }: TracesViewProps) {
  const { run, state } = shown
  const spans = useMemo(() => spansOf(shown.events), [shown.events])
  const traces = useQuery({
    queryKey: ["traces", run.id, shown.all.length],
    queryFn: ({ signal }) => call((api) => api.insights.traces({ params: { id: run.id } }), signal),
    placeholderData: (before) => before
  })
  const traceId = traces.data?.traceId ?? run.traceId
  return (
    <div className="flex h-full flex-col">
      <dl className="flex flex-wrap items-baseline gap-x-6 gap-y-1 border-b border-line bg-panel px-4 py-2.5">
        <Fact title="Trace">
          <Id id={traceId} label="trace id" edge={16} />
        </Fact>
        <Fact title="Events with a span">
          <span className="num" data-spans>
            {whole(state.trace.spanCount)}
          </span>
        </Fact>
        <Fact title="Spans">
          <span className="num">{whole(spans.length)}</span>
        </Fact>
        {state.trace.lastSpanId === undefined ? null : (
          <Fact title="Last">
            <Id id={state.trace.lastSpanId} label="span id" edge={8} />
          </Fact>
        )}
        {traces.data?.scenarioRef === undefined ? null : (
          <Fact title="Scenario">
            <Said text={traces.data.scenarioRef} />
          </Fact>
        )}
        <Fact title="Linked">
          <span className="num">{counted(state.trace.linkedArtifacts.length, "artifact")}</span>
        </Fact>
      </dl>
      {traces.isError ? (
        <Failure what="The trace cannot be read" error={traces.error} retry={() => void traces.refetch()} />
      ) : null}
      {spans.length === 0 ? (
        <p className="p-4 text-muted">
          No event carries a span so far: agents that send one in their messages are found by it here.
        </p>
      ) : (
        <EventTable label="Spans" rows={spans} indexOf={({ index }) => index} columns={columns} page={page} set={set} />
      )}
    </div>
  )
}

const Fact = ({ children, title }: { readonly title: string; readonly children: React.ReactNode }) => (
  <div className="flex min-w-0 items-baseline gap-1.5">
    <dt className="label">{title}</dt>
    <dd className="min-w-0">{children}</dd>
  </div>
)
