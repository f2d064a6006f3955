import {
  type HTMLAttributes,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  type WheelEvent
} from "react"
import { rowsInView } from "../view/lists/Rows.ts"
import { useLatest } from "./hooks.ts"
import { useShortcuts } from "./Keys.ts"

/** The titles of the columns with the line below them, CSS pixels. */
const HEAD = 33
/** Rows that PageUp and PageDown pass. */
const PAGE = 20
/** The number of reused rows is a multiple of this. */
const SLOTS = 64
/** Rows before the end at which the next rows are read. */
const AHEAD = 30

export interface RowListHandle {
  /** Scrolls as little as brings the row into view, or the row to the middle. */
  readonly scrollTo: (index: number, to?: "center") => void
}

export interface RowSelection {
  /** Of the selected row; -1: none. */
  readonly index: number
  readonly move: (index: number) => void
  /** What the help says of the keys `j` and `k`, and under which title. */
  readonly next: string
  readonly previous: string
  readonly group: string
}

/** Attributes of one row: its id, marks for tests, its level in a tree. */
export type RowAttributes = HTMLAttributes<HTMLDivElement> & Readonly<Record<`data-${string}`, string | number>>

type ListRole = "table" | "treegrid" | "listbox" | "region"

const isTable = (role: ListRole): boolean => role === "table" || role === "treegrid"
/** The keys of these lists move their selection. */
const isOfKeys = (role: ListRole): boolean => role === "treegrid" || role === "listbox"

/** The roles of a list, of the element around its rows, and of a row. The titles are the first row of a table. */
const listAria = (role: ListRole, label: string, total: number, active: string | undefined) => ({
  role,
  "aria-label": label,
  ...(isTable(role) && { "aria-rowcount": total < 0 ? -1 : total + 1 }),
  ...(active !== undefined && { "aria-activedescendant": active })
})
const rowsAria = (role: ListRole) =>
  isTable(role) ? { role: "rowgroup" } : role === "listbox" ? { role: "presentation" } : {}
const rowAria = (role: ListRole, index: number, count: number, isSelected: boolean) => ({
  ...(isTable(role) && { role: "row", "aria-rowindex": index + 2 }),
  ...(role === "listbox" && { role: "option", "aria-posinset": index + 1, "aria-setsize": count }),
  ...(isOfKeys(role) && { "aria-selected": isSelected })
})

interface RowListProps<Row> {
  readonly label: string
  /** A region is text: its rows have no roles. The keys of a treegrid and of a listbox move the selection. */
  readonly role: ListRole
  readonly rows: ReadonlyArray<Row>
  /** Of each row, CSS pixels. */
  readonly height: number
  /** Rows drawn beyond each edge. */
  readonly overscan?: number
  readonly keyOf: (row: Row, index: number) => string | number
  /** Rows that scroll into view reuse the elements of those that scroll out: rows of many elements, without focus. */
  readonly isReused?: boolean
  /** Rows of the whole list when `rows` is a part of it; -1: unknown. */
  readonly total?: number
  /** The titles of the columns: they stay at the top. */
  readonly head?: ReactNode
  /** Classes of the head and of each row: the columns. */
  readonly grid?: string
  /** A narrower list scrolls sideways, CSS pixels. */
  readonly minWidth?: number
  /** Classes of the list. */
  readonly className?: string
  readonly attributes?: (row: Row, index: number) => RowAttributes
  readonly children: (row: Row, index: number) => ReactNode
  /** A click on a row. */
  readonly onOpen?: (row: Row, event: MouseEvent) => void
  readonly selection?: RowSelection
  /** Further keys of a treegrid or a listbox. */
  readonly keys?: Readonly<Record<string, () => void>>
  /** Whether the list stays at its end; `onWheelUp` ends that. */
  readonly isFollowing?: boolean
  readonly onWheelUp?: () => void
  /** Whether the first row is out of view, when that may have changed. */
  readonly onAway?: (isAway: boolean) => void
  /** Reads the next rows: called while the end of `rows` is near. */
  readonly onEnd?: (() => void) | undefined
  /** Rows that must not be used: dimmed, without keys and clicks. */
  readonly isLocked?: boolean
  readonly list?: Ref<RowListHandle>
}

/**
 * A long list of rows of one height, drawn in part: the visible rows and a few beyond. It draws again when other rows
 * become visible, not for each pixel. Without rows it is its head alone.
 */
export function RowList<Row>({
  attributes,
  children,
  className = "min-h-0 flex-1",
  grid = "",
  head,
  height,
  isFollowing = false,
  isLocked = false,
  isReused = false,
  keyOf,
  keys = {},
  label,
  list,
  minWidth,
  onAway,
  onEnd,
  onOpen,
  onWheelUp,
  overscan = 12,
  role,
  rows,
  selection,
  total = rows.length
}: RowListProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null)
  const count = rows.length
  const headHeight = head === undefined ? 0 : HEAD
  const { update, view } = useRowsInView(scroller, height, overscan, onAway)

  const scrollTo = useCallback(
    (index: number, to?: "center") => {
      const element = scroller.current
      if (element === null) return
      const top = index * height
      const space = element.clientHeight - headHeight
      if (to === "center") element.scrollTop = Math.max(0, top - (space - height) / 2)
      else if (top < element.scrollTop) element.scrollTop = top
      else if (top + height > element.scrollTop + space) element.scrollTop = top + height - space
      // Before the event of the scroll: the caller may focus the row in the next frame.
      update()
    },
    [height, headHeight, update]
  )
  useImperativeHandle(list, () => ({ scrollTo }), [scrollTo])

  useEffect(() => {
    if (isFollowing && count > 0) scrollTo(count - 1)
  }, [isFollowing, count, scrollTo])
  const isNearEnd = view.last >= count - AHEAD
  useEffect(() => {
    if (isNearEnd) onEnd?.()
  }, [isNearEnd, onEnd])

  const selected = selection?.index ?? -1
  const choose = (index: number) => {
    if (selection === undefined || index < 0 || index >= count) return
    selection.move(index)
    scrollTo(index)
  }
  const move = (by: number) => choose(Math.min(count - 1, Math.max(0, selected + by)))
  useShortcuts(
    selection === undefined
      ? []
      : [
          { keys: "j", says: selection.next, group: selection.group, run: () => move(1) },
          { keys: "k", says: selection.previous, group: selection.group, run: () => move(-1) }
        ]
  )
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.altKey || event.ctrlKey || event.metaKey) return
    const steps: Readonly<Record<string, () => void>> = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      PageDown: () => move(PAGE),
      PageUp: () => move(-PAGE),
      Home: () => choose(0),
      End: () => choose(count - 1),
      ...keys
    }
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    step()
  }

  const active = isOfKeys(role) ? rows[selected] : undefined
  const last = Math.min(count, view.last)
  const drawn = rows.slice(view.first, last)
  const slots = Math.ceil(drawn.length / SLOTS) * SLOTS
  return (
    <div
      ref={scroller}
      {...listAria(role, label, total, active && attributes?.(active, selected).id)}
      tabIndex={0}
      className={`overflow-auto bg-panel ${count === 0 ? "shrink-0" : className}`}
      {...(isOfKeys(role) && { onKeyDown })}
      {...(onWheelUp && { onWheel: ({ deltaY }: WheelEvent) => deltaY < 0 && onWheelUp() })}
    >
      {head === undefined ? null : (
        <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-panel" style={{ minWidth }}>
          <div role="row" aria-rowindex={1} className={`h-8 ${grid}`}>
            {head}
          </div>
        </div>
      )}
      <div
        {...rowsAria(role)}
        className={`relative ${isLocked ? "opacity-40" : ""}`}
        inert={isLocked}
        style={{ minWidth, height: count * height }}
      >
        {drawn.map((row, at) => {
          const index = view.first + at
          const isSelected = index === selected
          const { className = "", ...others } = attributes?.(row, index) ?? {}
          return (
            <div
              key={isReused ? index % slots : keyOf(row, index)}
              {...rowAria(role, index, count, isSelected)}
              data-row={index}
              {...others}
              className={`row-at ${grid} ${onOpen === undefined ? "" : "cursor-pointer"} ${
                isSelected ? "bg-accent-soft" : onOpen === undefined ? "" : "hover:bg-sunken"
              } ${className}`}
              style={{ height, transform: `translateY(${index * height}px)`, ...others.style }}
              {...(onOpen && { onClick: (event: MouseEvent) => onOpen(row, event) })}
            >
              {children(row, index)}
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** What a page shows where its list has no rows: that they are read, why they are not there, or that there are none. */
export const InsteadOfRows = ({ children }: { readonly children: ReactNode }) => (
  <div role="group" tabIndex={0} className="min-h-0 flex-1 overflow-auto bg-panel">
    {children}
  </div>
)

/**
 * The first of the rows to draw, and the one after the last of them. The position alone decides which rows these are,
 * so a longer list needs no second render.
 */
const useRowsInView = (
  scroller: { readonly current: HTMLDivElement | null },
  height: number,
  overscan: number,
  onAway: ((isAway: boolean) => void) | undefined
) => {
  const [view, setView] = useState({ first: 0, last: 40 })
  const measure = () => {
    const element = scroller.current
    if (element === null) return
    const next = rowsInView(element.scrollTop, element.clientHeight, height, Number.MAX_SAFE_INTEGER, overscan)
    setView((before) => (before.first === next.first && before.last === next.last ? before : next))
  }
  const latest = useLatest({ measure, height, onAway })
  const update = useCallback(() => latest.current.measure(), [latest])
  useEffect(update, [update, height, overscan])
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const scrolled = () => {
      update()
      latest.current.onAway?.(element.scrollTop > latest.current.height)
    }
    element.addEventListener("scroll", scrolled, { passive: true })
    const sizes = new ResizeObserver(update)
    sizes.observe(element)
    return () => {
      element.removeEventListener("scroll", scrolled)
      sizes.disconnect()
      // A list that goes away is not scrolled.
      latest.current.onAway?.(false)
    }
  }, [scroller, latest, update])
  return { view, update }
}
