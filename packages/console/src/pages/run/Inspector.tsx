import type { CanonicalEvent } from "@runplane/domain"
import { Link2, X } from "lucide-react"
import { useMemo } from "react"
import { useWhole } from "../../live/useWhole.ts"
import { Id, Time, UserText } from "../../ui/basics.tsx"
import { CopyButton } from "../../ui/CopyButton.tsx"
import { Overlay } from "../../ui/dialogs/Overlay.tsx"
import { useMedia } from "../../ui/hooks.ts"
import JsonTree from "../../ui/json/JsonTree.tsx"
import { Failure } from "../../ui/States.tsx"
import { readableBytes } from "../../view/format/Bytes.ts"
import { clockTime } from "../../view/format/Format.ts"
import { linkTo } from "../../view/run/Permalink.ts"
import { EventMarks } from "./EventMarks.tsx"

interface InspectorProps {
  readonly runId: string
  readonly seq: number | undefined
  /** The event as the page holds it, if it does. */
  readonly inMemory: CanonicalEvent | undefined
  readonly onClose: () => void
}

/** The selected event: beside the view on wide screens, over it on narrow ones. */
export default function Inspector({ inMemory, onClose, runId, seq }: InspectorProps) {
  const isWide = useMedia("(min-width: 1024px)")
  const { error, event, retry } = useWhole(runId, seq, inMemory)
  if (error !== null) return <Failure what="The event cannot be read" error={error} retry={retry} />
  if (event === undefined) return null
  if (!isWide) {
    return (
      <Overlay open form="side" onClose={onClose} title={`Event ${event.index}`}>
        <Details event={event} />
      </Overlay>
    )
  }
  return (
    <aside aria-label="Event" className="no-print w-[360px] shrink-0 overflow-auto border-l border-line bg-panel">
      <div className="sticky top-0 z-10 flex items-center justify-between border-b border-line bg-panel px-4 py-2">
        <h2 className="font-semibold">Event {event.index}</h2>
        <button type="button" className="btn btn-quiet -mr-2 px-1.5" aria-label="Close the event" onClick={onClose}>
          <X size={16} aria-hidden />
        </button>
      </div>
      <Details event={event} />
    </aside>
  )
}

const Details = ({ event }: { readonly event: CanonicalEvent }) => {
  const { id, index, recorded, seq, source, subject, trace, ts } = event
  const bytes = useMemo(() => readableBytes(recorded.data), [recorded])
  return (
    <div className="flex flex-col gap-4 p-4">
      <dl className="grid grid-cols-[72px_1fr] gap-x-3 gap-y-1">
        <Row title="Type">
          <code className="font-mono text-[12px]">
            <UserText text={recorded.type} />
          </code>
        </Row>
        <Row title="Time">
          <span className="num">{clockTime(Date.parse(ts))}</span>{" "}
          <span className="text-muted">
            (<Time at={ts} />)
          </span>
        </Row>
        <Row title="Index">
          <span className="num">
            {index}, seq {seq}
          </span>{" "}
          <CopyButton
            icon={Link2}
            title="Copy a link to this event"
            text={() => linkTo(window.location.href, { view: "events", event: index, at: undefined })}
          />
        </Row>
        {subject === undefined ? null : (
          <Row title={subject.kind}>
            <Id id={subject.id} label={subject.kind} edge={12} />
          </Row>
        )}
        {source === undefined ? null : (
          <Row title="Source">
            <UserText text={source.rawType === undefined ? source.name : `${source.name}, ${source.rawType}`} />
          </Row>
        )}
        {trace?.traceId === undefined ? null : (
          <Row title="Trace">
            <Id id={trace.traceId} label="trace id" edge={8} />
          </Row>
        )}
        <Row title="Id">
          <Id id={id} label="event id" edge={8} />
        </Row>
      </dl>
      <EventMarks event={event} />
      <section>
        <h3 className="label mb-1">Data</h3>
        <JsonTree value={recorded.data} />
      </section>
      {bytes === undefined ? null : (
        <section>
          <h3 className="label mb-1">Decoded bytes ({bytes.form})</h3>
          {bytes.form === "JSON" ? (
            <JsonTree value={bytes.value} />
          ) : (
            <pre className="overflow-auto font-mono text-[12px] whitespace-pre-wrap">
              <UserText text={bytes.text} />
            </pre>
          )}
        </section>
      )}
    </div>
  )
}

const Row = ({ children, title }: { readonly title: string; readonly children: React.ReactNode }) => (
  <>
    <dt className="label pt-px">{title}</dt>
    <dd className="min-w-0 wrap-anywhere">{children}</dd>
  </>
)
