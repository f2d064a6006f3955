import { useMemo } from "react"
import { Chip, UserText } from "../../../ui/basics.tsx"
import { Empty } from "../../../ui/States.tsx"
import { clockTime, counted, cut, percent } from "../../../view/format/Format.ts"
import { type SignalRow, signalsOf } from "../../../view/run/Messages.ts"
import type { RunViewProps } from "../useShown.ts"
import { type EventColumn, EventTable } from "./EventTable.tsx"

const ALARMING = /^(?:critical|high|error|fatal)$/i

const columns: ReadonlyArray<EventColumn<SignalRow>> = [
  { title: "Event", width: 52, cell: ({ event }) => event.index },
  { title: "Time", width: 92, className: "num text-soft", cell: ({ event }) => clockTime(Date.parse(event.ts)) },
  {
    title: "From",
    width: 140,
    className: "font-medium",
    cell: ({ event }) => <UserText text={event.data.sender || "–"} />
  },
  {
    title: "Signal",
    width: 150,
    className: "font-mono text-[12px]",
    cell: ({ event }) => <UserText text={event.data.signalType ?? event.data.messageType} />
  },
  {
    title: "Severity",
    width: 76,
    cell: ({ event: { data } }) =>
      data.severity === undefined ? (
        "–"
      ) : (
        <Chip tone={ALARMING.test(data.severity) ? "bad" : "calm"}>
          <UserText text={data.severity} className="truncate" />
        </Chip>
      )
  },
  {
    title: "Confidence",
    width: 78,
    className: "num text-soft",
    cell: ({ event: { data } }) => (data.confidence === undefined ? "–" : percent(data.confidence))
  },
  {
    title: "Acknowledged by",
    width: 104,
    className: "text-soft",
    cell: ({ acknowledged }) => (acknowledged === undefined ? "–" : <UserText text={acknowledged.by} />)
  },
  {
    title: "Payload",
    width: 100,
    grows: true,
    className: "text-muted",
    cell: ({ event }) => <UserText text={cut(JSON.stringify(event.data.payload) ?? "", 160)} />
  }
]

/** The signals of agents, which are not part of the session's history. */
export default function SignalsView({ page, set, shown }: RunViewProps) {
  const rows = useMemo(() => signalsOf(shown.events), [shown.events])
  if (rows.length === 0) return <Empty title="No signals yet" />
  return (
    <div className="flex h-full flex-col">
      <p className="num border-b border-line bg-panel px-4 py-2 text-soft" aria-live="polite">
        {counted(rows.length, "signal")}
      </p>
      <EventTable
        label="Signals"
        rows={rows}
        indexOf={({ event }) => event.index}
        columns={columns}
        page={page}
        set={set}
      />
    </div>
  )
}
