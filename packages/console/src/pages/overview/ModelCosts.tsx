import type { CostsByModel } from "@runplane/api"
import type { ReactNode } from "react"
import { CostText } from "../../ui/CostText.tsx"
import { ModelName } from "../../ui/GuessBanner.tsx"
import { Loaded, Panel, Table, type TableColumn, TextLink } from "../../ui/kit.tsx"
import { Empty } from "../../ui/States.tsx"
import { useRead } from "../../ui/useRead.ts"
import { compact, dollars, listedDollars, percent, whole } from "../../view/format/Format.ts"
import { queryValue } from "../../view/query/QueryCompletion.ts"
import { type OverviewRange, runsLink } from "./OverviewQuery.ts"

/** Models of one answer. */
const MAX_MODELS = 500

interface ModelCostsProps {
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
  readonly range: OverviewRange
}

/**
 * What the calls of each model cost in the time range. Of many runs it is read on demand, because the service reads
 * every call for it.
 */
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

const Models = ({ range }: Pick<ModelCostsProps, "range">) => {
  const { query, span } = range
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
              columns={columnsOf(
                range,
                models.reduce((sum, { estimatedCostUsd }) => sum + estimatedCostUsd, 0)
              )}
              rows={models}
              keyOf={({ model, provider }) => JSON.stringify([model, provider])}
            />
            {models.length < MAX_MODELS ? null : (
              <p className="px-3 py-2 text-muted">The {MAX_MODELS} dearest models.</p>
            )}
            {isPartial ? <p className="px-3 py-2 text-muted">Only the newest 200,000 calls are counted.</p> : null}
          </>
        )
      }
    </Loaded>
  )
}

type ModelRow = CostsByModel["models"][number]

const columnsOf = (range: OverviewRange, total: number): ReadonlyArray<TableColumn<ModelRow>> => {
  /** The runs that called the model, by `sort`; a model without a name has no search. */
  const link = ({ model = "" }: ModelRow, text: ReactNode, sort?: string) =>
    model === "" ? (
      <span className="num">{text}</span>
    ) : (
      <TextLink href={runsLink(range, `model:${queryValue(model)}`, undefined, sort)} className="num whitespace-nowrap">
        {text}
      </TextLink>
    )
  return [
    {
      title: "Model",
      className: "max-w-[340px]",
      by: ({ model, provider }) => `${model ?? ""} ${provider ?? ""}`,
      cell: (row) => link(row, <ModelName {...row} />)
    },
    { title: "Calls", align: "right", by: ({ calls }) => calls, cell: (row) => link(row, whole(row.calls)) },
    {
      title: "Tokens",
      align: "right",
      from: "sm",
      by: ({ totalTokens }) => totalTokens,
      cell: (row) => link(row, compact(row.totalTokens), "tokens")
    },
    {
      title: "Mean of a call",
      align: "right",
      from: "lg",
      by: ({ calls, estimatedCostUsd }) => estimatedCostUsd / calls,
      cell: (row) => link(row, dollars(row.estimatedCostUsd / row.calls))
    },
    {
      title: "Share",
      align: "right",
      from: "md",
      by: ({ estimatedCostUsd }) => estimatedCostUsd,
      cell: (row) => link(row, total === 0 ? "–" : percent(row.estimatedCostUsd / total), "dearest")
    },
    {
      title: "Cost",
      align: "right",
      by: ({ estimatedCostUsd }) => estimatedCostUsd,
      cell: (row) => {
        const { estimatedCostUsd: costUsd, guessedCostUsd } = row
        return link(row, <CostText cost={{ costUsd, guessedCostUsd }} say={listedDollars} />, "dearest")
      }
    }
  ]
}
