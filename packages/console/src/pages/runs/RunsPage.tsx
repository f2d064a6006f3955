import { ArrowDown, ArrowUp } from "lucide-react"
import { memo, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react"
import { useLocation } from "wouter"
import { useMedia, useNow, useTitle, useUrlState } from "../../ui/hooks.ts"
import { useShortcuts } from "../../ui/Keys.ts"
import { lazily } from "../../ui/lazily.ts"
import { InsteadOfRows, RowList, type RowListHandle } from "../../ui/RowList.tsx"
import { Empty, Failure, Skeleton, Stale } from "../../ui/States.tsx"
import { isOld } from "../../ui/useRead.ts"
import { counted, whole } from "../../view/format/Format.ts"
import { type MarksOfRuns, markNameOf } from "../../view/marks/MarkColumns.ts"
import { Filters } from "./Filters.tsx"
import { type Column, columnsOf, leastListWidth } from "./RunColumns.tsx"
import { headerSort, isFiltered, type RunFilters, runParams } from "./RunQuery.ts"
import { cellClass, type RowActions, RunCells } from "./RunRow.tsx"
import { useRuns } from "./useRuns.ts"

/** Drawn again when the filters change, not while the list is scrolled. */
const FiltersOnce = memo(Filters)
const ReadMarks = lazily(() => import("./ReadMarks.tsx"))
const Bulk = lazily(() => import("./Bulk.tsx"))
const Peek = lazily(() => import("./Peek.tsx"))

const HEIGHTS: Readonly<Record<RunFilters["density"], number>> = { comfortable: 52, compact: 42 }
/** Of a row with a second line. */
const PHONE_HEIGHT = 58
/** Width of the column of decisions, which a phone shows as glyphs. */
const PHONE_DECISION = "30px"
const PHONE = "(max-width: 767px)"
/** A screen with space for a run beside the list. */
const WIDE = "(min-width: 1024px)"

/** Rows drawn beyond each edge: a row of this list is dear. */
const OVERSCAN = 6

const GRID =
  "grid items-center gap-x-3 px-4 grid-cols-(--t-s) md:grid-cols-(--t-md) lg:grid-cols-(--t-lg) xl:grid-cols-(--t-xl) 2xl:grid-cols-(--t-2xl)"
const ROW = { className: "[contain:layout_style] border-b border-line" }

/** Widths of the columns that fit on a screen, as tracks of a grid. */
const tracks = (columns: ReadonlyArray<Column>, narrowest: ReadonlyArray<Column["from"]>) =>
  [
    "16px",
    ...columns
      .filter(({ from }) => narrowest.includes(from))
      .map(({ id, width }) => (id === "decision" && !narrowest.includes("md") ? PHONE_DECISION : width)),
    ...(narrowest.includes("md") ? ["22px"] : [])
  ].join(" ")

/** The list of all runs. */
export default function RunsPage() {
  const [filters, set] = useUrlState(runParams)
  const { anchor, isOther, list, runs, search, showNewer, total, waiting } = useRuns(filters)
  const [isValid, setValid] = useState(true)
  // The rows may not match the filters on the screen: nothing may happen to them.
  const isLocked = isOther || !isValid
  const [chosen, setChosen] = useState(-1)
  const selection = useSelection()
  const now = useNow(1_000)
  const [, go] = useLocation()
  const searchRef = useRef<HTMLInputElement>(null)
  useTitle("Runs")

  const isPhone = useMedia(PHONE)
  const isWide = useMedia(WIDE)
  const height = isPhone ? PHONE_HEIGHT : HEIGHTS[filters.density]
  const rows = useRef<RowListHandle>(null)
  const [marks, setMarks] = useState<MarksOfRuns>()
  const all = useMemo(() => columnsOf(filters.columns, marks), [filters.columns, marks])
  // Beside a preview the list is as narrow as on a small screen.
  const isBeside = isWide && filters.peek !== "" && filters.columns.length === 0
  const columns = useMemo(
    () => (isBeside ? all.filter(({ from }) => from === undefined || from === "md") : all),
    [all, isBeside]
  )
  const markNames = useMemo(() => filters.columns.flatMap((id) => markNameOf(id) ?? []), [filters.columns])
  const ids = useMemo(() => runs.map(({ id }) => id), [runs])
  const selected = useMemo(
    () => (isLocked ? [] : runs.filter(({ id }) => selection.ids.has(id))),
    [isLocked, runs, selection.ids]
  )
  // The dialog of an action stays when its runs leave the list.
  const hasChosen = useRef(false)
  if (selected.length > 0) hasChosen.current = true
  const matching =
    selected.length === runs.length && runs.length > 0 && total !== undefined && total > runs.length
      ? { total, filters: search, anchor }
      : undefined
  const peeked = filters.peek === "" ? undefined : runs.find(({ id }) => id === filters.peek)

  const { setAll } = selection
  // Runs that were chosen in another search are not chosen in this one.
  useEffect(() => setAll([]), [setAll, search])

  const { fetchNextPage, hasNextPage, isFetchingNextPage } = list
  const move = (next: number) => {
    setChosen(next)
    if (peeked !== undefined) set({ peek: runs[next]?.id ?? "" })
    // The row may have to be drawn first.
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-row="${next}"] a`)?.focus())
  }
  useShortcuts([
    { keys: "/", says: "Search", group: "Runs", run: () => searchRef.current?.focus() },
    { keys: "n", says: "Show newer runs", group: "Runs", run: showNewer },
    {
      keys: "x",
      says: "Choose the run",
      group: "Runs",
      run: () => {
        const run = runs[chosen]
        if (run !== undefined && !isLocked) selection.toggle(run.id)
      }
    },
    {
      keys: "p",
      says: "Show the run beside the list",
      group: "Runs",
      run: () => set({ peek: runs[chosen]?.id ?? "" })
    },
    { keys: "Escape", says: "Close the run beside the list", group: "Runs", run: () => set({ peek: "" }) },
    {
      keys: "Enter",
      says: "Open the run",
      group: "Runs",
      run: () => {
        const run = runs[chosen]
        if (run !== undefined) go(`/runs/${run.id}`)
      }
    }
  ])

  const grid = {
    "--t-s": tracks(columns, [undefined]),
    "--t-md": tracks(columns, [undefined, "md"]),
    "--t-lg": tracks(columns, [undefined, "md", "lg"]),
    "--t-xl": tracks(columns, [undefined, "md", "lg", "xl"]),
    "--t-2xl": tracks(columns, [undefined, "md", "lg", "xl", "2xl"])
  } as React.CSSProperties
  const { toggle } = selection
  const act = useMemo(
    (): RowActions => ({
      choose: setChosen,
      open: (run) => go(`/runs/${run}`),
      peek: (run) => set({ peek: run }),
      toggle
    }),
    [go, set, toggle]
  )

  return (
    <div className="flex h-full flex-col short:overflow-y-auto" style={grid}>
      <div className="flex items-baseline gap-3 bg-panel px-4 pt-3 max-sm:pt-2">
        <h1 className="text-[17px] font-semibold tracking-tight">Runs</h1>
        <span className="num text-muted" aria-live="polite">
          {isLocked || total === undefined ? "" : counted(total, "run")}
        </span>
        {isLocked ? (
          <span className="text-warn" role="status">
            {isOther
              ? "Reading the runs of the new search…"
              : "The search is not valid: the rows are of the one before"}
          </span>
        ) : null}
        <span className="sr-only" role="status" aria-label="Newer runs">
          {waiting > 0 ? `${counted(waiting, "newer run")}, press n to see` : ""}
        </span>
      </div>
      <FiltersOnce
        filters={filters}
        set={set}
        onValid={setValid}
        searchRef={searchRef}
        total={isLocked ? undefined : total}
      />
      {hasChosen.current ? (
        <Suspense fallback={null}>
          <Bulk runs={selected} all={matching} onClear={() => selection.setAll([])} />
        </Suspense>
      ) : null}
      {isOld(list) && runs.length > 0 ? (
        <Stale since={list.dataUpdatedAt} error={list.error ?? list.failureReason} retry={() => void list.refetch()} />
      ) : null}
      <div className="flex min-h-0 flex-1 short:min-h-[85dvh] short:shrink-0">
        <div className="relative flex min-w-0 flex-1 flex-col">
          {waiting > 0 && runs.length > 0 ? (
            <button
              type="button"
              className="btn btn-main absolute top-10 left-1/2 z-20 -translate-x-1/2 rounded-full shadow-float"
              onClick={() => {
                showNewer()
                rows.current?.scrollTo(0)
              }}
            >
              <ArrowUp size={14} aria-hidden /> {whole(waiting)} newer
            </button>
          ) : null}
          <RowList
            label="Runs"
            role="table"
            rows={runs}
            height={height}
            overscan={OVERSCAN}
            total={total ?? -1}
            keyOf={({ id }) => id}
            grid={GRID}
            {...(filters.columns.length > 0 && !isPhone && { minWidth: leastListWidth(columns) })}
            attributes={() => ROW}
            head={
              <>
                <span role="columnheader" className="flex items-center">
                  <input
                    type="checkbox"
                    aria-label="Choose all runs that are loaded"
                    checked={runs.length > 0 && selected.length === runs.length}
                    disabled={isLocked}
                    onChange={({ target }) => selection.setAll(target.checked ? runs.map(({ id }) => id) : [])}
                  />
                </span>
                {columns.map((column) => (
                  <Header key={column.id} column={column} sort={filters.sort} onSort={(sort) => set({ sort })} />
                ))}
                <span role="columnheader" className="sr-only">
                  Beside the list
                </span>
              </>
            }
            selection={{ index: chosen, move, next: "Next run", previous: "Previous run", group: "Runs" }}
            onOpen={({ id }, event) => {
              if (window.getSelection()?.toString() === "" && !event.defaultPrevented) act.open(id)
            }}
            onEnd={hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined}
            isLocked={isLocked}
            list={rows}
          >
            {(run, index) => (
              <RunCells
                run={run}
                index={index}
                columns={columns}
                isPhone={isPhone}
                isSelected={!isLocked && selection.ids.has(run.id)}
                // An ended run does not change with time.
                now={run.endedAt === undefined ? now : 0}
                act={act}
              />
            )}
          </RowList>
          {runs.length > 0 ? null : (
            <InsteadOfRows>
              {list.isPending ? <Skeleton rows={12} height={height} /> : null}
              {list.isError ? (
                <Failure what="The runs cannot be read" error={list.error} retry={() => void list.refetch()} />
              ) : null}
              {list.isSuccess && waiting === 0 ? (
                isFiltered(filters) ? (
                  <Empty title="No run matches these filters">Clear a filter, or choose a longer time.</Empty>
                ) : (
                  <Empty title="No runs yet">Launch a scenario or post a descriptor to /runs to create a run.</Empty>
                )
              ) : null}
            </InsteadOfRows>
          )}
        </div>
        {peeked === undefined ? null : (
          <Suspense fallback={null}>
            <Peek run={peeked} isBeside={isWide} onClose={() => set({ peek: "" })} />
          </Suspense>
        )}
      </div>
      {markNames.length === 0 ? null : (
        <Suspense fallback={null}>
          <ReadMarks names={markNames} runs={ids} setMarks={setMarks} />
        </Suspense>
      )}
    </div>
  )
}

interface HeaderProps {
  readonly column: Column
  readonly sort: RunFilters["sort"]
  readonly onSort: (sort: RunFilters["sort"]) => void
}

/** The header of a column; a click sorts by it, the second one in the other direction. */
const Header = ({ column, onSort, sort }: HeaderProps) => {
  if (column.sort === undefined) {
    return (
      <span role="columnheader" className={`label ${cellClass(column)}`}>
        <span className={`truncate ${column.id === "decision" ? "max-md:sr-only" : ""}`}>{column.title}</span>
      </span>
    )
  }
  const { next, state } = headerSort(sort, column.sort)
  return (
    <span role="columnheader" aria-sort={state} className={`label ${cellClass(column)}`}>
      <button
        type="button"
        title={`Sort by ${column.title}`}
        className={`flex min-w-0 items-center gap-0.5 hover:text-text ${state === "none" ? "" : "text-text"}`}
        onClick={() => onSort(next)}
      >
        <span className="truncate">{column.title}</span>
        {state === "none" ? null : state === "ascending" ? (
          <ArrowUp size={11} aria-hidden className="shrink-0" />
        ) : (
          <ArrowDown size={11} aria-hidden className="shrink-0" />
        )}
      </button>
    </span>
  )
}

/** The rows that were chosen, by the ids of their runs. */
const useSelection = () => {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback(
    (id: string) =>
      setIds((before) => {
        const next = new Set(before)
        if (!next.delete(id)) next.add(id)
        return next
      }),
    []
  )
  const setAll = useCallback((all: ReadonlyArray<string>) => setIds(new Set(all)), [])
  return { ids, toggle, setAll }
}
