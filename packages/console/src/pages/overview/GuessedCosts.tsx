import GuessBanner from "../../ui/GuessBanner.tsx"
import { useRead } from "../../ui/useRead.ts"
import type { OverviewRange } from "./OverviewQuery.ts"

interface GuessedCostsProps {
  readonly costUsd: number
  readonly guessedCostUsd: number
  readonly range: OverviewRange
}

/** The warning of the overview, with the models of all calls since the start of its time. */
export default function GuessedCosts({ costUsd, guessedCostUsd, range: { query, span } }: GuessedCostsProps) {
  const unknown = useRead(["unknown models", query], (api) =>
    api.prices.unknown({ query: { since: new Date(span.from).toISOString() } })
  )
  // The costs of these calls are those of all environments.
  const models = unknown.data?.models.map(({ model, provider }) => ({ model, provider })) ?? []
  return <GuessBanner costUsd={costUsd} guessedCostUsd={guessedCostUsd} models={models} />
}
