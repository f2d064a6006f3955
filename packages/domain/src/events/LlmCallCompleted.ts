import * as Schema from "effect/Schema"
import { numberAt, textAt } from "../JsonReader.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import { eventType } from "./EventType.ts"
import { inPayload, member } from "./Members.ts"
import { messageHeader } from "./MessageHeader.ts"

const tokensAt = (payload: JsonObject, name: string) => numberAt(payload, name) ?? 0

const tokens = member(Schema.Number, ({ payload }, name) => tokensAt(payload, name))

/**
 * An agent says that it called a language model, in whatever message it put that; at most one a message. Model, tokens
 * and cost are recorded as they were understood on reception, the cost priced, so that no later reader needs the price
 * table. The subject is the message.
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
  /** Duration of the call, milliseconds. */
  latencyMs: inPayload.number(),
  /** US dollars: as stated, else by the rate of the model. */
  estimatedCostUsd: inPayload.number(),
  /** Artifact that holds prompt or response. */
  artifactId: inPayload.text()
})
