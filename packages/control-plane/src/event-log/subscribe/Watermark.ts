import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { shareRead } from "../../platform/postgres/SharedRead.ts"

/**
 * The place in the log up to which nothing can appear any more (docs/reference/events.md#watermark). Seqs are given out
 * before their transactions commit, and those may commit in another order: who reads across runs and wants to go on
 * from the last seq reads up to the watermark only. It waits for appends to this log, for nothing else on the server.
 */
export class Watermark extends Context.Service<
  Watermark,
  {
    /** Where it stands now, or later: everything that was committed before the question is below it, in a quiet log. */
    readonly now: Effect.Effect<number, SqlError>
    /** Where it stood when somebody asked the last time; costs nothing. It never goes back. */
    readonly known: Effect.Effect<number>
    /** The last place that was given out, or one before: no event has a greater seq than the second of two reads. */
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
