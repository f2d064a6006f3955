import * as PgClient from "@effect/sql-pg/PgClient"
import type { KnownEvent } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { Reactor } from "../../event-log/append/Reactors.ts"

/**
 * Longest participant id that is tallied, in characters: more than an index of the database could hold. Longer ones are
 * cut.
 */
export const MAX_PARTICIPANT_ID = 512

/**
 * The rows of `event_marks` and `run_participants` that the events of one transaction add, column by column, for the
 * overviews that must not read the log (docs/reference/events.md#tallies).
 */
export interface EventTally {
  readonly marks: {
    readonly runId: Array<string>
    readonly seq: Array<bigint>
    readonly ts: Array<string>
    readonly type: Array<string>
    /** Outcome of a decision as text, empty where there is none. */
    readonly positive: Array<string>
  }
  readonly participants: {
    readonly runId: Array<string>
    readonly participantId: Array<string>
    readonly messages: Array<number>
    readonly signals: Array<number>
    /** As texts: numbers of one array would have to be all whole or all fractions. */
    readonly confidenceSum: Array<string>
    readonly confidenceCount: Array<number>
  }
  /** Row of a run and participant, by `runId participantId`. */
  readonly rowOf: Map<string, number>
}

export const emptyTally = (): EventTally => ({
  marks: { runId: [], seq: [], ts: [], type: [], positive: [] },
  participants: { runId: [], participantId: [], messages: [], signals: [], confidenceSum: [], confidenceCount: [] },
  rowOf: new Map()
})

/** Keeps the tallies as the log is written. */
export const makeEventTallies = Effect.map(PgClient.PgClient, (sql): Reactor => {
  const insertMarks = ({ marks }: EventTally) => sql`
    INSERT INTO event_marks (run_id, seq, ts, type, positive)
    SELECT m.run_id, m.seq, m.ts, m.type, nullif(m.positive, '')::boolean
    FROM unnest(${marks.runId}::text[]::uuid[], ${marks.seq}::bigint[], ${marks.ts}::text[]::timestamptz[],
                ${marks.type}::text[], ${marks.positive}::text[]) AS m (run_id, seq, ts, type, positive)`

  const addParticipants = ({ participants }: EventTally) => sql`
    INSERT INTO run_participants AS known (run_id, participant_id, messages, signals, confidence_sum, confidence_count)
    SELECT * FROM unnest(${participants.runId}::text[]::uuid[], ${participants.participantId}::text[],
                         ${participants.messages}::int[], ${participants.signals}::int[],
                         ${participants.confidenceSum}::text[]::float8[], ${participants.confidenceCount}::int[])
    ON CONFLICT (run_id, participant_id) DO UPDATE
    SET messages = known.messages + excluded.messages, signals = known.signals + excluded.signals,
        confidence_sum = known.confidence_sum + excluded.confidence_sum,
        confidence_count = known.confidence_count + excluded.confidence_count`

  return {
    inTransaction: (appends) => {
      const tallied = emptyTally()
      for (const { events } of appends) for (const event of events) tally(tallied, event)
      return [
        ...(tallied.marks.runId.length > 0 ? [insertMarks(tallied)] : []),
        ...(tallied.rowOf.size > 0 ? [addParticipants(tallied)] : [])
      ]
    }
  }
})

/** Adds one event: on the path of every append, so it does no more than it must. */
export const tally = (into: EventTally, event: KnownEvent): void => {
  if (event.type === "signal.emitted") mark(into, event, "")
  else if (event.type === "decision.finalized") {
    mark(into, event, String(event.data.outcomePositive ?? ""))
  }
  const participantId = participantOf(event)
  if (participantId === undefined) return
  const { participants } = into
  const row = rowFor(into, event.runId, participantId.slice(0, MAX_PARTICIPANT_ID))
  if (event.type === "message.received") add(participants.messages, row)
  if (event.type !== "signal.emitted") return
  add(participants.signals, row)
  const { confidence } = event.data
  if (confidence === undefined) return
  add(participants.confidenceCount, row)
  participants.confidenceSum[row] = String(Number(participants.confidenceSum[row]) + confidence)
}

const participantOf = ({ data, subject }: KnownEvent): string | undefined => {
  if ("sender" in data && data.sender !== "") return data.sender
  return subject?.kind === "participant" && subject.id !== "" ? subject.id : undefined
}

const mark = ({ marks }: EventTally, event: KnownEvent, positive: string) => {
  marks.runId.push(event.runId)
  marks.seq.push(BigInt(event.seq))
  marks.ts.push(event.ts)
  marks.type.push(event.type)
  marks.positive.push(positive)
}

const rowFor = ({ participants, rowOf }: EventTally, runId: string, participantId: string): number => {
  const key = `${runId} ${participantId}`
  const known = rowOf.get(key)
  if (known !== undefined) return known
  const row = rowOf.size
  rowOf.set(key, row)
  participants.runId.push(runId)
  participants.participantId.push(participantId)
  participants.messages.push(0)
  participants.signals.push(0)
  participants.confidenceSum.push("0")
  participants.confidenceCount.push(0)
  return row
}

const add = (counts: Array<number>, row: number) => {
  counts[row] = (counts[row] ?? 0) + 1
}
