import * as PgClient from "@effect/sql-pg/PgClient"
import type { KnownEvent } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { Reactor } from "../../event-log/append/Reactors.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"

/**
 * Longest participant id that is tallied, in characters: more than an index of the database could hold. Longer ones are
 * cut.
 */
export const MAX_PARTICIPANT_ID = 512

/** The rows that the events of one transaction add (docs/reference/events.md#tallies). */
export interface EventTally {
  readonly keyEvents: Array<KeyEventRow>
  /** By `runId participantId`. */
  readonly participants: Map<string, ParticipantRow>
}

/** A signal or decision. */
interface KeyEventRow {
  readonly run_id: string
  readonly seq: number
  readonly ts: string
  readonly type: string
  /** Outcome of a decision, where it has one. */
  readonly positive: boolean | null
}

interface ParticipantRow {
  readonly run_id: string
  readonly participant_id: string
  messages: number
  signals: number
  /** Confidence of its signals. */
  confidence_sum: number
  confidence_count: number
  /** Confidence of its evaluations and votes. */
  stated_sum: number
  stated_count: number
}

export const emptyTally = (): EventTally => ({ keyEvents: [], participants: new Map() })

/** Keeps the tallies as the log is written. */
export const makeEventTallies = Effect.map(PgClient.PgClient, (sql): Reactor => {
  const insertKeyEvents = ({ keyEvents }: EventTally) => sql`
    INSERT INTO key_events (run_id, seq, ts, type, positive)
    ${unnestRows(sql, keyEvents, { run_id: "uuid", seq: "bigint", ts: "timestamptz", type: "text", positive: "bool" })}`

  const addParticipants = ({ participants }: EventTally) => sql`
    INSERT INTO run_participants AS known (run_id, participant_id, messages, signals, confidence_sum, confidence_count,
      stated_sum, stated_count)
    ${unnestRows(sql, [...participants.values()], {
      run_id: "uuid",
      participant_id: "text",
      messages: "int",
      signals: "int",
      confidence_sum: "float8",
      confidence_count: "int",
      stated_sum: "float8",
      stated_count: "int"
    })}
    ON CONFLICT (run_id, participant_id) DO UPDATE
    SET messages = known.messages + excluded.messages, signals = known.signals + excluded.signals,
        confidence_sum = known.confidence_sum + excluded.confidence_sum,
        confidence_count = known.confidence_count + excluded.confidence_count,
        stated_sum = known.stated_sum + excluded.stated_sum,
        stated_count = known.stated_count + excluded.stated_count`

  return {
    inTransaction: (appends) => {
      const tallied = emptyTally()
      for (const { events } of appends) for (const event of events) tally(tallied, event)
      return [
        ...(tallied.keyEvents.length > 0 ? [insertKeyEvents(tallied)] : []),
        ...(tallied.participants.size > 0 ? [addParticipants(tallied)] : [])
      ]
    }
  }
})

/** Adds one event: on the path of every append, so it does no more than it must. */
export const tally = (into: EventTally, event: KnownEvent): void => {
  if (event.type === "signal.emitted") into.keyEvents.push(keyEvent(event, null))
  else if (event.type === "decision.finalized") into.keyEvents.push(keyEvent(event, event.data.outcomePositive ?? null))
  const participantId = participantOf(event)
  if (participantId === undefined) return
  const row = rowFor(into, event.runId, participantId.slice(0, MAX_PARTICIPANT_ID))
  if (event.type === "message.received") row.messages += 1
  if (event.type === "proposal.updated" && STATING.has(event.data.messageType)) {
    const { confidence: stated = Number.NaN } = event.data
    if (stated >= 0 && stated <= 1) {
      row.stated_count += 1
      row.stated_sum += stated
    }
  }
  if (event.type !== "signal.emitted") return
  row.signals += 1
  const { confidence } = event.data
  if (confidence === undefined) return
  row.confidence_count += 1
  row.confidence_sum += confidence
}

const STATING: ReadonlySet<string> = new Set(["Evaluation", "Vote"])

const participantOf = ({ data, subject }: KnownEvent): string | undefined => {
  if ("sender" in data && data.sender !== "") return data.sender
  return subject?.kind === "participant" && subject.id !== "" ? subject.id : undefined
}

const keyEvent = ({ runId, seq, ts, type }: KnownEvent, positive: boolean | null): KeyEventRow => ({
  run_id: runId,
  seq,
  ts,
  type,
  positive
})

const rowFor = ({ participants }: EventTally, runId: string, participantId: string): ParticipantRow => {
  const key = `${runId} ${participantId}`
  const known = participants.get(key)
  if (known !== undefined) return known
  const counts = { messages: 0, signals: 0, confidence_sum: 0, confidence_count: 0, stated_sum: 0, stated_count: 0 }
  const row = { run_id: runId, participant_id: participantId, ...counts }
  participants.set(key, row)
  return row
}
