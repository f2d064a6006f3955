import type { EventData } from "../events/CanonicalEvent.ts"
import { lacksUsage } from "../projector/UsageSums.ts"
import { boundName } from "../values/Bounds.ts"
import { sumUsd } from "../values/Money.ts"

/** Models, and prompts, of one participant that are kept, the first ones. */
const MAX_NAMES = 8

/** What a participant spent on language models. */
export interface Spending {
  readonly participantId: string
  readonly calls: number
  readonly totalTokens: number
  readonly costUsd: number
  /** Part of `costUsd` that is a guess; absent when there is none. */
  readonly guessedCostUsd?: number
  /** Calls that the participant stated no count for; absent when there are none. */
  readonly callsWithoutUsage?: number
}

/** Adds the model of a call to those of its participant, or the hash of its prompt. */
export const noteName = (names: Map<string, ReadonlyArray<string>>, sender: string, name: string | undefined): void => {
  if (name === undefined || name === "") return
  const bound = boundName(name)
  const known = names.get(sender) ?? []
  if (known.length < MAX_NAMES && !known.includes(bound)) names.set(sender, [...known, bound])
}

/** Adds a call to what its participant spent. The call of a shadow counts in no sum of the run, and here as stated. */
export const spend = (spending: Map<string, Spending>, usage: EventData<"llm.call.completed">): void => {
  const { costBasis, sender } = usage
  const { calls, estimatedCostUsd = 0, totalTokens } = usage.shadow ?? usage
  const so = spending.get(sender)
  const callsWithoutUsage = (so?.callsWithoutUsage ?? 0) + (lacksUsage(usage) ? calls : 0)
  const guessedCostUsd = sumUsd([so?.guessedCostUsd ?? 0, costBasis === "fallback" ? estimatedCostUsd : 0])
  spending.set(sender, {
    participantId: sender,
    calls: (so?.calls ?? 0) + calls,
    totalTokens: (so?.totalTokens ?? 0) + totalTokens,
    costUsd: sumUsd([so?.costUsd ?? 0, estimatedCostUsd]),
    ...(guessedCostUsd > 0 && { guessedCostUsd }),
    ...(callsWithoutUsage > 0 && { callsWithoutUsage })
  })
}
