import type { CanonicalEvent, RunState } from "@runplane/domain"
import { useEffect, useMemo, useRef } from "react"
import type { RunLog } from "../../live/RunLog.ts"
import { MOST_COMPARED } from "../../live/readEvents.ts"
import { StatusBadge, toneText, UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { Panel } from "../../ui/kit.tsx"
import { RowList, type RowListHandle } from "../../ui/RowList.tsx"
import { type AlignedRow, align } from "../../view/compare/Align.ts"
import { eventTone, gistOf, whoOf } from "../../view/events/Events.ts"
import { costIn, counted, whole } from "../../view/format/Format.ts"

interface AlignedEventsProps {
  readonly left: RunLog
  readonly right: RunLog
  /** Index of the event of the left run at which both are shown; their ends without it. */
  readonly at: number | undefined
  readonly onMove: (at: number | undefined) => void
}

const HEIGHT = 30

/** Events count as the same step when type and participant are. */
const keyOf = (event: CanonicalEvent) => `${event.recorded.type} ${whoOf(event)}`

/** The events of both runs in aligned columns, with both runs at one row: a step in one moves the other. */
export default function AlignedEvents({ at, left, onMove, right }: AlignedEventsProps) {
  const rows = useMemo(() => align(left.events.map(keyOf), right.events.map(keyOf)), [left, right])
  const position =
    at === undefined
      ? rows.length - 1
      : Math.max(
          0,
          rows.findIndex((row) => row.left === at - left.start - 1)
        )
  const list = useRef<RowListHandle>(null)
  useEffect(() => {
    if (at !== undefined) list.current?.scrollTo(position, "center")
  }, [at, position])
  const reached = useMemo(() => reachedAt(rows, position, left.start, right.start), [rows, position, left, right])
  const same = rows.filter((row) => row.left !== undefined && row.right !== undefined).length

  /** Moves to the row in which a side has its event with this index. */
  const moveTo = (side: "left" | "right", index: number) => {
    const { start } = side === "left" ? left : right
    const row = rows.findIndex((candidate) => candidate[side] === index - start - 1)
    const leftAt = reachedAt(rows, row, left.start, right.start).left
    onMove(leftAt === left.count ? undefined : Math.max(1, leftAt))
  }
  return (
    <Panel
      title="Events"
      note={`${counted(same, "step")} in both, ${whole(left.events.length - same)} only left, ${whole(right.events.length - same)} only right${
        Math.max(left.count, right.count) >= MOST_COMPARED ? `; of the first ${whole(MOST_COMPARED)} of each` : ""
      }`}
    >
      <div className="grid gap-x-4 gap-y-2 border-b border-line p-3 md:grid-cols-2">
        <Position title="Left" log={left} index={reached.left} onMove={(index) => moveTo("left", index)} />
        <Position title="Right" log={right} index={reached.right} onMove={(index) => moveTo("right", index)} />
      </div>
      <RowList
        label="Aligned events"
        role="region"
        rows={rows}
        height={HEIGHT}
        keyOf={(_, index) => index}
        grid="grid grid-cols-2 items-stretch"
        className="h-[420px]"
        attributes={(_, index) => ({
          className: `border-b border-line ${index === position && at !== undefined ? "bg-accent-soft" : ""}`
        })}
        list={list}
      >
        {(row) => {
          const one = row.left === undefined ? undefined : left.events[row.left]
          const other = row.right === undefined ? undefined : right.events[row.right]
          const differs = one !== undefined && other !== undefined && gistOf(one) !== gistOf(other)
          return (
            <>
              <Cell event={one} differs={differs} />
              <Cell event={other} differs={differs} />
            </>
          )
        }}
      </RowList>
    </Panel>
  )
}

/** The indices of the last events of both runs up to a row. */
const reachedAt = (rows: ReadonlyArray<AlignedRow>, position: number, leftStart: number, rightStart: number) => {
  let left = leftStart
  let right = rightStart
  for (const row of rows.slice(0, position + 1)) {
    if (row.left !== undefined) left = leftStart + row.left + 1
    if (row.right !== undefined) right = rightStart + row.right + 1
  }
  return { left, right }
}

interface CellProps {
  readonly event: CanonicalEvent | undefined
  /** The other side has the same step with another content. */
  readonly differs: boolean
}

const Cell = ({ differs, event }: CellProps) =>
  event === undefined ? (
    <span className="border-r border-line bg-sunken last:border-0" />
  ) : (
    <span
      className={`flex min-w-0 items-center gap-2 border-r border-line px-2 last:border-0 ${differs ? "bg-warn-soft" : ""}`}
    >
      <span className="num w-8 shrink-0 text-right text-[11px] text-muted">{event.index}</span>
      <span className={`shrink-0 truncate font-mono text-[11px] max-lg:hidden ${toneText[eventTone(event)]}`}>
        {event.recorded.type}
      </span>
      <UserText text={`${whoOf(event)} ${gistOf(event)}`} className="truncate text-[12px]" />
    </span>
  )

interface PositionProps {
  readonly title: string
  readonly log: RunLog
  readonly index: number
  readonly onMove: (index: number) => void
}

/** One run at the row: a slider, with status, votes and cost. */
const Position = ({ index, log, onMove, title }: PositionProps) => {
  const state = useMemo(() => log.stateAt(index), [log, index])
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label className="flex items-center gap-2">
        <span className="label w-9">{title}</span>
        <input
          type="range"
          className="min-w-0 flex-1 accent-(--c-accent)"
          aria-label={`${title}: index in the run`}
          aria-valuetext={`event ${index} of ${log.count}`}
          min={1}
          max={Math.max(1, log.count)}
          value={Math.max(1, index)}
          onChange={({ target }) => onMove(Number(target.value))}
        />
        <span className="num w-20 text-right text-[12px] whitespace-nowrap text-muted">
          {whole(index)} of {whole(log.count)}
        </span>
      </label>
      <p className="flex flex-wrap items-center gap-x-3 pl-11 text-[12px] text-soft">
        <StatusBadge status={state.run.status} />
        <span className="num">{votesOf(state)}</span>
        <span className="num">
          {whole(state.llm.totals.totalTokens)} tokens, <CostText cost={costIn(state.llm.totals)} />
        </span>
      </p>
    </div>
  )
}

const votesOf = ({ policy: { voteTally = [] } }: RunState): string => {
  const last = voteTally.at(-1)
  if (last === undefined) return "no votes"
  return `${last.voters?.allow ?? last.allow} for, ${last.voters?.deny ?? last.deny} against`
}
