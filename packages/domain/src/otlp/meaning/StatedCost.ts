import type * as Schema from "effect/Schema"
import { isJsonObject } from "../../values/JsonReader.ts"
import { jsonOf, numberAt, numberOf } from "../AttributeValues.ts"
import type { Attributes } from "../Span.ts"

/** Names of the cost of a call that no row of the table has: `gen_ai.cost.total_cost`, `llm.response_cost`. */
const TOTAL = /(?:^|\.)(?:(?:total_?|response_?|call_?)?cost|cost\.total)(?:_?usd)?$/i
/** The costs of its two sides; those of cached tokens are a part of the input. */
const INPUT = /(?:^|\.)(?:(?:input|prompt)_?cost|cost\.(?:input|prompt))(?:_?usd)?$/i
const OUTPUT = /(?:^|\.)(?:(?:output|completion)_?cost|cost\.(?:output|completion))(?:_?usd)?$/i
/** Names of an object with the cost as its members. */
const DETAILS = /(?:^|[._])cost_?details$/i

/**
 * The cost of a call in US dollars as its span states it under any name, else the sum of its two sides. A stated 0 is
 * not a cost: emitters write it where they do not know the price (docs/reference/ingest.md#attributes).
 */
export const costIn = (attributes: Attributes): number | undefined =>
  known(numberAt(attributes, "cost")) ?? detailedCost(attributes) ?? namedCost(attributes)

const known = (costUsd: number | undefined): number | undefined => (costUsd === 0 ? undefined : costUsd)

const detailedCost = (attributes: Attributes): number | undefined => {
  for (const [name, value] of Object.entries(attributes)) {
    const details = DETAILS.test(name) ? jsonOf(value) : undefined
    if (!isJsonObject(details)) continue
    const found = known(numberOf(details["total"])) ?? sumOf(details["input"], details["output"])
    if (found !== undefined) return found
  }
  return undefined
}

const namedCost = (attributes: Attributes): number | undefined => {
  const entries = Object.entries(attributes)
  const first = (names: RegExp) =>
    entries.find(([name, value]) => names.test(name) && numberOf(value) !== undefined)?.[1]
  return known(numberOf(first(TOTAL))) ?? sumOf(first(INPUT), first(OUTPUT))
}

const sumOf = (input: Schema.Json | undefined, output: Schema.Json | undefined): number | undefined =>
  known((numberOf(input) ?? 0) + (numberOf(output) ?? 0))
