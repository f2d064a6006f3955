import type { StabilityAnswer } from "@runplane/api"
import * as Effect from "effect/Effect"
import { UserText } from "../../ui/basics.tsx"
import { useTitle, useUrlState } from "../../ui/hooks.ts"
import { Loaded, Panel, Select, Sheet, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { agreementColumns, Flips, OutcomeBars, StabilityFacts } from "../../ui/Stability.tsx"
import { Empty } from "../../ui/States.tsx"
import { QueryBar } from "../../ui/search/QueryBar.tsx"
import { useRead } from "../../ui/useRead.ts"
import { counted, duration, listedDollars } from "../../view/format/Format.ts"
import { runsPage, stabilityPage } from "../../view/gates/GateLinks.ts"
import { GROUPINGS, type Grouping, groupRows, groupSearch, type StabilityRow } from "../../view/gates/Gates.ts"
import { sinceDay } from "../../view/live/SinceDay.ts"
import { textParam, wordParam } from "../../view/query/UrlState.ts"

const SINCE = { "30d": "Last 30 days", "7d": "Last 7 days", "90d": "Last 90 days", all: "All time" } as const

const SINCE_NAMES = ["30d", "7d", "90d", "all"] as const

const GROUPING_NAMES = [
  "day",
  "week",
  "model",
  "promptHash",
  "policyVersion",
  "template",
  "source",
  "variant",
  "scenario"
] as const

const params = {
  q: textParam,
  since: wordParam(SINCE_NAMES),
  by: wordParam(GROUPING_NAMES),
  count: wordParam(["decided", "all"])
}

/** How stable the decisions of runs are, over time and by their properties (docs/reference/gate.md#stability). */
export default function StabilityPage() {
  const [state, set] = useUrlState(params)
  useTitle("Stability")
  const { by, count, q, since } = state
  const from = sinceDay(since)
  // Scenarios are not compared with each other: without a search each has a row of its own.
  const isEach = q === ""
  const read = useRead(["stability", state, from], (api) =>
    // The answer of the previous search is shown until the next one, with its own grouping.
    Effect.map(
      api.decisions.stability({
        query: {
          by: isEach ? "scenario" : by,
          count,
          ...(q !== "" && { q }),
          ...(from !== undefined && { since: from })
        }
      }),
      (found) => ({ found, by, q, isEach })
    )
  )
  return (
    <Sheet
      title="Stability"
      note={read.data === undefined ? undefined : counted(read.data.found.n, "counted run")}
      actions={<TextLink href="/gates">Recent gates</TextLink>}
    >
      <div className="flex flex-wrap items-start gap-2">
        <QueryBar
          resource="runs"
          label="Search for runs"
          placeholder="A scenario: scenario:, tags:, policyVersion:"
          value={q}
          onChange={(next) => set({ q: next }, { push: true })}
        />
        <Select
          label="Time"
          value={since}
          options={SINCE_NAMES.map((name) => [name, SINCE[name]] as const)}
          onChange={(next) => set({ since: next }, { push: true })}
        />
        <Select
          label="Counted runs"
          value={count}
          options={[
            ["decided", "Without failed runs"],
            ["all", "All ended runs"]
          ]}
          onChange={(next) => set({ count: next }, { push: true })}
        />
      </div>
      <Loaded read={read} what="The stability cannot be read" rows={8} height={40}>
        {({ found, ...shown }) => (
          <>
            {found.isLimited ? <p className="text-muted">Of the latest 1,000 runs; more match.</p> : null}
            {found.n === 0 && (found.by ?? []).length === 0 ? (
              <Empty title="No run matches">Choose a longer time, or another search.</Empty>
            ) : shown.isEach ? (
              <Panel title="Scenarios" note="choose one for its outcomes and causes of flips">
                <Table
                  label="Stability by scenario"
                  columns={columnsOf("", "scenario")}
                  rows={groupRows(found, "scenario")}
                  keyOf={({ value }) => value}
                />
              </Panel>
            ) : (
              <Figures found={found} shown={shown} set={(grouping) => set({ by: grouping })} />
            )}
          </>
        )}
      </Loaded>
    </Sheet>
  )
}

interface FiguresProps {
  readonly found: StabilityAnswer
  readonly shown: { readonly q: string; readonly by: Grouping }
  readonly set: (by: Grouping) => void
}

const Figures = ({ found, set, shown: { by, q } }: FiguresProps) => (
  <>
    <div className="grid items-start gap-3 lg:grid-cols-2">
      <Panel title="Outcomes">
        <OutcomeBars stability={found} />
        <StabilityFacts stability={found} />
      </Panel>
      <Panel title="Causes of flips">
        <Flips {...found} />
      </Panel>
    </div>
    <Panel
      title={by === "day" || by === "week" ? "Over time" : `By ${GROUPINGS[by].toLowerCase()}`}
      note={by === "day" || by === "week" ? "in UTC" : undefined}
      actions={
        <Select
          label="Grouped by"
          value={by}
          options={GROUPING_NAMES.map((name) => [name, GROUPINGS[name]] as const)}
          onChange={set}
        />
      }
    >
      <Table
        label={`Stability by ${GROUPINGS[by].toLowerCase()}`}
        columns={columnsOf(q, by)}
        rows={groupRows(found, by)}
        keyOf={({ value }) => value}
      />
    </Panel>
  </>
)

const columnsOf = (q: string, by: Grouping): ReadonlyArray<TableColumn<StabilityRow>> => [
  {
    title: GROUPINGS[by],
    className: "max-w-[300px] min-w-[92px]",
    by: ({ value }) => value,
    cell: ({ value }) => {
      const search = groupSearch(q, by, value)
      const text = <UserText text={value === "" ? "none" : value} />
      if (by === "scenario" && search !== undefined) return <TextLink href={stabilityPage(search)}>{text}</TextLink>
      return search === undefined ? text : <TextLink href={runsPage(search)}>{text}</TextLink>
    }
  },
  ...agreementColumns,
  {
    title: "Cost, p95",
    align: "right",
    from: "lg",
    by: ({ cost }) => cost.p95,
    cell: ({ cost }) => <span className="num">{listedDollars(cost.p95)}</span>
  },
  {
    title: "Duration, p95",
    align: "right",
    from: "md",
    by: ({ durationMs }) => durationMs.p95,
    cell: ({ durationMs }) => <span className="num whitespace-nowrap">{duration(durationMs.p95)}</span>
  }
]
