import {
  type CanonicalEvent,
  isJsonObject,
  OTLP_RUNTIME_KIND,
  objectAt,
  sentenceOf,
  sentencePhrase,
  textAt
} from "@runplane/domain"
import { Words } from "./Facts.ts"
import { defined, type Item, type Json, type JsonObject, type Said } from "./Shape.ts"

/** Members of payloads that are texts of agents, the reasons first. */
const TEXT_KEYS = [
  ...["reason", "rationale", "message", "text", "content", "summary", "intent", "option", "recommendation"],
  ...["description", "error", "errorMessage", "input", "output"]
]

const textOf = (object: JsonObject): string =>
  TEXT_KEYS.flatMap((key) => {
    const text = textAt(object, key)
    return text === undefined ? [] : [`${key}: ${text}`]
  }).join("; ")

/** The text of an event that an agent wrote: the words of its sentence, else its texts with their names. */
const saidIn = ({ data, index }: JsonEvent, words: string | undefined): Said | undefined => {
  const payload = objectAt(data, "decodedPayload", "payload") ?? {}
  const text = words ?? (textOf(payload) || textOf(data))
  return text === "" ? undefined : { of: defined({ index, by: textAt(data, "sender", "participantId") }), text }
}

/** The members of an event as it was recorded. */
interface JsonEvent {
  readonly seq: number
  readonly index: number
  readonly ts: string
  readonly type: string
  readonly data: JsonObject
  readonly runId: string
}

const member = (data: JsonObject, ...keys: ReadonlyArray<string>): Json | undefined => {
  const payload = objectAt(data, "decodedPayload", "payload") ?? {}
  return keys.flatMap((key) => {
    const value = payload[key] ?? data[key]
    return value === undefined || value === null || isJsonObject(value) || Array.isArray(value) ? [] : [value]
  })[0]
}

/**
 * An event in short: its position, its sentence with the facts of it, and what an agent wrote beside it. `subject`
 * names the subject of an answer, where there are several.
 */
export const eventItem = (event: CanonicalEvent, withRun: boolean, subject: string | undefined): Item => {
  const { recorded } = event
  const { data, index, runId, seq, ts, type } = recorded
  const sentence = sentenceOf(event, subject)
  const text = saidIn(recorded, sentence?.words)
  return {
    row: defined({
      index,
      seq,
      at: ts,
      type,
      ...(withRun && { runId }),
      by: sentence?.by === "participant" ? sentence.who : textAt(data, "sender", "participantId"),
      act: textAt(data, "messageType", "signalType"),
      vote: member(data, "vote"),
      action: member(data, "action"),
      positive: member(data, "outcome_positive", "outcomePositive"),
      proposal: member(data, "proposalId", "proposal_id"),
      status: member(data, "status", "to"),
      model: member(data, "model"),
      tokens: member(data, "totalTokens"),
      costUsd: member(data, "estimatedCostUsd")
    }),
    // Texts of others in the sentence get an alias.
    does: sentence && new Words(sentencePhrase(sentence)),
    said: text === undefined ? [] : [withRun ? { ...text, of: { ...text.of, runId } } : text],
    cursor: seq
  }
}

/** Events that change what a decision can become. */
export const DECISION_TYPES = [
  ...["proposal.created", "proposal.updated", "decision.finalized", "policy.resolved", "policy.denied"],
  ...["policy.commitment.evaluated", "run.started", "run.suspended", "run.resumed"],
  ...["run.completed", "run.failed", "run.cancelled", "session.bound"]
]

/**
 * Events of the narrative of a run: without receipts, progress, and what other events repeat. The work of telemetry is
 * in its messages, and a session's messages have events of their own.
 */
export const narrativeTypes = (runtimeKind: string): ReadonlyArray<string> => [
  ...DECISION_TYPES,
  ...["run.created", "run.corrected", "llm.call.completed", "tool.called", "tool.completed"],
  ...(runtimeKind === OTLP_RUNTIME_KIND ? ["message.received"] : [])
]
