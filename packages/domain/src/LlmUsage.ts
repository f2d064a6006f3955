import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { isJsonObject, numberAt, objectAt, textAt } from "./JsonReader.ts"
import type { JsonObject } from "./PayloadDecoder.ts"
import { parseJsonObject, textOf } from "./PayloadTypes.ts"

/** Tokens that one call may claim; a larger count is taken for this many, so that sums stay exact integers. */
export const MAX_TOKENS_PER_CALL = 1_000_000_000
/** US dollars that one call may claim. */
export const MAX_COST_USD_PER_CALL = 1_000_000

/** What an agent said about one call of a language model. */
export interface LlmUsage {
  readonly model?: string
  readonly promptTokens: number
  readonly completionTokens: number
  /** The sum of both counts. */
  readonly totalTokens: number
  readonly latencyMs?: number
  readonly provider?: string
  readonly prompt?: Schema.Json
  readonly response?: Schema.Json
  /** US dollars, only as supplied by the agent. */
  readonly estimatedCostUsd?: number
  readonly artifactId?: string
}

/** Signal type under which the example agents report their calls. */
const LLM_SIGNAL_TYPE = "llm.call.completed"

/**
 * Finds the LLM usage in a decoded payload (docs/events.md#llm-usage). The places, in order: `llmCall`,
 * `metadata.llmCall`, `tokenUsage`, `metadata.tokenUsage`, and for a Signal of type `llm.call.completed` the JSON in
 * its `data`, then that JSON's `tokenUsage`. A place without tokens, model, prompt and response is passed over.
 */
export const extractLlmUsage = (messageType: string, payload: JsonObject): LlmUsage | undefined => {
  const metadata = objectAt(payload, "metadata")
  return (
    usageOf(llmCallOf(payload)) ??
    usageOf(metadata && llmCallOf(metadata)) ??
    usageOf(tokenUsageOf(payload)) ??
    usageOf(metadata && tokenUsageOf(metadata)) ??
    (messageType === "Signal" ? signalUsage(payload) : undefined)
  )
}

/**
 * The JSON object that a Signal carries in `data`: base64 when decoded from protobuf, text or an object when from JSON.
 */
export const signalDataOf = (payload: JsonObject): JsonObject | undefined => {
  const data = payload["data"]
  return isJsonObject(data) ? data : parseJsonObject(signalDataText(payload))
}

/** The text of the JSON object that `signalDataOf` parses; undefined where it parses none. */
export const signalDataText = (payload: JsonObject): string | undefined => {
  const data = payload["data"]
  if (typeof data !== "string" || data === "") return undefined
  if (data.startsWith("{")) return data
  const bytes = Base64.decode(data)
  return Result.isSuccess(bytes) ? textOf(bytes.success) : undefined
}

const llmCallOf = (object: JsonObject) => objectAt(object, "llmCall", "llm_call")

const tokenUsageOf = (object: JsonObject) => objectAt(object, "tokenUsage", "token_usage")

const signalUsage = (payload: JsonObject): LlmUsage | undefined => {
  if (textAt(payload, "signalType", "signal_type") !== LLM_SIGNAL_TYPE) return undefined
  const data = signalDataOf(payload)
  return data && (usageOf(data) ?? usageOf(tokenUsageOf(data)))
}

const usageOf = (candidate: JsonObject | undefined): LlmUsage | undefined => {
  if (candidate === undefined) return undefined
  const promptTokens = tokensAt(candidate, "promptTokens", "prompt_tokens")
  const completionTokens = tokensAt(candidate, "completionTokens", "completion_tokens")
  const totalTokens = promptTokens + completionTokens
  const model = textAt(candidate, "model")
  const prompt = contentAt(candidate, "prompt")
  const response = contentAt(candidate, "response")
  if (totalTokens === 0 && model === undefined && prompt === undefined && response === undefined) return undefined
  const latencyMs = numberAt(candidate, "latencyMs", "latency_ms")
  const provider = textAt(candidate, "provider")
  const cost = numberAt(candidate, "estimatedCostUsd", "estimated_cost_usd")
  const artifactId = textAt(candidate, "artifactId", "artifact_id")
  return {
    ...(model !== undefined && { model }),
    promptTokens,
    completionTokens,
    totalTokens,
    ...(latencyMs !== undefined && latencyMs >= 0 && { latencyMs }),
    ...(provider !== undefined && { provider }),
    ...(prompt !== undefined && { prompt }),
    ...(response !== undefined && { response }),
    ...(cost !== undefined && cost >= 0 && { estimatedCostUsd: Math.min(cost, MAX_COST_USD_PER_CALL) }),
    ...(artifactId !== undefined && { artifactId })
  }
}

const tokensAt = (candidate: JsonObject, ...keys: ReadonlyArray<string>): number =>
  Math.min(Math.max(Math.trunc(numberAt(candidate, ...keys) ?? 0), 0), MAX_TOKENS_PER_CALL)

const contentAt = (candidate: JsonObject, key: string): Schema.Json | undefined => {
  const value = candidate[key]
  return value === null || value === "" ? undefined : value
}
