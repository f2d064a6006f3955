import { nanoUsd, usdOfNano } from "../values/Money.ts"
import type { ModelPrices } from "./ModelPrices.ts"

/** Recorded calls with equal values. */
export interface RecordedCallGroup {
  /** When the calls were made, ISO. */
  readonly at: string
  readonly model?: string
  readonly provider?: string
  readonly promptTokens: number
  readonly totalTokens: number
  readonly cachedTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
  readonly batch?: boolean
  /** US dollars of each call; absent for calls without token counts. */
  readonly estimatedCostUsd?: number
  readonly costBasis?: string
  readonly calls: number
}

/** What recorded calls cost, and what they would have cost under other prices. US dollars. */
export interface RepricedSums {
  readonly calls: number
  readonly recordedUsd: number
  /** Part of `recordedUsd` that is a guess. */
  readonly recordedGuessUsd: number
  readonly costUsd: number
  /** Part of `costUsd` that is a guess. */
  readonly guessedCostUsd: number
  /** `costUsd` less `recordedUsd`. */
  readonly differenceUsd: number
}

/** The sums of one model, as the agents stated it. */
export interface RepricedModel extends RepricedSums {
  readonly model?: string
  readonly provider?: string
  /** The entry that has its latest price; absent for a guess. */
  readonly priceKey?: string
}

/** Adds up recorded calls under other prices (docs/reference/prices.md#what-if). */
export interface Repricing {
  readonly add: (group: RecordedCallGroup) => void
  readonly result: () => RepricedSums & {
    /** Calls without token counts, which the sums lack. */
    readonly callsWithoutUsage: number
    /** The dearest first, by the greater of both costs. */
    readonly models: ReadonlyArray<RepricedModel>
  }
}

/** Whole billionths of a dollar. */
interface Sums {
  calls: number
  recorded: number
  recordedGuess: number
  cost: number
  guess: number
}

const noSums = (): Sums => ({ calls: 0, recorded: 0, recordedGuess: 0, cost: 0, guess: 0 })

/** A cost that the agent stated stays as it is. */
export const makeRepricing = (prices: ModelPrices): Repricing => {
  const all = noSums()
  const models = new Map<
    string,
    { readonly name: Pick<RepricedModel, "model" | "provider">; sums: Sums; key?: string }
  >()
  let callsWithoutUsage = 0
  return {
    add: (group) => {
      const { calls, costBasis, estimatedCostUsd, model, provider } = group
      if (estimatedCostUsd === undefined) {
        callsWithoutUsage += calls
        return
      }
      const recorded = nanoUsd(estimatedCostUsd) * calls
      const next = costBasis === "supplied" ? undefined : prices.price(callOf(group))
      const cost = next === undefined ? recorded : nanoUsd(next.costUsd) * calls
      const key = JSON.stringify([model, provider])
      const known = models.get(key) ?? {
        name: { ...(model !== undefined && { model }), ...(provider !== undefined && { provider }) },
        sums: noSums()
      }
      models.set(key, known)
      // The newest calls come first.
      if (next?.key !== undefined) known.key ??= next.key
      for (const sums of [all, known.sums]) {
        sums.calls += calls
        sums.recorded += recorded
        sums.recordedGuess += costBasis === "fallback" ? recorded : 0
        sums.cost += cost
        sums.guess += next?.basis === "fallback" ? cost : 0
      }
    },
    result: () => ({
      ...usdOf(all),
      callsWithoutUsage,
      models: [...models.values()]
        .toSorted((left, right) => weightOf(right.sums) - weightOf(left.sums))
        .map(({ key, name, sums }) => ({ ...name, ...(key !== undefined && { priceKey: key }), ...usdOf(sums) }))
    })
  }
}

const callOf = (group: RecordedCallGroup) => ({
  model: group.model,
  provider: group.provider,
  at: Date.parse(group.at),
  usage: {
    input: group.promptTokens,
    output: group.totalTokens - group.promptTokens,
    cacheRead: group.cachedTokens,
    cacheWrite: group.cacheWriteTokens,
    reasoning: group.reasoningTokens,
    batch: group.batch
  }
})

const weightOf = ({ cost, recorded }: Sums): number => Math.max(cost, recorded)

const usdOf = ({ calls, cost, guess, recorded, recordedGuess }: Sums): RepricedSums => ({
  calls,
  recordedUsd: usdOfNano(recorded),
  recordedGuessUsd: usdOfNano(recordedGuess),
  costUsd: usdOfNano(cost),
  guessedCostUsd: usdOfNano(guess),
  differenceUsd: usdOfNano(cost - recorded)
})
