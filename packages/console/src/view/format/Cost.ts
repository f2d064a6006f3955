import { addUsage, type CanonicalEvent, type EventOf, eventTime, noUsage, type UsageSums } from "@runplane/domain"

type CallData = EventOf<"llm.call.completed">["data"]

/** A call of a language model, as an agent reported it; `data.calls` calls beyond the bound of a message. */
export interface Call {
  readonly index: number
  /** Milliseconds of the epoch. */
  readonly at: number
  readonly data: CallData
}

/** A price that calls were charged by (docs/reference/prices.md#basis). */
export type ChargedPrice = Pick<CallData, "costBasis" | "priceKey">

/** What some calls used and cost. */
export interface Spending extends UsageSums {
  readonly key: string
  readonly calls: number
  /** Of the first call. */
  readonly first: CallData
  /** The prices of the calls, each once. */
  readonly prices: ReadonlyArray<ChargedPrice>
}

/** All calls of the events, in order: every one counts, also those that the state does not list any more. */
export const callsOf = (events: Iterable<CanonicalEvent>): ReadonlyArray<Call> => {
  const calls: Array<Call> = []
  for (const event of events) {
    if (event.type === "llm.call.completed") {
      calls.push({ index: event.index, at: Date.parse(eventTime(event)), data: event.data })
    }
  }
  return calls
}

/** Whether the cost of a call is a guess. */
export const isGuess = ({ costBasis }: { readonly costBasis?: string | undefined }): boolean => costBasis === "fallback"

/** What the calls of each key used and cost, the most expensive first. */
export const spendingBy = (calls: ReadonlyArray<Call>, keyOf: (call: CallData) => string): ReadonlyArray<Spending> => {
  const rows = new Map<string, Spending>()
  for (const { data } of calls) {
    const key = keyOf(data)
    const before = rows.get(key) ?? { ...noUsage, key, calls: 0, first: data, prices: [] }
    rows.set(key, {
      ...addUsage(before, data),
      key,
      calls: before.calls + data.calls,
      first: before.first,
      prices: withPrice(before.prices, data)
    })
  }
  return [...rows.values()].toSorted(
    (one, other) => other.estimatedCostUsd - one.estimatedCostUsd || other.totalTokens - one.totalTokens
  )
}

/** By participant. */
export const byParticipant = ({ sender }: CallData): string => sender

/** By model and provider. */
export const byModel = ({ model = "", provider = "" }: CallData): string => `${provider}\n${model}`

const withPrice = (
  prices: ReadonlyArray<ChargedPrice>,
  { costBasis, estimatedCostUsd, priceKey }: CallData
): ReadonlyArray<ChargedPrice> =>
  estimatedCostUsd === undefined || prices.some((price) => price.costBasis === costBasis && price.priceKey === priceKey)
    ? prices
    : [...prices, { costBasis, priceKey }]
