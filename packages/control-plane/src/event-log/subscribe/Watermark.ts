import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { shareRead } from "../../platform/postgres/SharedRead.ts"

/**
 * The seq up to which the log is complete (docs/reference/events.md#watermark). Seqs are allocated before their
 * transactions commit, and the commits may come in another order, so a reader that continues from the last seq across
 * runs reads up to the watermark only. It waits for open appends to this log, and not for other transactions.
 */
export class Watermark extends Context.Service<
  Watermark,
  {
    /** The current watermark. Without open appends, it is at or above every event committed before the read. */
    readonly now: Effect.Effect<number, SqlError>
    /** The watermark of the last read, without a read of the database. */
    readonly known: Effect.Effect<number>
    /** The last allocated seq. A shared read may be older: no event has a greater seq than the second of two reads. */
    readonly lastSeq: Effect.Effect<number, SqlError>
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
        lastSeq: yield* shareRead(readLast)
      })
    })
  )
}
