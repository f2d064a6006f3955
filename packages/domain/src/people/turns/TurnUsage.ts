import * as Schema from "effect/Schema"
import { consistentCounts, MAX_TOKENS_PER_CALL, type TokenCounts } from "../../usage/TokenCounts.ts"
import { textAt } from "../../values/JsonReader.ts"
import type { JsonObject } from "../../values/PayloadDecoder.ts"
import type { RemoteReply } from "./RemoteTask.ts"

const optional = Schema.optionalKey
const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 * MAX_TOKENS_PER_CALL }))

/** The form of names of models and providers; anything else could be a text for readers. */
const NAME = /^[\w./:@+-]{1,128}$/
const name = Schema.String.check(Schema.isPattern(NAME))

/** What an agent states that a task of a turn has used. */
export const TurnUsage = Schema.Struct({
  model: optional(name),
  provider: optional(name),
  promptTokens: count,
  completionTokens: count,
  totalTokens: count,
  cachedTokens: optional(count),
  cacheWriteTokens: optional(count),
  reasoningTokens: optional(count)
})
export type TurnUsage = typeof TurnUsage.Type

const PREFIX = "gen_ai.usage."
const INPUT = ["input_tokens", "prompt_tokens"]
const OUTPUT = ["output_tokens", "completion_tokens"]
const TOTAL = ["total_tokens"]
const CACHED = ["cache_read.input_tokens", "cache_read_input_tokens"]
const WRITTEN = ["cache_creation.input_tokens", "cache_creation_input_tokens"]
const REASONING = ["reasoning.output_tokens", "reasoning_tokens"]

/**
 * The usage that an answer states in the metadata of its task, its message or its artifacts, by the names of
 * OpenTelemetry (`gen_ai.usage.input_tokens`): that of the first of them with a count above 0, as the others can repeat
 * it. Undefined without such a count. A count that is not a whole number within the bounds is left out.
 */
export const usageOfReply = ({ message, task }: RemoteReply): TurnUsage | undefined => {
  const stated = [
    task?.metadata,
    message?.metadata,
    task?.status?.message?.metadata,
    ...(task?.artifacts ?? []).map(({ metadata }) => metadata)
  ]
  for (const metadata of stated) {
    const counts = metadata && countsIn(metadata)
    if (metadata === undefined || counts === undefined) continue
    const model = nameAt(metadata, "gen_ai.response.model", "gen_ai.request.model")
    const provider = nameAt(metadata, "gen_ai.provider.name", "gen_ai.system")
    return { ...(model !== undefined && { model }), ...(provider !== undefined && { provider }), ...counts }
  }
  return undefined
}

const countsIn = (metadata: JsonObject): TokenCounts | undefined => {
  const at = (names: ReadonlyArray<string>): number => {
    for (const one of names) {
      const tokens = metadata[`${PREFIX}${one}`]
      if (isCount(tokens)) return tokens
    }
    return 0
  }
  return consistentCounts({
    ...{ promptTokens: at(INPUT), completionTokens: at(OUTPUT), totalTokens: at(TOTAL) },
    ...{ cachedTokens: at(CACHED), cacheWriteTokens: at(WRITTEN), reasoningTokens: at(REASONING) }
  })
}

const isCount = (value: Schema.Json | undefined): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS_PER_CALL

const nameAt = (metadata: JsonObject, ...names: ReadonlyArray<string>): string | undefined => {
  const text = textAt(metadata, ...names)
  return text !== undefined && NAME.test(text) ? text : undefined
}
