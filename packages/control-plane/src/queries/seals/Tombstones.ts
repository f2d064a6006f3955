import * as PgClient from "@effect/sql-pg/PgClient"
import type { TombstonePage, TombstonesQuery } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { type TombstoneRow, tombstoneColumns, toTombstone } from "../../event-log/runs/TombstoneRow.ts"
import { cursorOf, isPlaceValue, placeOf, UnknownCursor } from "../../platform/postgres/search/PageCursor.ts"

const ORDER = "tombstones desc"

/** What stays of deleted runs, the latest first (docs/reference/seal.md#tombstones). Nothing deletes them. */
export class Tombstones extends Context.Service<
  Tombstones,
  { readonly list: (query: TombstonesQuery) => Effect.Effect<TombstonePage, SqlError | UnknownCursor> }
>()("runplane/control-plane/Tombstones") {
  static readonly layer = Layer.effect(
    Tombstones,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const list = Effect.fn("Tombstones.list")(function* ({ cursor, limit, runId }: TombstonesQuery) {
        const after = cursor === undefined ? undefined : placeOf(ORDER, cursor)
        if (cursor !== undefined && (after === undefined || !isPlaceValue.bigint(after.id))) {
          return yield* new UnknownCursor()
        }
        const where = sql.and([
          sql`true`,
          ...(runId === undefined ? [] : [sql`run_id = ${runId}::uuid`]),
          ...(after === undefined ? [] : [sql`id < ${BigInt(after.id)}`])
        ])
        const rows = yield* sql<TombstoneRow>`
          SELECT ${tombstoneColumns(sql)} FROM run_tombstones WHERE ${where} ORDER BY run_tombstones.id DESC LIMIT ${BigInt(limit)}`
        const last = rows.at(-1)
        return {
          data: rows.map(toTombstone),
          limit,
          ...(last !== undefined &&
            rows.length === limit && { nextCursor: cursorOf(ORDER, { value: "", id: last.id }) })
        }
      })
      return Tombstones.of({ list })
    })
  )
}
