import type { UseQueryResult } from "@tanstack/react-query"
import { createContext, type ReactNode, useContext, useMemo, useRef, useState } from "react"
import { Link } from "wouter"
import { connection } from "../client/Connection.ts"
import { whole } from "../view/format/Format.ts"
import { nextOrder, type Order, type SortValue, sortedBy } from "../view/lists/Sort.ts"
import { UserText } from "./basics.tsx"
import { useStore } from "./hooks.ts"
import { Failure, Skeleton, Stale } from "./States.tsx"
import { isOld } from "./useRead.ts"

/** A page that scrolls as a whole, with its title and actions. */
export const Sheet = ({
  actions,
  children,
  note,
  title
}: {
  readonly title: string
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) => (
  <div className="flex h-full flex-col">
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-panel px-4 py-2.5">
      <h1 className="text-[17px] font-semibold tracking-tight">{title}</h1>
      {note === undefined ? null : <span className="num text-muted">{note}</span>}
      {actions === undefined ? null : <span className="ml-auto flex flex-wrap items-center gap-2">{actions}</span>}
    </div>
    <div tabIndex={0} role="region" aria-label={title} className="min-h-0 flex-1 overflow-auto">
      <div className="flex flex-col gap-4 p-4 max-sm:p-3">{children}</div>
    </div>
  </div>
)

/** A part of a page under a title. */
export const Panel = ({
  actions,
  children,
  className = "",
  note,
  title
}: {
  readonly title: string
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}) => (
  <section aria-label={title} className={`panel min-w-0 overflow-hidden ${className}`}>
    <div className="flex min-h-10 flex-wrap items-center gap-x-2 gap-y-1 border-b border-line px-3 py-1.5">
      <h2 className="min-w-0 wrap-anywhere font-semibold">{title}</h2>
      {note === undefined ? null : <span className="num text-muted">{note}</span>}
      {actions === undefined ? null : <span className="ml-auto flex flex-wrap items-center gap-1.5">{actions}</span>}
    </div>
    {children}
  </section>
)

/** The error of a read, or null. It stays during the next attempt. */
export const useFailure = ({ error, isPending }: Pick<UseQueryResult, "error" | "isPending">): Error | null => {
  const last = useRef<Error | null>(null)
  if (!isPending) last.current = error
  return last.current
}

const Old = createContext(false)

/** States of the connection in which nothing is known of the service. */
const UNKNOWN: ReadonlySet<string> = new Set(["unreachable", "waiting"])

/** Whether the data around a component could not be refreshed: it must not say that something works. */
export const useIsOld = (): boolean => {
  const old = useContext(Old)
  return UNKNOWN.has(useStore(connection).state) || old
}

/** Whether the database of the service is away: what depends on it is not known to work, whatever the service says. */
export const useHasNoDatabase = (): boolean => useStore(connection).state === "no-database"

/** The result of a read: a skeleton while it is loading, its error, and its age when it cannot be refreshed. */
export function Loaded<A>({
  children,
  height = 32,
  read,
  rows = 4,
  what
}: {
  readonly read: UseQueryResult<A>
  /** Title of the error: "The policies cannot be read". */
  readonly what: string
  readonly rows?: number
  readonly height?: number
  readonly children: (data: A) => ReactNode
}) {
  const retry = () => void read.refetch()
  const failure = useFailure(read)
  if (read.data === undefined) {
    return failure !== null ? (
      <Failure what={what} error={failure} retry={retry} />
    ) : (
      <Skeleton rows={rows} height={height} />
    )
  }
  const old = isOld(read)
  return (
    <Old value={old}>
      {old ? <Stale since={read.dataUpdatedAt} error={read.error ?? read.failureReason} retry={retry} /> : null}
      {children(read.data)}
    </Old>
  )
}

export interface TableColumn<Row> {
  readonly title: string
  /** What its rows sort by; a column without it cannot be sorted by. */
  readonly by?: (row: Row) => SortValue
  /** The least is what readers look for: the first press on the title puts it on top. */
  readonly leastFirst?: boolean
  readonly align?: "right"
  /** Hidden on screens narrower than this. */
  readonly from?: "sm" | "md" | "lg" | "xl" | "2xl"
  readonly cell: (row: Row) => ReactNode
  readonly className?: string
}

/** A column of whole numbers. */
export const countColumn = <Row,>(
  title: string,
  count: (row: Row) => number,
  from?: TableColumn<Row>["from"]
): TableColumn<Row> => ({
  title,
  align: "right",
  by: count,
  ...(from !== undefined && { from }),
  cell: (row) => <span className="num">{whole(count(row))}</span>
})

/** Classes that hide an element on screens narrower than this. */
export const fromClass = {
  sm: "max-sm:hidden",
  md: "max-md:hidden",
  lg: "max-lg:hidden",
  xl: "max-xl:hidden",
  "2xl": "max-2xl:hidden"
} as const

/** A table of some dozens of rows; longer lists are drawn in part. The titles of its columns sort it. */
export function Table<Row>({
  columns,
  isChosen,
  last,
  most = Number.POSITIVE_INFINITY,
  keyOf,
  label,
  onOpen,
  rows
}: {
  readonly label: string
  readonly columns: ReadonlyArray<TableColumn<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  /** A click anywhere on the row; the row has a link or a button for keys as well. */
  readonly onOpen?: (row: Row) => void
  readonly isChosen?: (row: Row) => boolean
  /** A row that stays at the end in every order: the sums of what the table leaves out. */
  readonly last?: Row | undefined
  /** Rows that are drawn, the first ones of the order. */
  readonly most?: number
}) {
  const [order, setOrder] = useState<Order>()
  const sorted = useMemo(() => {
    const by = columns.find(({ title }) => title === order?.title)?.by
    return order === undefined || by === undefined ? rows : sortedBy(rows, by, order.isDescending)
  }, [columns, order, rows])
  const shown = sorted.slice(0, most)
  const drawn = last === undefined ? shown : [...shown, last]
  const cellClass = ({ align, className = "", from }: TableColumn<Row>) =>
    `px-2 first:pl-3 last:pr-3 ${align === "right" ? "text-right" : "text-left"} ${from === undefined ? "" : fromClass[from]} ${className}`
  return (
    <div className="overflow-x-auto" tabIndex={0} role="group" aria-label={`${label}, as a table`}>
      <table className="w-full border-collapse">
        <thead>
          <tr className="h-8 border-b border-line">
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={`label whitespace-nowrap ${cellClass(column)}`}
                {...(column.by !== undefined && { "aria-sort": sortOf(order, column.title) })}
              >
                {column.by === undefined ? (
                  column.title
                ) : (
                  <SortButton column={column} rows={rows} order={order} onOrder={setOrder} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {drawn.map((row) => (
            <tr
              key={keyOf(row)}
              className={`border-b border-line last:border-0 ${onOpen === undefined ? "" : "cursor-pointer hover:bg-sunken"} ${
                isChosen?.(row) === true ? "bg-accent-soft" : ""
              }`}
              onClick={onOpen === undefined ? undefined : () => onOpen(row)}
            >
              {columns.map((column) => (
                <td key={column.title} className={`py-1.5 ${cellClass(column)}`}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const sortOf = (order: Order | undefined, title: string) =>
  order?.title !== title ? "none" : order.isDescending ? "descending" : "ascending"

interface SortButtonProps<Row> {
  readonly column: TableColumn<Row>
  readonly rows: ReadonlyArray<Row>
  readonly order: Order | undefined
  readonly onOrder: (order: Order) => void
}

const SortButton = <Row,>({ column, onOrder, order, rows }: SortButtonProps<Row>) => {
  const { by, title } = column
  const sample = rows.map((row) => by?.(row)).find((value) => value !== undefined)
  const sort = sortOf(order, title)
  return (
    <button
      type="button"
      className="inline-flex items-center gap-0.5 whitespace-nowrap hover:text-text"
      onClick={() => onOrder(nextOrder(order, column, sample))}
    >
      {title}
      {sort === "none" ? null : <span aria-hidden>{sort === "descending" ? "↓" : "↑"}</span>}
    </button>
  )
}

/** Names and values side by side. */
export const Facts = ({ facts }: { readonly facts: ReadonlyArray<readonly [name: string, value: ReactNode]> }) => (
  <dl className="grid grid-cols-[minmax(96px,max-content)_1fr] gap-x-4 gap-y-1.5 p-3">
    {facts.map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-muted">{name}</dt>
        <dd className="min-w-0 wrap-anywhere">{value}</dd>
      </div>
    ))}
  </dl>
)

/** Reasons or conditions as a list. */
export const Reasons = ({
  className = "mt-1",
  texts
}: {
  readonly texts: ReadonlyArray<string>
  readonly className?: string
}) =>
  texts.length === 0 ? null : (
    <ul className={`list-disc pl-6 text-soft ${className}`}>
      {texts.map((text) => (
        <li key={text}>
          <UserText text={text} />
        </li>
      ))}
    </ul>
  )

/** A link to another page of the console. */
export const TextLink = ({
  children,
  className = "",
  href
}: {
  readonly href: string
  readonly className?: string
  readonly children: ReactNode
}) => (
  <Link href={href} className={`text-accent underline decoration-1 underline-offset-2 ${className}`}>
    {children}
  </Link>
)

interface SelectProps<Word extends string> {
  readonly label: string
  readonly value: Word
  readonly options: ReadonlyArray<readonly [Word, string]>
  readonly onChange: (word: Word) => void
  readonly className?: string
}

export const Select = <Word extends string>({ className = "", ...props }: SelectProps<Word>) => (
  <span className={className}>
    <WordSelect {...props} className="field w-full pr-1" />
  </span>
)

/** The bare list of words to choose from. */
export const WordSelect = <Word extends string>({
  className = "",
  label,
  onChange,
  options,
  value
}: SelectProps<Word>) => (
  <select
    aria-label={label}
    className={className}
    value={value}
    onChange={({ target }) => {
      const chosen = options.find(([word]) => word === target.value)
      if (chosen !== undefined) onChange(chosen[0])
    }}
  >
    {options.map(([word, title]) => (
      <option key={word} value={word}>
        {title}
      </option>
    ))}
  </select>
)
