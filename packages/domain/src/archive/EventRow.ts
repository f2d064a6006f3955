import * as Result from "effect/Result"
import type { CanonicalEvent } from "../events/CanonicalEvent.ts"
import { decodeEventText } from "../events/CanonicalEvent.ts"
import type { ColdEvent } from "./Tables.ts"

/** An event as the log stores it; `ts` in milliseconds, `text` exactly as it is served. */
export interface LoggedEvent {
  readonly seq: number
  readonly runId: string
  readonly index: number
  readonly ts: number
  readonly type: string
  readonly text: string
  /** The seed of its salts, or a JSON object of those that remain; null in version 1 of the chain. */
  readonly salts: string | null
}

/**
 * The row of an event. Columns that are derived from the text are null where the text does not have them, or where this
 * version cannot read it: `event` has all of it.
 */
export const eventRow = (cell: string, { index, runId, salts, seq, text, ts, type }: LoggedEvent): ColdEvent => {
  const event = Result.getOrUndefined(decodeEventText(text))
  const call = event?.type === "llm.call.completed" ? event.data : undefined
  const decision = event?.type === "decision.finalized" ? event.data : undefined
  return {
    cell,
    seq,
    run_id: runId,
    index,
    ts,
    type,
    subject_kind: event?.subject?.kind ?? null,
    subject_id: event?.subject?.id ?? null,
    source_kind: event?.source?.kind ?? null,
    source_name: event?.source?.name ?? null,
    sender: (event && senderOf(event)) ?? null,
    model: call?.model ?? null,
    provider: call?.provider ?? null,
    calls: call === undefined ? null : int32(call.calls),
    prompt_tokens: call?.promptTokens ?? null,
    completion_tokens: call?.completionTokens ?? null,
    total_tokens: call?.totalTokens ?? null,
    cost_usd: call?.estimatedCostUsd ?? null,
    cost_basis: call?.costBasis ?? null,
    latency_ms: call?.latencyMs ?? null,
    action: decision?.action ?? null,
    positive: decision?.outcomePositive ?? null,
    event: text,
    salts
  }
}

const senderOf = (event: CanonicalEvent): string | undefined => {
  if (event.type === "unknown") return undefined
  const { data } = event
  return "sender" in data && typeof data.sender === "string" && data.sender !== "" ? data.sender : undefined
}

/** Counts beyond 32 bits are senders' nonsense: the column has null then. */
const int32 = (value: number): number | null => (Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : null)
