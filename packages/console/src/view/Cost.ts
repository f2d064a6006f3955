import { type CanonicalEvent, sumUsd } from "@runplane/domain"

/** A call of a language model, as an agent reported it. */
export interface Call {
  readonly index: number
  readonly at: number
  readonly who: string
  readonly model: string
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  /** Calls of it without any count: 1 when the agent stated none, else 0. The counts are 0 then. */
  readonly callsWithoutUsage: number
  readonly costUsd: number | undefined
  readonly latencyMs: number | undefined
}

export interface Spender {
  readonly who: string
  readonly calls: number
  /** Of these, the calls without counts. */
  readonly callsWithoutUsage: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  readonly costUsd: number
}

/** All calls of the events, in order: every one counts, also those that the state does not list any more. */
export const callsOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<Call> => {
  const calls: Array<Call> = []
  for (const event of events) {
    if (event.type !== "llm.call.completed") continue
    const { calls: count, completionTokens, estimatedCostUsd, latencyMs, model, promptTokens, ...said } = event.data
    calls.push({
      index: event.index,
      at: Date.parse(event.ts),
      who: said.sender,
      model: model ?? "",
      promptTokens,
      completionTokens,
      totalTokens: said.totalTokens,
      callsWithoutUsage: said.usage === "missing" ? count : 0,
      costUsd: estimatedCostUsd,
      latencyMs
    })
  }
  return calls
}

/** What each participant spent, the dearest first. */
export const spendersOf = (calls: ReadonlyArray<Call>): ReadonlyArray<Spender> => {
  const spenders = new Map<string, Spender>()
  for (const { callsWithoutUsage, completionTokens, costUsd = 0, promptTokens, totalTokens, who } of calls) {
    const before = spenders.get(who)
    spenders.set(who, {
      who,
      calls: (before?.calls ?? 0) + 1,
      callsWithoutUsage: (before?.callsWithoutUsage ?? 0) + callsWithoutUsage,
      promptTokens: (before?.promptTokens ?? 0) + promptTokens,
      completionTokens: (before?.completionTokens ?? 0) + completionTokens,
      totalTokens: (before?.totalTokens ?? 0) + totalTokens,
      costUsd: sumUsd([before?.costUsd ?? 0, costUsd])
    })
  }
  return [...spenders.values()].toSorted((one, other) => other.costUsd - one.costUsd || other.calls - one.calls)
}
