import * as PgClient from "@effect/sql-pg/PgClient"
import type { Actor } from "@runplane/api"
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
import { describeSqlError } from "../postgres/SqlFailures.ts"
import { toAuditEntry } from "./AuditRow.ts"

/** The caller, with the `x-request-id` and the address of its request; both texts are empty outside of a request. */
export interface RecordedCaller {
  readonly actor: Pick<Actor, "actorId" | "actorType" | "name">
  readonly requestId: string
  readonly address: string
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

/** Writes the audit log (docs/reference/http.md#audit); inside a transaction the entry commits with it. */
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
          const ids = yield* Effect.forEach(entries, () => random.uuidV4())
          const pending = entries.map((entry, index) => {
            const id = ids[index] ?? ""
            return pendingEntry(current, "audit", id, contentOf(id, entry))
          })
          yield* sql`
          WITH pending AS (${insertPending(sql, pending)})
          INSERT INTO audit_log (id, actor, actor_name, actor_type, action, resource, resource_id, details, request_id,
                                 client_address, created_at)
          SELECT id, actor, nullif(actor_name, ''), actor_type, action, resource, resource_id, details,
                 nullif(request_id, ''), nullif(client_address, ''), created_at
          FROM unnest(${ids}::text[]::uuid[], ${entries.map(({ caller }) => caller.actor.actorId)}::text[],
                      ${entries.map(({ caller }) => caller.actor.name ?? "")}::text[],
                      ${entries.map(({ caller }) => caller.actor.actorType)}::text[],
                      ${entries.map(({ action }) => action)}::text[], ${entries.map(({ resource }) => resource)}::text[],
                      ${entries.map(({ resourceId }) => resourceId)}::text[],
                      ${entries.map(detailsOf)}::text[]::json[],
                      ${entries.map(({ caller }) => caller.requestId)}::text[],
                      ${entries.map(({ caller }) => caller.address)}::text[],
                      ${entries.map(({ at }) => at)}::text[]::timestamptz[])
               WITH ORDINALITY AS entry (id, actor, actor_name, actor_type, action, resource, resource_id, details,
                                         request_id, client_address, created_at, number)
          ORDER BY number`
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

const detailsOf = ({ details, outcome = "succeeded" }: AuditEntry): string => JSON.stringify({ outcome, ...details })

/** The entry as it will be served. */
const contentOf = (id: string, entry: AuditEntry): Schema.Json => {
  const { action, at, caller, resource, resourceId } = entry
  return toAuditEntry({
    id,
    actor: caller.actor.actorId,
    actor_name: caller.actor.name === "" ? null : (caller.actor.name ?? null),
    actor_type: caller.actor.actorType,
    action,
    resource,
    resource_id: resourceId,
    details: detailsOf(entry),
    request_id: caller.requestId === "" ? null : caller.requestId,
    client_address: caller.address === "" ? null : caller.address,
    created_at: new Date(at)
  })
}
