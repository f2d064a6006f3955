import type { ScenarioFigures } from "@runplane/api"
import { CostText } from "../../ui/CostText.tsx"
import { countColumn, Panel, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { NameText } from "../../ui/NameText.tsx"
import { Empty } from "../../ui/States.tsx"
import { compact, duration, listedDollars, percent, whole } from "../../view/format/Format.ts"
import { scenarioSearch, stabilityPage } from "../../view/gates/GateLinks.ts"
import { type OverviewRange, runsLink } from "./OverviewQuery.ts"

const columnsOf = (range: OverviewRange): ReadonlyArray<TableColumn<ScenarioFigures>> => [
  {
    title: "Scenario",
    className: "max-w-[340px] xl:max-w-[200px] 2xl:max-w-[340px]",
    cell: ({ scenario }) =>
      scenario === "unknown" ? (
        <TextLink href={runsLink(range, "-has:scenario")}>unknown</TextLink>
      ) : (
        <TextLink href={runsLink(range, "", scenario)} className="flex min-w-0">
          <NameText text={scenario} />
        </TextLink>
      )
  },
  countColumn("Runs", ({ runs }) => runs),
  countColumn("Active", ({ activeRuns }) => activeRuns, "2xl"),
  {
    title: "Completed",
    align: "right",
    cell: ({ activeRuns, completedRuns, runs }) => (
      <span className="num whitespace-nowrap">
        {whole(completedRuns)}
        {runs > activeRuns ? <span className="text-muted"> {percent(completedRuns / (runs - activeRuns))}</span> : null}
      </span>
    )
  },
  countColumn("Declined", ({ declinedRuns }) => declinedRuns, "md"),
  {
    title: "Failed",
    align: "right",
    cell: ({ failedRuns }) => <span className={`num ${failedRuns > 0 ? "text-bad" : ""}`}>{whole(failedRuns)}</span>
  },
  {
    title: "Mean duration",
    align: "right",
    from: "lg",
    cell: ({ avgDurationMs }) => (
      <span className="num whitespace-nowrap">{avgDurationMs === null ? "–" : duration(avgDurationMs)}</span>
    )
  },
  {
    title: "Tokens",
    align: "right",
    from: "2xl",
    cell: ({ tokens }) => <span className="num">{compact(tokens)}</span>
  },
  { title: "Cost", align: "right", from: "sm", cell: (row) => <CostText cost={row} say={listedDollars} /> },
  {
    title: "Decisions",
    from: "lg",
    cell: ({ scenario }) =>
      scenario === "unknown" ? null : <TextLink href={stabilityPage(scenarioSearch(scenario))}>Stability</TextLink>
  }
]

/** The most frequent scenarios of the time range, with the figures of their runs. */
export const Scenarios = ({
  range,
  scenarios
}: {
  readonly scenarios: ReadonlyArray<ScenarioFigures>
  readonly range: OverviewRange
}) => (
  <Panel title="Scenarios" className="xl:col-span-2" actions={<TextLink href="/gates">Gates</TextLink>}>
    {scenarios.length === 0 ? (
      <Empty title="No run in this time">
        The table shows outcomes, time, tokens and cost per scenario. Choose a longer time, or launch a scenario.
      </Empty>
    ) : (
      <Table label="Scenarios" columns={columnsOf(range)} rows={scenarios} keyOf={({ scenario }) => scenario} />
    )}
  </Panel>
)
