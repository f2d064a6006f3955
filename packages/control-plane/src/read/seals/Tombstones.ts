import * as PgClient from "@effect/sql-pg/PgClient"
import type { Tombstone, TombstonePage, TombstoneReason, TombstonesQuery } from "@runplane/api"
import { RunId, type RunStatus, Seal } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { cursorOf, isPlaceValue, placeOf } from "../../database/search/PageCursor.ts"
import { UnknownCursor } from "../../database/search/UnknownCursor.ts"

const ORDER = "tombstones desc"

/** What stays of deleted runs, the latest first (docs/seal.md#tombstones). Nothing deletes them. */
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
          SELECT id::text AS id, run_id::text AS run_id, status, events, reason, deleted_at, deleted_by, seal::text AS seal
          FROM run_tombstones WHERE ${where} ORDER BY run_tombstones.id DESC LIMIT ${BigInt(limit)}`
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

interface TombstoneRow {
  readonly id: string
  readonly run_id: string
  readonly status: RunStatus
  readonly events: number
  readonly reason: TombstoneReason
  readonly deleted_at: Date
  readonly deleted_by: string
  readonly seal: string | null
}

const decodeSeal = Schema.decodeUnknownSync(Schema.fromJsonString(Seal))

const toTombstone = (row: TombstoneRow): Tombstone => {
  const seal = row.seal === null ? null : decodeSeal(row.seal)
  return {
    runId: RunId.make(row.run_id),
    status: row.status,
    events: row.events,
    reason: row.reason,
    deletedAt: row.deleted_at.toISOString(),
    deletedBy: row.deleted_by,
    sealHead: seal?.head ?? null,
    seal
  }
}
