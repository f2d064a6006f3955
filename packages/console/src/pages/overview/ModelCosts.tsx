import type { CostsByModel } from "@runplane/api"
import { CostText } from "../../ui/CostText.tsx"
import { ModelName } from "../../ui/GuessBanner.tsx"
import { countColumn, Loaded, Panel, Table, type TableColumn } from "../../ui/kit.tsx"
import { Empty } from "../../ui/States.tsx"
import { useRead } from "../../ui/useRead.ts"
import { compact, dollars, listedDollars, percent } from "../../view/format/Format.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import type { OverviewRange } from "./OverviewQuery.ts"

interface ModelCostsProps {
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
  readonly range: OverviewRange
}

/** What the calls of each model cost in the time range; read on demand, because the service reads every call for it. */
export default function ModelCosts({ isOpen, onOpen, range }: ModelCostsProps) {
  return (
    <Panel
      title="Cost by model"
      actions={
        <button type="button" className="btn" aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
          {isOpen ? "Hide" : "Show"}
        </button>
      }
    >
      {isOpen ? <Models range={range} /> : null}
    </Panel>
  )
}

const Models = ({ range: { query, span } }: Pick<ModelCostsProps, "range">) => {
  const { environment } = query
  const costs = useRead(["model costs", query], (api) =>
    api.prices.models({
      query: {
        since: new Date(span.from).toISOString(),
        ...(query.to !== undefined && { until: query.to }),
        ...(environment !== undefined && { q: `environment:${queryValue(environment)}` })
      }
    })
  )
  return (
    <Loaded read={costs} what="The cost of models cannot be read" rows={4} height={36}>
      {({ isPartial, models }) =>
        models.length === 0 ? (
          <Empty title="No call of a model in this time">The table shows calls, tokens and cost per model.</Empty>
        ) : (
          <>
            <Table
              label="Cost by model"
              columns={columnsOf(models.reduce((sum, { estimatedCostUsd }) => sum + estimatedCostUsd, 0))}
              rows={models}
              keyOf={({ model, provider }) => JSON.stringify([model, provider])}
            />
            {isPartial ? <p className="px-3 py-2 text-muted">Only the newest 200,000 calls are counted.</p> : null}
          </>
        )
      }
    </Loaded>
  )
}

const columnsOf = (total: number): ReadonlyArray<TableColumn<CostsByModel["models"][number]>> => [
  { title: "Model", className: "max-w-[340px]", cell: (row) => <ModelName {...row} /> },
  countColumn("Calls", ({ calls }) => calls),
  {
    title: "Tokens",
    align: "right",
    from: "sm",
    cell: ({ totalTokens }) => <span className="num">{compact(totalTokens)}</span>
  },
  {
    title: "Mean of a call",
    align: "right",
    from: "lg",
    cell: ({ calls, estimatedCostUsd }) => <span className="num">{dollars(estimatedCostUsd / calls)}</span>
  },
  {
    title: "Share",
    align: "right",
    from: "md",
    cell: ({ estimatedCostUsd }) => <span className="num">{total === 0 ? "–" : percent(estimatedCostUsd / total)}</span>
  },
  {
    title: "Cost",
    align: "right",
    cell: ({ estimatedCostUsd: costUsd, guessedCostUsd }) => (
      <CostText cost={{ costUsd, guessedCostUsd }} say={listedDollars} />
    )
  }
]
