import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"

/**
 * The position in the log up to which nearly all events are older than a time (Unix milliseconds): times of different
 * runs interleave by less than the duration of a transaction. A binary search by the primary key finds it, because the
 * index of times is a BRIN, which reads every later event.
 */
export const makeSeqAt = Effect.map(PgClient.PgClient, (sql) =>
  Effect.fnUntraced(function* (time: number) {
    const [ends] = yield* sql<{ readonly low: bigint | null; readonly high: bigint | null }>`
      SELECT min(seq) AS low, max(seq) AS high FROM canonical_events`
    let low = Number(ends?.low ?? 1) - 1
    let high = Number(ends?.high ?? 0)
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const [next] = yield* sql<{ readonly seq: bigint; readonly ts: Date }>`
        SELECT seq, ts FROM canonical_events WHERE seq > ${BigInt(middle)} ORDER BY seq LIMIT 1`
      if (next === undefined || next.ts.getTime() >= time) high = middle
      else low = Number(next.seq)
    }
    return low
  })
)
