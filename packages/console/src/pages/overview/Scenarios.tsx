import type { DashboardOverview, ScenarioFigures } from "@runplane/api"
import { type ReactNode, useMemo } from "react"
import { CostText } from "../../ui/CostText.tsx"
import { Panel, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { NameText } from "../../ui/NameText.tsx"
import { Empty } from "../../ui/States.tsx"
import { compact, duration, listedDollars, percent, whole } from "../../view/format/Format.ts"
import { scenarioSearch, stabilityPage } from "../../view/gates/GateLinks.ts"
import { type OverviewRange, runsLink } from "./OverviewQuery.ts"

/** A row; `others`: the number of scenarios that it has the sums of. */
interface ScenarioRow extends ScenarioFigures {
  readonly others?: number
}

/** Runs of a scenario; the sums of others have no search. */
const linkOf = (range: OverviewRange, { others, scenario }: ScenarioRow, search = "", sort?: string) => {
  if (others !== undefined) return undefined
  return scenario === "unknown"
    ? runsLink(range, `-has:scenario ${search}`.trim(), undefined, sort)
    : runsLink(range, search, scenario, sort)
}

const UNFINISHED = "status:(queued,starting,binding_session,running,suspended)"

const columnsOf = (range: OverviewRange): ReadonlyArray<TableColumn<ScenarioRow>> => {
  /** A count with a link to the runs that make it. */
  const counts = (
    title: string,
    count: (row: ScenarioRow) => number,
    search: string,
    more: Partial<TableColumn<ScenarioRow>> = {}
  ): TableColumn<ScenarioRow> => ({
    title,
    align: "right",
    by: count,
    cell: (row) => <CountLink count={count(row)} href={linkOf(range, row, search)} isBad={title === "Failed"} />,
    ...more
  })
  return [
    {
      title: "Scenario",
      className: "max-w-[340px]",
      by: ({ scenario }) => scenario,
      cell: (row) => {
        const link = linkOf(range, row)
        return link === undefined ? (
          <span className="text-soft">others ({whole(row.others ?? 0)})</span>
        ) : (
          <TextLink href={link} className="flex min-w-0">
            <NameText text={row.scenario} />
          </TextLink>
        )
      }
    },
    counts("Runs", ({ runs }) => runs, ""),
    counts("Active", ({ activeRuns }) => activeRuns, UNFINISHED, { from: "lg" }),
    counts("Completed", ({ completedRuns }) => completedRuns, "status:completed", { from: "sm" }),
    {
      title: "of ended",
      align: "right",
      from: "md",
      by: (row) => shareOf(row),
      cell: (row) => <span className="num">{shareOf(row) === undefined ? "–" : percent(shareOf(row) ?? 0)}</span>
    },
    counts("Declined", ({ declinedRuns }) => declinedRuns, "status:completed outcome:negative", { from: "md" }),
    counts("Failed", ({ failedRuns }) => failedRuns, "status:failed"),
    {
      title: "Mean time",
      align: "right",
      from: "lg",
      by: ({ avgDurationMs }) => avgDurationMs ?? undefined,
      cell: (row) => {
        const { avgDurationMs } = row
        return avgDurationMs === null ? (
          "–"
        ) : (
          <NumberLink href={linkOf(range, row, "status:completed", "slowest")}>{duration(avgDurationMs)}</NumberLink>
        )
      }
    },
    {
      title: "Tokens",
      align: "right",
      from: "xl",
      by: ({ tokens }) => tokens,
      cell: (row) => (
        <NumberLink href={row.tokens === 0 ? undefined : linkOf(range, row, "has:tokens", "tokens")}>
          {compact(row.tokens)}
        </NumberLink>
      )
    },
    {
      title: "Cost",
      align: "right",
      by: ({ costUsd }) => costUsd,
      cell: (row) => (
        <NumberLink href={row.costUsd === 0 ? undefined : linkOf(range, row, "has:cost", "dearest")}>
          <CostText cost={row} say={listedDollars} />
        </NumberLink>
      )
    },
    {
      title: "Decisions",
      from: "lg",
      cell: ({ others, scenario }) =>
        others !== undefined || scenario === "unknown" ? null : (
          <TextLink href={stabilityPage(scenarioSearch(scenario))}>Stability</TextLink>
        )
    }
  ]
}

/** The completed runs of the ended ones. */
const shareOf = ({ activeRuns, completedRuns, runs }: ScenarioRow): number | undefined =>
  runs > activeRuns ? completedRuns / (runs - activeRuns) : undefined

const NumberLink = ({ children, href }: { readonly href: string | undefined; readonly children: ReactNode }) =>
  href === undefined ? (
    <span className="num whitespace-nowrap">{children}</span>
  ) : (
    <TextLink href={href} className="num whitespace-nowrap">
      {children}
    </TextLink>
  )

const CountLink = ({ count, href, isBad }: CountLinkProps) =>
  count === 0 ? (
    <span className="num text-muted">0</span>
  ) : (
    <span className={isBad ? "[&_a]:text-bad" : ""}>
      <NumberLink href={href}>{whole(count)}</NumberLink>
    </span>
  )

interface CountLinkProps {
  readonly count: number
  readonly href: string | undefined
  readonly isBad: boolean
}

/** The scenarios of the time range with the figures of their runs; the last row has the sums of those left out. */
export const Scenarios = ({
  overview: { otherScenarios, scenarios },
  range
}: {
  readonly overview: Pick<DashboardOverview, "otherScenarios" | "scenarios">
  readonly range: OverviewRange
}) => {
  const columns = useMemo(() => columnsOf(range), [range])
  const { count, ...sums } = otherScenarios ?? { count: 0 }
  return (
    <Panel title="Scenarios" actions={<TextLink href="/gates">Gates</TextLink>}>
      {scenarios.length === 0 ? (
        <Empty title="No run in this time">
          The table shows outcomes, time, tokens and cost per scenario. Choose a longer time, or launch a scenario.
        </Empty>
      ) : (
        <Table
          label="Scenarios"
          columns={columns}
          rows={scenarios}
          keyOf={({ others, scenario }: ScenarioRow) => (others === undefined ? scenario : "others")}
          last={"runs" in sums ? { ...sums, scenario: "others", others: count } : undefined}
        />
      )}
    </Panel>
  )
}
