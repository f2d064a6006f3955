import type { CanonicalEvent } from "@runplane/domain"
import { ChevronLeft, ChevronRight } from "lucide-react"
import { useMemo } from "react"
import { useWhole } from "../../../live/useWhole.ts"
import { JsonViewer } from "../../../ui/json/JsonViewer.tsx"
import { Failure } from "../../../ui/States.tsx"
import { readableBytes } from "../../../view/format/Bytes.ts"
import type { RunPageState } from "../RunParams.ts"
import type { RunViewProps, ShownRun } from "../useShown.ts"

const PARTS = [
  { id: "event", title: "Event" },
  { id: "state", title: "State" },
  { id: "run", title: "Run" }
] as const

/** JSON of an event as recorded and as decoded, of the state at this index, and of the run's record. */
export default function RawView({ page, set, shown }: RunViewProps) {
  const here = eventOf(page, shown)
  const { error, event, retry } = useWhole(shown.run.id, here?.seq, here)
  return (
    <div className="flex h-full flex-col">
      <div
        role="group"
        aria-label="What is shown"
        className="flex flex-wrap gap-1 border-b border-line bg-panel px-3 py-2"
      >
        {PARTS.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            aria-pressed={page.part === id}
            className={`btn ${page.part === id ? "border-accent text-accent" : ""}`}
            onClick={() => set({ part: id })}
          >
            {title}
          </button>
        ))}
        {page.part === "event" ? <Stepper page={page} set={set} shown={shown} /> : null}
      </div>
      {error === null || page.part !== "event" ? null : (
        <Failure what="The event is shortened: the whole event cannot be read" error={error} retry={retry} />
      )}
      <div className="min-h-0 flex-1 bg-panel">
        {page.part === "state" ? (
          <JsonViewer label="State as JSON" value={shown.state} openLevels={2} />
        ) : page.part === "run" ? (
          <JsonViewer label="Run as JSON" value={shown.run} />
        ) : (
          <RecordedAndDecoded event={event} />
        )}
      </div>
    </div>
  )
}

/** The selected event, else the last one at this index. */
const eventOf = (page: RunPageState, { all, events, start }: ShownRun): CanonicalEvent | undefined =>
  (page.event === undefined ? undefined : all[page.event - start - 1]) ?? events.at(-1)

const Stepper = ({ page, set, shown }: RunViewProps) => {
  const event = eventOf(page, shown)
  if (event === undefined) return null
  const { index } = event
  const last = shown.start + shown.all.length
  return (
    <span className="ml-auto flex items-center gap-1">
      <button
        type="button"
        aria-label="Previous event"
        className="btn px-1.5"
        disabled={index <= shown.start + 1}
        onClick={() => set({ event: index - 1 })}
      >
        <ChevronLeft size={15} aria-hidden />
      </button>
      <span className="num">
        event {index} of {last}
      </span>
      <button
        type="button"
        aria-label="Next event"
        className="btn px-1.5"
        disabled={index >= last}
        onClick={() => set({ event: index + 1 })}
      >
        <ChevronRight size={15} aria-hidden />
      </button>
    </span>
  )
}

const RecordedAndDecoded = ({ event }: { readonly event: CanonicalEvent | undefined }) => {
  const decoded = useMemo(() => (event === undefined ? undefined : decodedOf(event)), [event])
  if (event === undefined) return <p className="p-4 text-muted">No event at this index.</p>
  return (
    <div className="grid h-full grid-rows-2 lg:grid-cols-2 lg:grid-rows-1">
      <Column title="Recorded">
        <JsonViewer label="Recorded event" value={event.recorded} openLevels={4} />
      </Column>
      <Column title="Decoded">
        <JsonViewer label="Decoded event" value={decoded} openLevels={4} />
      </Column>
    </div>
  )
}

/** What the console understands of an event: its typed members, and the bytes within that can be read. */
const decodedOf = (event: CanonicalEvent) => {
  const bytes = readableBytes(event.recorded.data)
  const within = bytes === undefined ? undefined : bytes.form === "JSON" ? bytes.value : bytes.text
  return { type: event.type, data: event.data, ...(within !== undefined && { bytes: within }) }
}

const Column = ({ children, title }: { readonly title: string; readonly children: React.ReactNode }) => (
  <section className="flex min-h-0 min-w-0 flex-col border-line max-lg:not-first:border-t lg:not-first:border-l">
    <h2 className="label border-b border-line px-3 py-1">{title}</h2>
    <div className="min-h-0 flex-1">{children}</div>
  </section>
)
