import type { CanonicalEvent } from "@runplane/domain"
import { ArrowDownToLine, Filter, Search } from "lucide-react"
import { memo, useEffect, useMemo, useRef, useState } from "react"
import { toneText, UserText } from "../../../ui/basics.tsx"
import { useSettled } from "../../../ui/hooks.ts"
import { useShortcuts } from "../../../ui/Keys.ts"
import { RowMarks } from "../../../ui/marks/MarkChip.tsx"
import { RowList, type RowListHandle } from "../../../ui/RowList.tsx"
import { Empty } from "../../../ui/States.tsx"
import { countTypes, eventTone, filterEvents, gistOf, whoOf, withoutEchoes } from "../../../view/events/Events.ts"
import { clockTime, counted, whole } from "../../../view/format/Format.ts"
import type { RunViewProps } from "../useShown.ts"

const HEIGHT = 30

/** Every event of the run up to the index that is shown. */
export default function EventsView({ page, set, shown }: RunViewProps) {
  const [typed, setTyped] = useState(page.q)
  const [areTypesOpen, setTypesOpen] = useState(false)
  const wanted = useSettled(typed, 200)
  const list = useRef<RowListHandle>(null)
  const searchRef = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (wanted !== page.q) set({ q: wanted })
  }, [wanted, page.q, set])
  const matching = useMemo(
    () => filterEvents(shown.events, { words: page.q, types: page.types, without: page.without }),
    [shown.events, page.q, page.types, page.without]
  )
  // The event of an address is always listed.
  const rows = useMemo(() => withoutEchoes(matching, page.types), [matching, page.types])
  const events = page.event === undefined || rows.some(({ index }) => index === page.event) ? rows : matching
  const count = events.length
  const selected = events.findIndex(({ index }) => index === page.event)

  // A link to an event shows it.
  const first = useRef(true)
  useEffect(() => {
    if (!first.current || selected < 0) return
    first.current = false
    list.current?.scrollTo(selected, "center")
  }, [selected])

  useShortcuts([
    { keys: "/", says: "Search in the events", group: "Events", run: () => searchRef.current?.focus() },
    { keys: "f", says: "Follow the end", group: "Events", run: () => set({ follow: !page.follow }) }
  ])

  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line bg-panel px-3 py-2">
        <label className="relative min-w-[150px] flex-1 sm:max-w-[360px]">
          <span className="sr-only">Search in the events</span>
          <Search size={14} aria-hidden className="absolute top-2 left-2.5 text-muted" />
          <input
            ref={searchRef}
            type="search"
            className="field w-full pl-8"
            placeholder="Search in payloads"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return
              // By itself a search field would be emptied.
              event.preventDefault()
              event.currentTarget.blur()
            }}
          />
        </label>
        <button type="button" className="btn" aria-expanded={areTypesOpen} onClick={() => setTypesOpen(!areTypesOpen)}>
          <Filter size={14} aria-hidden /> Types
          {page.types.length + page.without.length === 0 ? null : (
            <span className="num text-accent">{page.types.length + page.without.length}</span>
          )}
        </button>
        <button
          type="button"
          className={`btn ${page.follow ? "text-accent" : ""}`}
          aria-pressed={page.follow}
          onClick={() => set({ follow: !page.follow })}
        >
          <ArrowDownToLine size={14} aria-hidden /> Follow
        </button>
        <span className="num ml-auto text-muted" aria-live="polite">
          {matching.length === shown.events.length
            ? counted(matching.length, "event")
            : `${whole(matching.length)} of ${counted(shown.events.length, "event")}`}
          {count === matching.length ? "" : ` in ${counted(count, "row")}`}
        </span>
      </div>
      {areTypesOpen ? <Types page={page} set={set} events={shown.events} /> : null}
      {count === 0 ? (
        <Empty title="No event matches">Clear the search, or show more types.</Empty>
      ) : (
        <RowList
          label="Events"
          role="listbox"
          rows={events}
          height={HEIGHT}
          overscan={20}
          keyOf={({ index }) => index}
          grid={GRID}
          attributes={({ index }) => ({ id: `event-${index}`, className: "border-b border-line" })}
          selection={{
            index: selected,
            move: (at) => set({ event: events[at]?.index, follow: false }),
            next: "Next event",
            previous: "Previous event",
            group: "Events"
          }}
          onOpen={({ index }) => set({ event: index })}
          isFollowing={page.follow}
          // Scrolling up ends following.
          onWheelUp={() => page.follow && set({ follow: false })}
          list={list}
        >
          {(event) => <Cells event={event} />}
        </RowList>
      )}
    </div>
  )
}

const GRID =
  "grid grid-cols-[44px_92px_minmax(120px,auto)_1fr] items-center gap-x-3 px-3 sm:grid-cols-[52px_96px_190px_150px_1fr]"

const Cells = memo(({ event }: { readonly event: CanonicalEvent }) => (
  <>
    <span className="num text-right text-muted">{event.index}</span>
    <span className="num text-[12px] text-soft">{clockTime(Date.parse(event.ts))}</span>
    <span className={`truncate font-mono text-[12px] ${toneText[eventTone(event)]}`}>
      <UserText text={event.recorded.type} />
    </span>
    <UserText text={whoOf(event)} className="truncate max-sm:hidden" />
    <UserText text={gistOf(event)} className="truncate text-soft" />
    <RowMarks index={event.index} className="absolute inset-y-0 right-2 rounded bg-panel pl-1" />
  </>
))

const Types = ({
  events,
  page,
  set
}: Omit<RunViewProps, "shown"> & { readonly events: ReadonlyArray<CanonicalEvent> }) => {
  const counts = useMemo(() => countTypes(events), [events])
  const drop = (list: ReadonlyArray<string>, type: string) => list.filter((other) => other !== type)
  return (
    <div className="flex max-h-[220px] flex-wrap gap-1.5 overflow-auto border-b border-line bg-sunken px-3 py-2">
      {counts.map(([type, count]) => {
        const isOnly = page.types.includes(type)
        const isOut = page.without.includes(type)
        return (
          <span key={type} className="inline-flex overflow-hidden rounded-md border border-line-strong bg-panel">
            <button
              type="button"
              aria-pressed={isOnly}
              title={`Only ${type}`}
              className={`px-2 py-0.5 font-mono text-[12px] ${isOnly ? "bg-accent-soft text-accent" : ""} ${
                isOut ? "text-muted line-through" : ""
              }`}
              onClick={() =>
                set({
                  types: isOnly ? drop(page.types, type) : [...page.types, type],
                  without: drop(page.without, type)
                })
              }
            >
              {type} <span className="num text-muted">{whole(count)}</span>
            </button>
            <button
              type="button"
              aria-pressed={isOut}
              aria-label={`Leave out ${type}`}
              title={`Leave out ${type}`}
              className="border-l border-line px-1.5 text-muted hover:text-bad"
              onClick={() =>
                set({
                  without: isOut ? drop(page.without, type) : [...page.without, type],
                  types: drop(page.types, type)
                })
              }
            >
              {isOut ? "+" : "−"}
            </button>
          </span>
        )
      })}
    </div>
  )
}
