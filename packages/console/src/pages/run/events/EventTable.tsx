import { useVirtualizer } from "@tanstack/react-virtual"
import { type ReactNode, useRef } from "react"
import { useShortcuts } from "../../../ui/Keys.ts"
import type { RunPageState, SetRunPage } from "../RunParams.ts"

export interface EventColumn<Row> {
  readonly title: string
  /** Of the column, pixels; what is left over goes to those that grow. */
  readonly width: number
  readonly grows?: boolean
  readonly className?: string
  readonly cell: (row: Row) => ReactNode
}

interface EventTableProps<Row> {
  readonly label: string
  readonly rows: ReadonlyArray<Row>
  readonly indexOf: (row: Row) => number
  readonly columns: ReadonlyArray<EventColumn<Row>>
  readonly page: RunPageState
  readonly set: SetRunPage
}

const HEIGHT = 34
const GAP = 12

const columnStyle = ({ grows, width }: { readonly grows?: boolean; readonly width: number }) => ({
  flex: `${grows === true ? 1 : 0} 0 ${width}px`,
  minWidth: 0
})

/** A virtual list of rows that come from events; a row opens its event. */
export function EventTable<Row>({ columns, indexOf, label, page, rows, set }: EventTableProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null)
  const drawn = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT,
    overscan: 16
  })
  const selected = rows.findIndex((row) => indexOf(row) === page.event)
  const move = (by: number) => {
    const at = Math.min(rows.length - 1, Math.max(0, selected + by))
    const next = rows[at]
    if (next === undefined) return
    set({ event: indexOf(next) })
    drawn.scrollToIndex(at)
  }
  useShortcuts([
    { keys: "j", says: `Next of ${label}`, group: label, run: () => move(1) },
    { keys: "k", says: `Previous of ${label}`, group: label, run: () => move(-1) }
  ])
  const minWidth = columns.reduce((sum, { width }) => sum + width + GAP, GAP)
  return (
    <div ref={scroller} role="table" aria-label={label} tabIndex={0} className="min-h-0 flex-1 overflow-auto bg-panel">
      <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-panel" style={{ minWidth }}>
        <div role="row" className="flex h-8 items-center gap-3 px-3">
          {columns.map((column) => (
            <span key={column.title} role="columnheader" className="label truncate" style={columnStyle(column)}>
              {column.title}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="relative" style={{ minWidth, height: drawn.getTotalSize() }}>
        {drawn.getVirtualItems().map(({ index: at, start }) => {
          const row = rows[at]
          if (row === undefined) return null
          const index = indexOf(row)
          return (
            <div
              key={`${index} ${at}`}
              role="row"
              data-row={at}
              className={`row-at flex cursor-pointer items-center gap-3 border-b border-line px-3 ${
                at === selected ? "bg-accent-soft" : "hover:bg-sunken"
              }`}
              style={{ transform: `translateY(${start}px)`, height: HEIGHT }}
              onClick={() => set({ event: index })}
            >
              {columns.map((column, at) => (
                <span
                  key={column.title}
                  role="cell"
                  className={`truncate ${column.className ?? ""}`}
                  style={columnStyle(column)}
                >
                  {at === 0 ? (
                    <button type="button" className="num text-accent underline" onClick={() => set({ event: index })}>
                      {column.cell(row)}
                    </button>
                  ) : (
                    column.cell(row)
                  )}
                </span>
              ))}
            </div>
          )
        })}
      </div>
    </div>
  )
}
