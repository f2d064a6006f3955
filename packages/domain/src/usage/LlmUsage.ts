import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { parseJsonObject, textOf } from "../frames/PayloadTypes.ts"
import { tierOf } from "../prices/Rates.ts"
import { isJsonArray, isJsonObject, numberAt, objectAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { countsIn, isUsageName, type TokenCounts } from "./TokenCounts.ts"

/** US dollars that one call may claim. */
export const MAX_COST_USD_PER_CALL = 1_000_000
/** Calls of one message that become events of their own; one more event stands for the calls after them. */
export const MAX_CALLS_PER_MESSAGE = 100

/** What an agent said about one call of a language model. All counts are 0 where `usage` is "missing". */
export interface LlmUsage extends TokenCounts, CallMembers {
  /** Present when the agent stated no count, so that the call is not taken for a free one. */
  readonly usage?: "missing"
  /** Calls that this one stands for; 1 when absent. */
  readonly calls?: number
}

/** What may be said of a call beside its counts. */
interface CallMembers {
  readonly model?: string
  readonly latencyMs?: number
  readonly provider?: string
  readonly prompt?: Schema.Json
  readonly response?: Schema.Json
  /** US dollars, only as supplied by the agent. */
  readonly estimatedCostUsd?: number
  readonly artifactId?: string
  /** Whether the provider ran the call as part of a batch, at its price for batches. */
  readonly batch?: true
  /** Another service tier than the usual one, as the agent names it. */
  readonly serviceTier?: string
}

/** Signal type under which the example agents report their calls. */
const LLM_SIGNAL_TYPE = "llm.call.completed"

const NO_COUNTS: TokenCounts = { promptTokens: 0, completionTokens: 0, totalTokens: 0 }

/**
 * The calls of language models that a decoded payload reports (docs/reference/events.md#llm-usage), most often one. The
 * counts come from the first source that has some, the other members from that source and then from the later ones. A
 * call without any count has `usage` "missing".
 */
export const extractLlmUsage = (messageType: string, payload: JsonObject): ReadonlyArray<LlmUsage> => {
  const isCall = messageType === "Signal" && textAt(payload, "signalType", "signal_type") === LLM_SIGNAL_TYPE
  if (!isCall && !mayReport(payload)) return []
  const sources = sourcesOf(payload, isCall)
  const chosen = sources.find(hasCounts) ?? sources.find(saysCall)
  if (chosen === undefined) return isCall ? [{ ...NO_COUNTS, usage: "missing" }] : []
  const others = membersOf(sources.filter((source) => !source.isList && (hasCounts(source) || saysCall(source))))
  const { model, provider } = others
  // Cost and latency of a message are not those of each call in it.
  const common = chosen.isList
    ? { ...(model !== undefined && { model }), ...(provider !== undefined && { provider }) }
    : others
  return bounded(
    chosen.calls.filter((call) => call.counts !== undefined || isDescribed(call)).map((call) => usageOf(call, common))
  )
}

/**
 * The JSON that a Signal carries in `data`: base64 when decoded from protobuf, text or a value when from JSON. A list
 * is the object `{calls}`.
 */
export const signalDataOf = (payload: JsonObject): JsonObject | undefined => {
  const data = payload["data"]
  if (isJsonArray(data)) return { calls: data }
  return isJsonObject(data) ? data : parseJsonObject(signalDataText(payload))
}

/** The text of the JSON object that `signalDataOf` parses; undefined where it parses none. */
export const signalDataText = (payload: JsonObject): string | undefined => {
  const data = payload["data"]
  if (typeof data !== "string" || data === "") return undefined
  const bytes = isJsonStart(data) ? undefined : Base64.decode(data)
  const text = bytes === undefined ? data : Result.isSuccess(bytes) ? textOf(bytes.success) : undefined
  return text?.trimStart().startsWith("[") === true ? `{"calls":${text}}` : text
}

const isJsonStart = (text: string): boolean => text.startsWith("{") || text.startsWith("[")

/** Where a payload may report calls. */
interface UsageSource {
  readonly calls: ReadonlyArray<Call>
  readonly isList: boolean
  /** Whether a model, a prompt or a response alone makes a call of what is here. */
  readonly isOfCalls: boolean
}

/** A call as one object reports it. */
interface Call {
  readonly counts: TokenCounts | undefined
  readonly members: CallMembers
}

const hasCounts = ({ calls }: UsageSource): boolean => calls.some(({ counts }) => counts !== undefined)

const saysCall = ({ calls, isOfCalls }: UsageSource): boolean => isOfCalls && calls.some(isDescribed)

const isDescribed = ({ members: { model, prompt, response } }: Call): boolean =>
  model !== undefined || prompt !== undefined || response !== undefined

/** Names of the documented sources. */
const DOCUMENTED = [
  ["llmCall", "llm_call"],
  ["tokenUsage", "token_usage"]
] as const
/** Names of further sources, which may hold something else: only counts make a call there. */
const FURTHER = [
  ["usage", "usage"],
  ["usageMetadata", "usage_metadata"],
  ["responseMetadata", "response_metadata"],
  ["llmCalls", "llm_calls"],
  ["calls", "calls"]
] as const
/** Names under which a call may hold its counts. */
const NESTED = ["tokenUsage", "token_usage", "usage", "usageMetadata", "usage_metadata"] as const

const USAGE_KEYS: ReadonlySet<string> = new Set([...DOCUMENTED, ...FURTHER].flat())

/** Whether there may be a source; most messages have none, and their keys show that at little cost. */
const mayReport = (payload: JsonObject): boolean =>
  Object.keys(payload).some((key) => {
    if (USAGE_KEYS.has(key) || isUsageName(key)) return true
    const metadata = key === "metadata" ? payload[key] : undefined
    return isJsonObject(metadata) && Object.keys(metadata).some((inner) => USAGE_KEYS.has(inner) || isUsageName(inner))
  })

/** The sources in the order in which they are read. */
const sourcesOf = (payload: JsonObject, isCallSignal: boolean): ReadonlyArray<UsageSource> => {
  const data = isCallSignal ? signalDataOf(payload) : undefined
  return [
    ...sourcesUnder(payload, DOCUMENTED, true),
    ...(data === undefined
      ? []
      : [sourceOf(data, true), ...sourcesUnder(data, DOCUMENTED, true), ...sourcesUnder(data, FURTHER, true)]),
    ...sourcesUnder(payload, FURTHER, false),
    ...[payload, objectAt(payload, "metadata")].flatMap(flatSourceOf)
  ]
}

/** A message that states the counts among its own members. A total alone may be of something else. */
const flatSourceOf = (message: JsonObject | undefined): ReadonlyArray<UsageSource> => {
  const counts = message && countsIn(message)
  if (message === undefined || counts === undefined) return []
  if (counts.promptTokens === 0 && counts.completionTokens === 0) return []
  return [{ calls: [{ counts, members: readMembers(message) }], isList: false, isOfCalls: false }]
}

type Names = ReadonlyArray<readonly [camelCase: string, snakeCase: string]>

const sourcesUnder = (object: JsonObject, names: Names, isOfCalls: boolean): ReadonlyArray<UsageSource> => {
  const metadata = objectAt(object, "metadata")
  return names.flatMap(([camelCase, snakeCase]) =>
    [object, metadata].flatMap((holder) => {
      const value = holder?.[camelCase] ?? holder?.[snakeCase]
      return isJsonObject(value) || isJsonArray(value) ? sourceOf(value, isOfCalls) : []
    })
  )
}

const sourceOf = (value: JsonObject | Schema.JsonArray, isOfCalls: boolean): UsageSource =>
  isJsonArray(value)
    ? { calls: value.filter(isJsonObject).map(callOf), isList: true, isOfCalls }
    : { calls: [callOf(value)], isList: false, isOfCalls }

const callOf = (object: JsonObject): Call => {
  const holders = [object, ...NESTED.map((name) => objectAt(object, name)).filter((nested) => nested !== undefined)]
  let counts: TokenCounts | undefined
  for (const holder of holders) counts ??= countsIn(holder)
  return { counts, members: firstOf(holders.map(readMembers)) }
}

const membersOf = (sources: ReadonlyArray<UsageSource>): CallMembers =>
  firstOf(sources.flatMap(({ calls }) => calls.map(({ members }) => members)))

/** Each member as the first of them says it. */
const firstOf = (said: ReadonlyArray<CallMembers>): CallMembers => {
  let first: CallMembers = {}
  for (const members of said) first = { ...members, ...first }
  return first
}

const usageOf = ({ counts, members }: Call, common: CallMembers): LlmUsage => ({
  ...common,
  ...members,
  ...(counts ?? { ...NO_COUNTS, usage: "missing" })
})

const bounded = (calls: ReadonlyArray<LlmUsage>): ReadonlyArray<LlmUsage> =>
  calls.length <= MAX_CALLS_PER_MESSAGE
    ? calls
    : [
        ...calls.slice(0, MAX_CALLS_PER_MESSAGE),
        { ...NO_COUNTS, usage: "missing", calls: calls.length - MAX_CALLS_PER_MESSAGE }
      ]

const readMembers = (object: JsonObject): CallMembers => {
  const model = textAt(
    object,
    "model",
    "modelName",
    "model_name",
    "modelId",
    "model_id",
    "modelVersion",
    "model_version"
  )
  const prompt = contentAt(object, "prompt")
  const response = contentAt(object, "response")
  const latencyMs = numberAt(object, "latencyMs", "latency_ms")
  const provider = textAt(object, "provider")
  const cost = numberAt(object, "estimatedCostUsd", "estimated_cost_usd")
  const artifactId = textAt(object, "artifactId", "artifact_id")
  const tier = textAt(object, "serviceTier", "service_tier")
  return {
    ...(model !== undefined && { model }),
    ...(latencyMs !== undefined && latencyMs >= 0 && { latencyMs }),
    ...(provider !== undefined && { provider }),
    ...(prompt !== undefined && { prompt }),
    ...(response !== undefined && { response }),
    ...(cost !== undefined && cost >= 0 && { estimatedCostUsd: Math.min(cost, MAX_COST_USD_PER_CALL) }),
    ...(artifactId !== undefined && { artifactId }),
    ...(tier?.toLowerCase() === "batch" && { batch: true }),
    ...(isOwnTier(tier) && { serviceTier: tier.slice(0, MAX_TIER) })
  }
}

const MAX_TIER = 32

/** Whether a service tier has a price of its own; that of a batch is in `batch`. */
const isOwnTier = (tier: string | undefined): tier is string =>
  tier !== undefined &&
  tierOf({ input: 0, output: 0, serviceTier: tier }) !== undefined &&
  tier.toLowerCase() !== "batch"

const contentAt = (candidate: JsonObject, key: string): Schema.Json | undefined => {
  const value = candidate[key]
  return value === null || value === "" ? undefined : value
}
