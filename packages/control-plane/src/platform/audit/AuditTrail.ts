import * as PgClient from "@effect/sql-pg/PgClient"
import type { Actor } from "@runplane/api"
import { describeSqlError } from "@runplane/database"
import type { Via } from "@runplane/server"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { insertPending, pendingEntry } from "../ledger/PendingEntries.ts"
import { SealKeys } from "../ledger/SealKeys.ts"
import { Metrics } from "../metrics/Metrics.ts"
import { batchedWrites } from "../postgres/Batched.ts"
import { unnestRows } from "../postgres/UnnestRows.ts"
import { type AuditRow, toAuditEntry } from "./AuditRow.ts"

/** The caller, with the `x-request-id` and the address of its request; both texts are empty outside of a request. */
export interface RecordedCaller {
  readonly actor: Pick<Actor, "actorId" | "actorType" | "name">
  readonly requestId: string
  readonly address: string
  /** The program that acts for the caller, for the details of entries. */
  readonly via?: Via | undefined
}

/** The same with its role. */
export interface Caller extends RecordedCaller {
  readonly actor: Actor
}

/**
 * The outcome of the action: done, accepted by another party that will do it, or refused: by the runtime, or by
 * this service because of the role of the caller. Other refusals of this service are not recorded.
 */
export type AuditOutcome = "succeeded" | "accepted" | "refused"

export interface AuditEntry {
  readonly caller: RecordedCaller
  readonly action: string
  readonly resource: string
  readonly resourceId: string
  /** `succeeded` by default; stored in the details. */
  readonly outcome?: AuditOutcome
  readonly details: Schema.JsonObject
  /** ISO-8601. */
  readonly at: string
}

/** Writes the audit log (docs/reference/admin.md#audit); inside a transaction the entry commits with it. */
export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    readonly record: (entry: AuditEntry) => Effect.Effect<void, SqlError>
    /**
     * For an action that is done and cannot be undone: an entry that cannot be written is logged and counted.
     */
    readonly recordDone: (entry: AuditEntry) => Effect.Effect<void>
  }
>()("runplane/control-plane/AuditTrail") {
  static readonly layer = Layer.effect(
    AuditTrail,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { sideEffectFailed } = yield* Metrics
      const random = yield* SecureRandom.SecureRandom
      const { current } = yield* SealKeys
      const insert = batchedWrites(
        sql,
        Effect.fnUntraced(function* (entries: ReadonlyArray<AuditEntry>) {
          const rows = yield* Effect.forEach(entries, (entry) => Effect.map(random.uuidV4(), (id) => rowOf(id, entry)))
          const pending = rows.map((row) => pendingEntry(current, "audit", row.id, toAuditEntry(row)))
          const sent = rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }))
          yield* sql`
            WITH pending AS (${insertPending(sql, pending)})
            INSERT INTO audit_log (id, actor, actor_name, actor_type, action, resource, resource_id, details, request_id,
                                   client_address, created_at)
            SELECT id, actor, actor_name, actor_type, action, resource, resource_id, details, request_id,
                   client_address, created_at
            FROM ${unnestRows(sql, sent, COLUMNS, { ordinal: true })} AS entry ORDER BY ordinal`
          return entries.map(() => true)
        })
      )
      const record = Effect.fn("AuditTrail.record")((entry: AuditEntry) => Effect.asVoid(insert(entry)))
      const recordDone = (entry: AuditEntry) =>
        Effect.catch(record(entry), (error) => {
          sideEffectFailed("audit")
          return Effect.logError(
            `the audit entry ${entry.action} of ${entry.resource} ${entry.resourceId} could not be written: ${describeSqlError(error)}`
          )
        })
      return AuditTrail.of({ record, recordDone })
    })
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

const COLUMNS = {
  id: "uuid",
  actor: "text",
  actor_name: "text",
  actor_type: "text",
  action: "text",
  resource: "text",
  resource_id: "text",
  details: "json",
  request_id: "text",
  client_address: "text",
  created_at: "timestamptz"
} as const

const rowOf = (id: string, entry: AuditEntry): AuditRow => {
  const { action, at, caller, details, outcome = "succeeded", resource, resourceId } = entry
  return {
    id,
    actor: caller.actor.actorId,
    actor_name: orNull(caller.actor.name),
    actor_type: caller.actor.actorType,
    action,
    resource,
    resource_id: resourceId,
    details: JSON.stringify({ outcome, ...details, ...caller.via }),
    request_id: orNull(caller.requestId),
    client_address: orNull(caller.address),
    created_at: new Date(at)
  }
}

const orNull = (text: string | undefined) => (text === undefined || text === "" ? null : text)
