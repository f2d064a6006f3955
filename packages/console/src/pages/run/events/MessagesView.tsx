import { useMemo } from "react"
import { Chip, Id, UserText } from "../../../ui/basics.tsx"
import { Empty } from "../../../ui/States.tsx"
import { clockTime, counted, cut, LINES_LENGTH } from "../../../view/format/Format.ts"
import { type Fate, type MessageRow, messagesOf } from "../../../view/run/Messages.ts"
import type { RunViewProps } from "../useShown.ts"
import { type EventColumn, EventTable } from "./EventTable.tsx"

const tones: Readonly<Record<Fate, "good" | "calm" | "bad">> = { accepted: "good", repeated: "calm", refused: "bad" }

const columns: ReadonlyArray<EventColumn<MessageRow>> = [
  { title: "Event", width: 52, cell: ({ index }) => index },
  { title: "Time", width: 92, className: "num text-soft", cell: ({ ts }) => clockTime(Date.parse(ts)) },
  { title: "From", width: 140, className: "font-medium", cell: ({ from }) => <UserText text={from || "–"} /> },
  {
    title: "To",
    width: 92,
    className: "text-soft",
    cell: ({ fate, to }) => <UserText text={to.length === 0 ? (fate === "accepted" ? "all" : "–") : to.join(", ")} />
  },
  {
    title: "Type",
    width: 112,
    className: "font-mono text-[12px]",
    cell: ({ type }) => <UserText text={type || "–"} />
  },
  {
    title: "Result",
    width: 112,
    grows: true,
    cell: ({ fate, why }) => (
      <>
        <Chip tone={tones[fate]}>{fate}</Chip> <UserText text={cut(why, LINES_LENGTH)} className="text-soft" />
      </>
    )
  },
  {
    title: "Message",
    width: 156,
    cell: ({ messageId }) => (messageId === "" ? "–" : <Id id={messageId} label="message id" edge={7} />)
  }
]

/** Every message of the session, with the runtime's answer. */
export default function MessagesView({ page, set, shown }: RunViewProps) {
  const rows = useMemo(() => messagesOf(shown.events), [shown.events])
  const { accepted, queued, rejected } = shown.state.outboundMessages
  if (rows.length === 0) return <Empty title="No messages yet" />
  return (
    <div className="flex h-full flex-col">
      <p className="num border-b border-line bg-panel px-4 py-2 text-soft" aria-live="polite">
        {counted(rows.length, "message")}: {accepted} accepted, {rejected} refused
        {queued === 0 ? "" : `, ${queued} without an answer`}
      </p>
      <EventTable label="Messages" rows={rows} indexOf={({ index }) => index} columns={columns} page={page} set={set} />
    </div>
  )
}
