import * as Schema from "effect/Schema"
import { numberAt, textAt } from "../JsonReader.ts"
import { eventType, maybeNumber, maybeText } from "./EventType.ts"
import { messageHeader, payloadOf, readHeader } from "./MessageHeader.ts"

/**
 * An agent says that it called a language model, in whatever message it put that; at most one a message. Model, tokens
 * and cost are recorded as they were understood on reception, the cost priced, so that no later reader needs the price
 * table. The subject is the message.
 */
export const LlmCallCompleted = eventType(
  "llm.call.completed",
  {
    ...messageHeader,
    model: maybeText,
    provider: maybeText,
    promptTokens: Schema.Number,
    completionTokens: Schema.Number,
    totalTokens: Schema.Number,
    /** Duration of the call, milliseconds. */
    latencyMs: maybeNumber,
    /** US dollars: as stated, else by the rate of the model. */
    estimatedCostUsd: maybeNumber,
    /** Artifact that holds prompt or response. */
    artifactId: maybeText
  },
  (json, subjectId) => {
    const header = readHeader(json)
    const payload = payloadOf(json)
    const promptTokens = numberAt(payload, "promptTokens") ?? 0
    const completionTokens = numberAt(payload, "completionTokens") ?? 0
    return {
      ...header,
      messageId: header.messageId === "" ? subjectId : header.messageId,
      model: textAt(payload, "model"),
      provider: textAt(payload, "provider"),
      promptTokens,
      completionTokens,
      totalTokens: numberAt(payload, "totalTokens") ?? promptTokens + completionTokens,
      latencyMs: numberAt(payload, "latencyMs"),
      estimatedCostUsd: numberAt(payload, "estimatedCostUsd"),
      artifactId: textAt(payload, "artifactId")
    }
  }
)
