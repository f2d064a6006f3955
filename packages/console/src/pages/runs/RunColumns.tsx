import type { Run, RunListQuery } from "@runplane/api"
import { runDuration } from "@runplane/domain"
import { type ReactNode, Suspense } from "react"
import { Chip, Id, StatusBadge, Time, UserText } from "../../ui/basics.tsx"
import { CostText } from "../../ui/CostText.tsx"
import { DecisionCell } from "../../ui/decision/DecisionCell.tsx"
import { lazily } from "../../ui/lazily.ts"
import { NameText } from "../../ui/NameText.tsx"
import {
  compact,
  cut,
  duration,
  listedDollars,
  modeLabel,
  NAME_LENGTH,
  TITLE_LENGTH,
  whole
} from "../../view/format/Format.ts"
import { type MarksOfRuns, markNameOf } from "../../view/marks/MarkColumns.ts"
import type { RunFacts } from "../../view/run/RunFacts.ts"

const WaitCell = lazily(() => import("./WaitCell.tsx"))
const MarkCell = lazily(() => import("./MarkCell.tsx"))

export interface Column {
  readonly id: string
  readonly title: string
  /** Of the grid: least and greatest width. */
  readonly width: string
  readonly align?: "right"
  /** What a click on the header sorts by; the column cannot be sorted without it. */
  readonly sort?: RunListQuery["sortBy"]
  /** Hidden on screens narrower than this. */
  readonly from?: "md" | "lg" | "xl" | "2xl"
  readonly cell: (run: Run, facts: RunFacts, now: number) => ReactNode
}

/** Letters of an id in the second line of a run. */
const ID_LETTERS = 8

/** An unknown value, which is not 0. */
const none = <span className="text-muted">–</span>

/** All columns of the list, those that are usual first and in their usual order. */
export const COLUMNS: ReadonlyArray<Column> = [
  {
    id: "decision",
    title: "Decision",
    // A phone has space for the glyph.
    width: "minmax(176px, 196px)",
    cell: (run) => <DecisionCell run={run} />
  },
  {
    id: "run",
    title: "Run",
    width: "minmax(180px, 3fr)",
    cell: ({ archivedAt, historyGap, id }, { environment, scenario, title }) => (
      <span className="flex min-w-0 flex-col leading-tight">
        <span className="flex min-w-0 items-center gap-2">
          <UserText text={cut(title, TITLE_LENGTH)} className="truncate font-medium" />
          {archivedAt === null ? null : <Chip>archived</Chip>}
          {historyGap === true ? (
            <Chip tone="warn" title="The log has a gap: messages are missing">
              gap
            </Chip>
          ) : null}
        </span>
        <span className="truncate text-[12px] text-muted max-md:hidden">
          {[scenario === title ? undefined : scenario, id.slice(0, ID_LETTERS), environment]
            .filter((part) => part !== undefined)
            .map((part, at) => (
              <span key={part}>
                {at === 0 ? "" : " · "}
                <UserText text={cut(part, NAME_LENGTH)} />
              </span>
            ))}
        </span>
      </span>
    )
  },
  {
    id: "started",
    title: "Started",
    width: "84px",
    from: "md",
    sort: "createdAt",
    cell: ({ createdAt, startedAt }) => <Time at={startedAt ?? createdAt} className="text-soft" />
  },
  {
    id: "duration",
    title: "Duration",
    width: "76px",
    align: "right",
    from: "md",
    sort: "duration",
    cell: (run, _, now) => {
      const ms = runDuration(run, now)
      return ms === undefined ? none : <span className="num">{duration(ms)}</span>
    }
  },
  {
    id: "events",
    title: "Events",
    width: "56px",
    align: "right",
    from: "2xl",
    sort: "events",
    cell: ({ lastEventIndex }) => <span className="num">{whole(lastEventIndex)}</span>
  },
  {
    id: "tokens",
    title: "Tokens",
    width: "58px",
    align: "right",
    from: "2xl",
    sort: "tokens",
    cell: (_, { tokens }) => (tokens === undefined ? none : <span className="num">{compact(tokens)}</span>)
  },
  {
    id: "cost",
    title: "Cost",
    width: "96px",
    align: "right",
    from: "md",
    sort: "cost",
    cell: (_, { cost }) => (cost === undefined ? none : <CostText cost={cost} say={listedDollars} />)
  },
  {
    id: "participants",
    title: "Agents",
    width: "54px",
    align: "right",
    from: "2xl",
    cell: ({ participantCount }) =>
      participantCount === undefined ? none : <span className="num">{whole(participantCount)}</span>
  },
  {
    id: "mode",
    title: "Mode",
    width: "76px",
    from: "2xl",
    cell: (_, { modeName }) =>
      modeName === undefined ? none : <UserText text={modeLabel(modeName)} className="truncate text-soft" />
  },
  {
    id: "policy",
    title: "Policy",
    width: "minmax(90px, 1fr)",
    from: "xl",
    cell: (_, { policy }) => (policy === undefined ? none : <NameText text={policy} className="text-soft" />)
  },
  {
    id: "id",
    title: "Id",
    width: "150px",
    from: "2xl",
    cell: ({ id }) => <Id id={id} label="run id" />
  },
  {
    id: "scenario",
    title: "Scenario",
    width: "minmax(110px, 1fr)",
    from: "md",
    cell: (_, { scenario }) => (scenario === undefined ? none : <NameText text={scenario} className="text-soft" />)
  },
  {
    id: "environment",
    title: "Environment",
    width: "minmax(80px, 110px)",
    from: "md",
    cell: (_, { environment }) =>
      environment === undefined ? none : <UserText text={environment} className="truncate text-soft" />
  },
  {
    id: "tags",
    title: "Tags",
    width: "minmax(90px, 1fr)",
    from: "md",
    cell: ({ tags }) => (tags.length === 0 ? none : <UserText text={tags.join(", ")} className="truncate text-soft" />)
  },
  {
    id: "updated",
    title: "Changed",
    width: "84px",
    from: "md",
    sort: "updatedAt",
    cell: ({ updatedAt }) => <Time at={updatedAt} className="text-soft" />
  },
  {
    id: "waiting",
    title: "Waits for",
    width: "minmax(130px, 1fr)",
    from: "md",
    cell: ({ id, status }) => (
      <Suspense fallback={none}>
        <WaitCell id={id} status={status} />
      </Suspense>
    )
  },
  {
    id: "status",
    title: "Status",
    width: "124px",
    from: "md",
    cell: ({ status }) => <StatusBadge status={status} />
  },
  {
    id: "ended",
    title: "Ended",
    width: "84px",
    from: "md",
    cell: ({ endedAt }) => (endedAt === undefined ? none : <Time at={endedAt} className="text-soft" />)
  }
]

/** Columns that are always there, in front of the others. */
export const FIXED: ReadonlyArray<string> = ["decision", "run"]

/** Columns that are shown when none were chosen. */
const USUAL: ReadonlyArray<string> = ["started", "duration", "events", "tokens", "cost", "participants", "policy"]

/** The ids of the columns that can be chosen, in the order in which they are shown. */
export const chosenColumns = (chosen: ReadonlyArray<string>): ReadonlyArray<string> =>
  chosen.length === 0
    ? USUAL
    : chosen.filter(
        (id) => !FIXED.includes(id) && (COLUMNS.some((column) => column.id === id) || markNameOf(id) !== undefined)
      )

/** The values of the marks of a name. */
const markColumnOf = (id: string, name: string, marks: MarksOfRuns | undefined): Column => ({
  id,
  title: name,
  width: "minmax(96px, 1fr)",
  from: "md",
  sort: `mark.${name}`,
  cell: (run) => {
    const ofRun = marks?.get(run.id)
    // Nothing is known until the marks are read.
    if (ofRun === undefined) return null
    const found = ofRun.filter((mark) => mark.name === name)
    return found.length === 0 ? (
      none
    ) : (
      <Suspense fallback={none}>
        <MarkCell marks={found} name={name} />
      </Suspense>
    )
  }
})

/** The columns that are shown, in order. Those that were chosen are shown on every screen but a phone's. */
export const columnsOf = (chosen: ReadonlyArray<string>, marks: MarksOfRuns | undefined): ReadonlyArray<Column> =>
  [...FIXED, ...chosenColumns(chosen)].flatMap((id): ReadonlyArray<Column> => {
    const name = markNameOf(id)
    const found = name === undefined ? COLUMNS.filter((column) => column.id === id) : [markColumnOf(id, name, marks)]
    return chosen.length === 0
      ? found
      : found.map((column) => (column.from === undefined ? column : { ...column, from: "md" }))
  })

/** The least width of a column, CSS pixels. */
const leastWidth = ({ width }: Column): number => Number(/^(?:minmax\()?(\d+)px/.exec(width)?.[1] ?? 0)

/** Gaps, edges, the tick box and the button of a row, CSS pixels. */
const GAP = 12
const EDGES = 32 + 16 + 22 + 2 * GAP

/** The least width of a list with these columns; a narrower screen scrolls it sideways. CSS pixels. */
export const leastListWidth = (columns: ReadonlyArray<Column>): number =>
  columns.reduce((sum, column) => sum + leastWidth(column) + GAP, EDGES)
