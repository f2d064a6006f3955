import {
  Bot,
  Box,
  Brain,
  ChevronDown,
  ChevronRight,
  Database,
  Flag,
  type LucideIcon,
  MoveRight,
  ShieldCheck,
  UserRound,
  Workflow,
  Wrench,
  XCircle
} from "lucide-react"
import { memo, useEffect, useMemo, useRef, useState } from "react"
import { hue, UserText } from "../../../ui/basics.tsx"
import { CostText } from "../../../ui/CostText.tsx"
import { RowList, type RowListHandle } from "../../../ui/RowList.tsx"
import { fineDuration, listedDollars, whole } from "../../../view/format/Format.ts"
import { parentsFrom, rowsOfTree, type SpanOrder, type SpanTree, type TreeNode } from "../../../view/run/SpanTree.ts"
import type { RunViewProps, ShownRun } from "../useShown.ts"
import { SpanDetails } from "./SpanDetails.tsx"

const HEIGHT = 28
/** Indentation of a level, pixels, and the deepest level that is indented. */
const INDENT = 14
const DEEPEST = 12

/** Levels that stay open when all are closed. */
const OPEN_LEVELS = 1

const ICONS: Readonly<Record<string, LucideIcon>> = {
  run: Flag,
  participant: UserRound,
  agent: Bot,
  step: Bot,
  workflow: Workflow,
  model: Brain,
  tool: Wrench,
  retrieval: Database,
  handoff: MoveRight,
  guardrail: ShieldCheck,
  approval: ShieldCheck
}

const GRID =
  "grid items-center gap-x-2 px-3 grid-cols-[minmax(140px,1.5fr)_96px_minmax(70px,1fr)] " +
  "sm:grid-cols-[minmax(180px,3fr)_96px_72px_72px_84px_minmax(120px,2fr)]"

/** The tree of spans as a table: the arrow keys move, open and close; Enter shows the event of a span. */
export const SpanTable = ({ page, set, shown, tree }: RunViewProps & { readonly tree: SpanTree }) => {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [chosen, setChosen] = useState<string>()
  const rows = useMemo(() => rowsOfTree(tree.roots, closed, page.spans), [tree, closed, page.spans])
  const list = useRef<RowListHandle>(null)
  const selected = useMemo(
    () =>
      rows.findIndex(({ span }) =>
        chosen === undefined ? page.event !== undefined && span.index === page.event : span.id === chosen
      ),
    [rows, chosen, page.event]
  )
  // A link to an event, and the list of events, choose the span.
  useEffect(() => setChosen(undefined), [page.event])

  const choose = (at: number) => {
    const row = rows[at]
    if (row !== undefined) setChosen(row.span.id)
  }
  const toggle = (id: string, isOpen: boolean) => {
    const next = new Set(closed)
    if (isOpen) next.delete(id)
    else next.add(id)
    setClosed(next)
  }
  const open = (row: TreeNode) => {
    if (row.span.index !== undefined) set({ event: row.span.index })
  }
  const row = rows[selected]
  const isParent = row !== undefined && row.children.length > 0
  const show = (at: number) => {
    choose(at)
    if (rows[at] !== undefined) list.current?.scrollTo(at)
  }
  const keys = {
    ArrowRight: () => {
      if (!isParent) return
      if (closed.has(row.span.id)) toggle(row.span.id, true)
      else show(selected + 1)
    },
    ArrowLeft: () => {
      if (row === undefined) return
      if (isParent && !closed.has(row.span.id)) toggle(row.span.id, false)
      else show(rows.findLastIndex(({ depth }, at) => at < selected && depth < row.depth))
    },
    Enter: () => row && open(row)
  }
  const parents = useMemo(() => parentsFrom(tree, OPEN_LEVELS), [tree])
  const sortable = (order: SpanOrder, title: string, className = "") => (
    <span
      role="columnheader"
      aria-sort={page.spans === order ? (order === "start" ? "ascending" : "descending") : "none"}
      className={`truncate ${className}`}
    >
      <button
        type="button"
        className={`label hover:text-text ${page.spans === order ? "text-text underline underline-offset-4" : ""}`}
        onClick={() => set({ spans: order })}
      >
        {title}
      </button>
    </span>
  )
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b border-line bg-panel px-3 py-1.5 text-muted">
        <button type="button" className="btn" disabled={closed.size === 0} onClick={() => setClosed(new Set())}>
          Open all
        </button>
        <button type="button" className="btn" disabled={parents.size === 0} onClick={() => setClosed(parents)}>
          Close all
        </button>
        <span className="ml-auto max-sm:hidden">A row has the sums of all spans below it.</span>
      </div>
      <RowList
        label="Spans"
        role="treegrid"
        rows={rows}
        height={HEIGHT}
        overscan={4}
        keyOf={({ span }) => span.id}
        // To make new rows takes longer than a frame.
        isReused
        grid={GRID}
        head={
          <>
            {sortable("start", "Span")}
            {sortable("cost", "Cost", "text-right")}
            {sortable("tokens", "Tokens", "text-right max-sm:hidden")}
            {sortable("total", "Total", "text-right max-sm:hidden")}
            {sortable("own", "Own", "text-right max-sm:hidden")}
            <span role="columnheader" className="num flex justify-between text-[11px] text-muted">
              <span>0</span>
              <span className="max-sm:hidden">{fineDuration((tree.end - tree.start) / 2)}</span>
              <span>{fineDuration(tree.end - tree.start)}</span>
            </span>
          </>
        }
        attributes={({ children, depth, span }, at) => ({
          id: `span-${at}`,
          "aria-level": depth + 1,
          "aria-expanded": children.length === 0 ? undefined : !closed.has(span.id),
          "data-span": span.name,
          className: "[contain:strict] border-b border-line"
        })}
        selection={{ index: selected, move: choose, next: "Next span", previous: "Previous span", group: "Traces" }}
        keys={keys}
        onOpen={(node) => {
          open(node)
          setChosen(node.span.id)
        }}
        list={list}
      >
        {(node) => (
          <SpanCells
            node={node}
            tree={tree}
            shown={shown}
            isOpen={!closed.has(node.span.id)}
            onToggle={() => toggle(node.span.id, closed.has(node.span.id))}
          />
        )}
      </RowList>
      {row === undefined ? null : <SpanDetails node={row} begin={tree.start} />}
    </>
  )
}

interface SpanCellsProps {
  readonly node: TreeNode
  readonly tree: SpanTree
  readonly shown: ShownRun
  readonly isOpen: boolean
  readonly onToggle: () => void
}

const isSame = (one: SpanCellsProps, other: SpanCellsProps): boolean =>
  one.node === other.node && one.tree === other.tree && one.isOpen === other.isOpen

const SpanCells = memo(({ isOpen, node, onToggle, shown, tree }: SpanCellsProps) => {
  const { children, depth, ownMs, span, total, totalMs } = node
  const Icon = ICONS[span.kind] ?? Box
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <>
      <span
        role="gridcell"
        className="flex min-w-0 items-center gap-1.5"
        style={{ paddingLeft: Math.min(depth, DEEPEST) * INDENT }}
      >
        {children.length === 0 ? (
          <span className="w-4 shrink-0" />
        ) : (
          <button
            type="button"
            tabIndex={-1}
            aria-label={`${isOpen ? "Close" : "Open"} ${span.name}`}
            className="w-4 shrink-0 text-muted hover:text-text"
            onClick={(event) => {
              event.stopPropagation()
              onToggle()
            }}
          >
            <Chevron size={14} aria-hidden />
          </button>
        )}
        {depth > DEEPEST ? <span className="num text-[11px] text-muted">{depth}</span> : null}
        <Icon size={13} aria-hidden className="shrink-0 text-muted" />
        <UserText text={span.name} className={`truncate ${span.error === undefined ? "" : "font-medium text-bad"}`} />
        {span.who === "" || span.who === span.name ? null : (
          <UserText text={span.who} className="truncate text-[12px] text-muted max-sm:hidden" />
        )}
        {span.error === undefined ? null : (
          <XCircle size={13} className="shrink-0 text-bad" role="img" aria-label="failed" />
        )}
        {span.error === undefined && node.hasFailedBelow ? (
          <span className="size-1.5 shrink-0 rounded-full bg-bad" role="img" aria-label="a span below failed" />
        ) : null}
      </span>
      <span role="gridcell" className="num truncate text-right">
        {total.calls === 0 ? <span className="text-muted">–</span> : <CostText cost={total} say={listedDollars} />}
      </span>
      <span role="gridcell" className="num truncate text-right max-sm:hidden">
        {total.calls === 0 ? <span className="text-muted">–</span> : whole(total.tokens)}
      </span>
      <span role="gridcell" className="num truncate text-right max-sm:hidden">
        {fineDuration(totalMs)}
      </span>
      <span role="gridcell" className="num truncate text-right text-soft max-sm:hidden">
        {fineDuration(ownMs)}
      </span>
      <span
        role="gridcell"
        className="relative h-full overflow-hidden"
        aria-label={`after ${fineDuration(span.start - tree.start)}`}
      >
        <Bar node={node} tree={tree} colour={hue(shown.participantIndex(span.who))} />
      </span>
    </>
  )
}, isSame)

/** The period of a span on the line of all spans. */
const Bar = ({
  colour,
  node: { span, totalMs },
  tree
}: {
  readonly node: TreeNode
  readonly tree: SpanTree
  readonly colour: string
}) => {
  const whole = Math.max(tree.end - tree.start, Number.MIN_VALUE)
  const left = ((span.start - tree.start) / whole) * 100
  return (
    <span
      aria-hidden
      data-bar
      className="absolute top-1/2 h-2 -translate-y-1/2 rounded-[2px]"
      style={{
        left: `min(${left}%, calc(100% - 3px))`,
        width: `max(3px, ${(totalMs / whole) * 100}%)`,
        background: span.error === undefined ? colour : "var(--c-bad)",
        opacity: span.kind === "run" || span.kind === "participant" || span.kind === "other" ? 0.45 : 0.9
      }}
    />
  )
}
