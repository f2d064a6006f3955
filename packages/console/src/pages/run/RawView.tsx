import type { CanonicalEvent } from "@runplane/domain"
import { ChevronLeft, ChevronRight } from "lucide-react"
import { useMemo } from "react"
import { useWhole } from "../../live/useWhole.ts"
import { JsonLines } from "../../ui/JsonLines.tsx"
import { Failure } from "../../ui/States.tsx"
import { readableBytes } from "../../view/Bytes.ts"
import type { Shown } from "./Facts.ts"
import type { RunPageState, SetRunPage } from "./RunParams.ts"

interface RawViewProps {
  readonly page: RunPageState
  readonly set: SetRunPage
  readonly shown: Shown
}

const PARTS = [
  { id: "event", title: "Event" },
  { id: "state", title: "State" },
  { id: "run", title: "Run" }
] as const

/** The JSON itself: of an event as it came and as it is read, of the state at this place, and of the run's record. */
export default function RawView({ page, set, shown }: RawViewProps) {
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
        <Failure what="The event is shown in part: the whole cannot be read" error={error} retry={retry} />
      )}
      <div className="min-h-0 flex-1 bg-panel">
        {page.part === "state" ? (
          <JsonLines label="State as JSON" value={shown.state} openLevels={2} />
        ) : page.part === "run" ? (
          <JsonLines label="Run as JSON" value={shown.run} />
        ) : (
          <TwoFaces event={event} />
        )}
      </div>
    </div>
  )
}

/** The event that is looked at, else the last one at this place. */
const eventOf = (page: RunPageState, { all, events, start }: Shown): CanonicalEvent | undefined =>
  (page.event === undefined ? undefined : all[page.event - start - 1]) ?? events.at(-1)

const Stepper = ({ page, set, shown }: RawViewProps) => {
  const event = eventOf(page, shown)
  if (event === undefined) return null
  const { index } = event
  const last = shown.start + shown.all.length
  return (
    <span className="ml-auto flex items-center gap-1">
      <button
        type="button"
        aria-label="Event before"
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

const TwoFaces = ({ event }: { readonly event: CanonicalEvent | undefined }) => {
  const decoded = useMemo(() => (event === undefined ? undefined : decodedOf(event)), [event])
  if (event === undefined) return <p className="p-4 text-muted">There is no event at this place.</p>
  return (
    <div className="grid h-full grid-rows-2 lg:grid-cols-2 lg:grid-rows-1">
      <Face title="As it was recorded">
        <JsonLines label="Event as it was recorded" value={event.recorded} openLevels={4} />
      </Face>
      <Face title="As it is read">
        <JsonLines label="Event as it is read" value={decoded} openLevels={4} />
      </Face>
    </div>
  )
}

/** What the console understands of an event: its typed members, and the bytes within that can be read. */
const decodedOf = (event: CanonicalEvent) => {
  const bytes = readableBytes(event.recorded.data)
  const within = bytes === undefined ? undefined : bytes.form === "JSON" ? bytes.value : bytes.text
  return { type: event.type, data: event.data, ...(within !== undefined && { bytes: within }) }
}

const Face = ({ children, title }: { readonly title: string; readonly children: React.ReactNode }) => (
  <section className="flex min-h-0 min-w-0 flex-col border-line max-lg:not-first:border-t lg:not-first:border-l">
    <h2 className="label border-b border-line px-3 py-1">{title}</h2>
    <div className="min-h-0 flex-1">{children}</div>
  </section>
)
