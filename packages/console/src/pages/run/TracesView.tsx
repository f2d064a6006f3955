import { useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { call } from "../../client/Client.ts"
import { Id, UserText } from "../../ui/basics.tsx"
import { InlineFact } from "../../ui/kit.tsx"
import { Failure } from "../../ui/States.tsx"
import { clockTime, counted, duration, whole } from "../../view/Format.ts"
import { type SpanRow, spansOf } from "../../view/Spans.ts"
import { type EventColumn, EventTable } from "./EventTable.tsx"
import type { RunViewProps } from "./useShown.ts"

const columns: ReadonlyArray<EventColumn<SpanRow>> = [
  { title: "Event", width: 52, cell: ({ index }) => index },
  { title: "First", width: 92, className: "num text-soft", cell: ({ first }) => clockTime(Date.parse(first)) },
  {
    title: "Duration",
    width: 80,
    className: "num text-soft",
    cell: ({ first, last }) => duration(Date.parse(last) - Date.parse(first))
  },
  { title: "Span", width: 150, cell: ({ spanId }) => <Id id={spanId} label="span id" edge={8} /> },
  {
    title: "Parent",
    width: 150,
    cell: ({ parentSpanId }) => (parentSpanId === undefined ? "–" : <Id id={parentSpanId} label="span id" edge={8} />)
  },
  { title: "Events", width: 60, className: "num", cell: ({ events }) => whole(events) },
  {
    title: "Types",
    width: 150,
    grows: true,
    className: "font-mono text-[12px] text-soft",
    cell: ({ types }) => <UserText text={types.join(", ")} />
  }
]

/** The trace id of the run, and the spans of its events. */
export default function TracesView({ page, set, shown }: RunViewProps) {
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
        <InlineFact title="Trace">
          <Id id={traceId} label="trace id" edge={16} />
        </InlineFact>
        <InlineFact title="Events with a span">
          <span className="num" data-spans>
            {whole(state.trace.spanCount)}
          </span>
        </InlineFact>
        <InlineFact title="Spans">
          <span className="num">{whole(spans.length)}</span>
        </InlineFact>
        {state.trace.lastSpanId === undefined ? null : (
          <InlineFact title="Last">
            <Id id={state.trace.lastSpanId} label="span id" edge={8} />
          </InlineFact>
        )}
        {traces.data?.scenarioRef === undefined ? null : (
          <InlineFact title="Scenario">
            <UserText text={traces.data.scenarioRef} />
          </InlineFact>
        )}
        <InlineFact title="Linked">
          <span className="num">{counted(state.trace.linkedArtifacts.length, "artifact")}</span>
        </InlineFact>
      </dl>
      {traces.isError ? (
        <Failure what="The trace cannot be read" error={traces.error} retry={() => void traces.refetch()} />
      ) : null}
      {spans.length === 0 ? (
        <p className="p-4 text-muted">
          No event carries a span yet. Spans appear when agents send them in their messages.
        </p>
      ) : (
        <EventTable label="Spans" rows={spans} indexOf={({ index }) => index} columns={columns} page={page} set={set} />
      )}
    </div>
  )
}
