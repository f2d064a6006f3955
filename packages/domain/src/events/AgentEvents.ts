import * as Schema from "effect/Schema"
import { numberAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { eventType } from "./EventType.ts"
import { inData, inPayload, member, textOr, wholePayload } from "./Members.ts"
import { messageHeader } from "./MessageHeader.ts"
import { ShadowUsage, shadowUsageIn } from "./ShadowFact.ts"

/** An agent broadcast a message outside the session's history. From a Signal; the subject is its message. */
export const SignalEmitted = eventType("signal.emitted", {
  ...messageHeader,
  /** The sender's own name for it. */
  signalType: inPayload.text("signal_type"),
  severity: inPayload.text(),
  /** 0 to 1. */
  confidence: inPayload.number(),
  payload: wholePayload
})

/** A participant acknowledged a signal. From a SignalAck or SignalAcknowledged; the subject is the signal. */
export const SignalAcknowledged = eventType("signal.acknowledged", {
  ...messageHeader,
  signalId: member(Schema.String, ({ payload, subjectId }) =>
    subjectId === "" ? (textAt(payload, "signalId", "signal_id") ?? "") : subjectId
  )
})

const tool = {
  ...messageHeader,
  toolCallId: member(Schema.String, ({ subjectId }) => subjectId),
  payload: wholePayload
}

/** An agent calls a tool. From ToolCall and ToolRequest, in any case; the subject is the call. */
export const ToolCalled = eventType("tool.called", tool)

/** A tool answered. From ToolResult, ToolCompleted and ToolOutput, in any case; the subject is the call. */
export const ToolCompleted = eventType("tool.completed", tool)

/**
 * The progress of a participant. From a Progress (the subject is the participant), and beside `proposal.updated` from
 * TaskUpdate, TaskComplete and TaskFail (the subject is the message).
 */
export const ProgressReported = eventType("progress.reported", {
  ...messageHeader,
  /** 0 to 100. */
  percentage: inPayload.number(),
  /** May be empty. */
  message: textOr(inPayload.text(), ""),
  progressToken: inPayload.text(),
  /** The total amount, when the sender counts something. */
  total: inPayload.number(),
  /** Message whose work is reported on. */
  targetMessageId: inPayload.text()
})

const tokensAt = (payload: JsonObject, name: string) => numberAt(payload, name) ?? 0

const tokens = member(Schema.Number, ({ payload }, name) => tokensAt(payload, name))

/**
 * An agent reports a call of a language model, in a message of any type; a message that lists several calls has an
 * event for each. Model, tokens and cost are recorded as understood on reception, with the price, so that later readers
 * need no price table. The subject is the message.
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
  /** Part of `promptTokens` that was read from a cache. */
  cachedTokens: inPayload.number(),
  /** Part of `promptTokens` that was written to a cache. */
  cacheWriteTokens: inPayload.number(),
  /** Part of `completionTokens`. */
  reasoningTokens: inPayload.number(),
  /** "missing" when the agent stated no count: the counts are 0 then, without a meaning. */
  usage: inPayload.text(),
  /** False when the call failed without an answer: it is not one without usage then. */
  answered: inPayload.flag(),
  /** Number of calls in the event; more than 1 only for calls beyond the bound of a message. */
  calls: member(Schema.Number, ({ payload }) => numberAt(payload, "calls") ?? 1),
  /** Duration of the call, milliseconds. */
  latencyMs: inPayload.number(),
  /** US dollars: as stated, else by the rate of the model; absent when neither is known. */
  estimatedCostUsd: inPayload.number(),
  /** US dollars that a span stated beyond the bound of one call: shown, and not part of any cost. */
  uncountedCostUsd: inData.number(),
  /** Hash of the system instructions of a span, or the one that it states. */
  promptHash: inData.text(),
  /** Basis of the cost: one of `costBases`. A `fallback` is a guess. */
  costBasis: inPayload.text(),
  /** Entry of the price list behind the cost. */
  priceKey: inPayload.text(),
  /** Why the price of the entry is a guess: one of `priceDoubts`. */
  costDoubt: inPayload.text(),
  /** Artifact that holds prompt or response. */
  artifactId: inPayload.text(),
  /** "a2a" when an agent stated it in its answer to a turn; absent otherwise. */
  usageSource: inData.text(),
  /** What a shadow used: the event itself stands for no call, and has no tokens and no cost then. */
  shadow: member(Schema.UndefinedOr(ShadowUsage), ({ data }) => shadowUsageIn(data))
})
