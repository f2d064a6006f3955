import type { ReactNode } from "react"
import { RowList } from "../../../ui/RowList.tsx"
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
const ROW = { className: "border-b border-line" }

const columnStyle = ({ grows, width }: { readonly grows?: boolean; readonly width: number }) => ({
  flex: `${grows === true ? 1 : 0} 0 ${width}px`,
  minWidth: 0
})

/** A list of rows that come from events; a row opens its event. */
export function EventTable<Row>({ columns, indexOf, label, page, rows, set }: EventTableProps<Row>) {
  const open = (row: Row | undefined) => row !== undefined && set({ event: indexOf(row) })
  return (
    <RowList
      label={label}
      role="table"
      rows={rows}
      height={HEIGHT}
      overscan={16}
      keyOf={(row, at) => `${indexOf(row)} ${at}`}
      grid="flex items-center gap-3 px-3"
      minWidth={columns.reduce((sum, { width }) => sum + width + GAP, GAP)}
      attributes={() => ROW}
      head={columns.map((column) => (
        <span key={column.title} role="columnheader" className="label truncate" style={columnStyle(column)}>
          {column.title}
        </span>
      ))}
      selection={{
        index: rows.findIndex((row) => indexOf(row) === page.event),
        move: (at) => open(rows[at]),
        next: `Next of ${label}`,
        previous: `Previous of ${label}`,
        group: label
      }}
      onOpen={open}
    >
      {(row) =>
        columns.map((column, at) => (
          <span
            key={column.title}
            role="cell"
            className={`truncate ${column.className ?? ""}`}
            style={columnStyle(column)}
          >
            {at === 0 ? (
              <button type="button" className="num text-accent underline" onClick={() => open(row)}>
                {column.cell(row)}
              </button>
            ) : (
              column.cell(row)
            )}
          </span>
        ))
      }
    </RowList>
  )
}
