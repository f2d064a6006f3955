import { type CanonicalEvent, isJsonObject, OTLP_RUNTIME_KIND, objectAt, textAt } from "@runplane/domain"
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

/** The text of an event that an agent wrote; undefined for events without one. */
export const saidIn = ({ data, index }: JsonEvent): Said | undefined => {
  const payload = objectAt(data, "decodedPayload", "payload") ?? {}
  const text = textOf(payload) || textOf(data)
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

/** An event in short: its position, who did what, and what an agent wrote beside it. */
export const eventItem = ({ recorded }: CanonicalEvent, withRun: boolean): Item => {
  const { data, index, runId, seq, ts, type } = recorded
  const text = saidIn(recorded)
  return {
    row: defined({
      index,
      seq,
      at: ts,
      type,
      ...(withRun && { runId }),
      by: textAt(data, "sender", "participantId"),
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
 * Events of the story of a run: without receipts, progress, and what other events repeat. The work of telemetry is in
 * its messages, and a session's messages have events of their own.
 */
export const storyTypes = (runtimeKind: string): ReadonlyArray<string> => [
  ...DECISION_TYPES,
  ...["run.created", "llm.call.completed", "tool.called", "tool.completed"],
  ...(runtimeKind === OTLP_RUNTIME_KIND ? ["message.received"] : [])
]
