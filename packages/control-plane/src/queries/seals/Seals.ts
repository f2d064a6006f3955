import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type Conflict,
  MAX_EARLIER_SEALS,
  type NotFound,
  type RunSalts,
  type RunSeal,
  runCannotBeSealed,
  runNotFound,
  runNotSealed,
  type SaltsQuery,
  type SealKeySet,
  type TombstonePage,
  type TombstonesQuery
} from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { EventRepository } from "../../event-log/EventRepository.ts"
import { RunStateReader } from "../../event-log/projection/RunStateReader.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { type TombstoneRow, tombstoneColumns, toTombstone } from "../../event-log/runs/TombstoneRow.ts"
import { PublishedKeys } from "../../event-log/seal/PublishedKeys.ts"
import { RunErasures } from "../../event-log/seal/RunErasures.ts"
import { RunSeals } from "../../event-log/seal/RunSeals.ts"
import { nextCursorOf, startOfPage } from "../../platform/http/ListPage.ts"
import { isPositionValue, type UnknownCursor } from "../../platform/postgres/search/PageCursor.ts"

const ORDER = "tombstones desc"

/** The permanent tombstones of deleted runs, the latest first (docs/reference/seal.md#tombstones). */
export class Tombstones extends Context.Service<
  Tombstones,
  { readonly list: (query: TombstonesQuery) => Effect.Effect<TombstonePage, SqlError | UnknownCursor> }
>()("runplane/control-plane/Tombstones") {
  static readonly layer = Layer.effect(
    Tombstones,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const list = Effect.fn("Tombstones.list")(function* ({ cursor, limit, runId }: TombstonesQuery) {
        const after = yield* startOfPage(ORDER, cursor, ({ id }) => isPositionValue.bigint(id))
        const where = sql.and([
          sql`true`,
          ...(runId === undefined ? [] : [sql`run_id = ${runId}::uuid`]),
          ...(after === undefined ? [] : [sql`id < ${BigInt(after.id)}`])
        ])
        const rows = yield* sql<TombstoneRow>`
          SELECT ${tombstoneColumns(sql)} FROM run_tombstones WHERE ${where} ORDER BY run_tombstones.id DESC LIMIT ${BigInt(limit)}`
        const nextCursor = nextCursorOf(ORDER, rows, limit, ({ id }) => ({ value: "", id }))
        return { data: rows.map(toTombstone), limit, ...(nextCursor !== undefined && { nextCursor }) }
      })
      return Tombstones.of({ list })
    })
  )
}

/** The seals of runs, and the keys to verify them (docs/reference/seal.md#seals, docs/reference/seal.md#keys). */
export class Seals extends Context.Service<
  Seals,
  {
    readonly of: (reference: string) => Effect.Effect<RunSeal, Conflict | NotFound | SqlError>
    /** The salts of the next events of a run, and its erasures. */
    readonly salts: (reference: string, query: SaltsQuery) => Effect.Effect<RunSalts, NotFound | SqlError>
    readonly keys: Effect.Effect<SealKeySet, SqlError>
  }
>()("runplane/control-plane/Seals") {
  static readonly layer = Layer.effect(
    Seals,
    Effect.gen(function* () {
      const runs = yield* RunRepository
      const seals = yield* RunSeals
      const published = yield* PublishedKeys
      const states = yield* RunStateReader
      const events = yield* EventRepository
      const runErasures = yield* RunErasures

      const salts = Effect.fn("Seals.salts")(function* (reference: string, { afterSeq, limit }: SaltsQuery) {
        const runId = yield* runs.resolve(reference)
        if (runId === undefined) return yield* runNotFound(reference)
        const slice = yield* events.salted(runId, afterSeq, limit)
        const erasures = yield* runErasures.appendix(runId)
        return {
          data: slice.events.flatMap(({ index, salts, seq }) => (salts === undefined ? [] : [{ seq, index, salts }])),
          erasures: erasures ?? null
        }
      })
      const sealOf = Effect.fn("Seals.of")(function* (reference: string) {
        const runId = yield* runs.resolve(reference)
        const seal = runId && (yield* seals.sealed(runId))
        if (runId === undefined || seal === undefined) return yield* runNotFound(reference)
        if (seal === "damaged") return yield* runCannotBeSealed(runId)
        if (seal === "open") {
          const head = yield* states.head(runId)
          return yield* head === undefined ? runNotFound(reference) : runNotSealed(runId, head.status)
        }
        return { ...seal, earlier: yield* seals.before(seal, MAX_EARLIER_SEALS) }
      })
      const keys = Effect.map(published.keys, (proven) => ({
        keys: proven.map(({ firstUsedAt, keyId, previous, previousSignature, publicKey, signature, since }) => ({
          kty: "OKP" as const,
          crv: "Ed25519" as const,
          alg: "EdDSA" as const,
          use: "sig" as const,
          kid: keyId,
          x: publicKey,
          firstUsedAt,
          statement: { previous, since, signature, previousSignature }
        }))
      }))
      return Seals.of({ of: sealOf, salts, keys })
    })
  )
}
