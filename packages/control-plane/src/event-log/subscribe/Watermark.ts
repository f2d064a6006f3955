import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { shareRead } from "../../platform/postgres/SharedRead.ts"

/**
 * The seq up to which no event can appear any more (docs/reference/events.md#watermark). Seqs are allocated before
 * their transactions commit, and those may commit in another order: a reader across runs that continues from the last
 * seq reads up to the watermark only. It depends on appends to this log, and on nothing else on the server.
 */
export class Watermark extends Context.Service<
  Watermark,
  {
    /** The current watermark. In a quiet log every commit before the call is at or below it. */
    readonly now: Effect.Effect<number, SqlError>
    /** The watermark of the last `now`; costs nothing. It never goes back. */
    readonly known: Effect.Effect<number>
    /** The last allocated seq, or an earlier one: no event has a greater seq than the second of two reads. */
    readonly lastPlace: Effect.Effect<number, SqlError>
  }
>()("runplane/control-plane/Watermark") {
  static readonly layer = Layer.effect(
    Watermark,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      let known = 0
      const read = Effect.map(sql<{ readonly seq: bigint }>`SELECT event_watermark() AS seq`, ([row]) => {
        known = Number(row?.seq ?? 0)
        return known
      })
      const readLast = Effect.map(
        sql<{ readonly seq: bigint }>`SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS seq FROM event_seq`,
        ([row]) => Number(row?.seq ?? 0)
      )
      return Watermark.of({
        now: yield* shareRead(read),
        known: Effect.sync(() => known),
        lastPlace: yield* shareRead(readLast)
      })
    })
  )
}
