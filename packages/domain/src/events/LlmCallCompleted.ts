import * as Schema from "effect/Schema"
import { numberAt, textAt } from "../JsonReader.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import { eventType } from "./EventType.ts"
import { inPayload, member } from "./Members.ts"
import { messageHeader } from "./MessageHeader.ts"

const tokensAt = (payload: JsonObject, name: string) => numberAt(payload, name) ?? 0

const tokens = member(Schema.Number, ({ payload }, name) => tokensAt(payload, name))

/**
 * An agent says that it called a language model, in whatever message it put that; a message that lists several calls
 * has an event for each. Model, tokens and cost are recorded as they were understood on reception, the cost priced, so
 * that no later reader needs the price table. The subject is the message.
 */
export const LlmCallCompleted = eventType("llm.call.completed", {
  ...messageHeader,
  messageId: member(Schema.String, ({ data, subjectId }) => textAt(data, "messageId") ?? subjectId),
  model: inPayload.text(),
  provider: inPayload.text(),
  promptTokens: tokens,
  completionTokens: tokens,
  totalTokens: member(
    Schema.Number,
    ({ payload }) =>
      numberAt(payload, "totalTokens") ?? tokensAt(payload, "promptTokens") + tokensAt(payload, "completionTokens")
  ),
  /** Part of `promptTokens` that a cache gave. */
  cachedTokens: inPayload.number(),
  /** Part of `promptTokens` that was written to a cache. */
  cacheWriteTokens: inPayload.number(),
  /** Part of `completionTokens`. */
  reasoningTokens: inPayload.number(),
  /** "missing" when the agent stated no count: the counts are 0 then, and say nothing. */
  usage: inPayload.text(),
  /** Calls that the event stands for; more than 1 only for those that a message lists beyond the bound. */
  calls: member(Schema.Number, ({ payload }) => numberAt(payload, "calls") ?? 1),
  /** Duration of the call, milliseconds. */
  latencyMs: inPayload.number(),
  /** US dollars: as stated, else by the rate of the model; absent when neither is known. */
  estimatedCostUsd: inPayload.number(),
  /** Artifact that holds prompt or response. */
  artifactId: inPayload.text()
})
