import * as PgClient from "@effect/sql-pg/PgClient"
import type { Actor } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { describeSqlError } from "../database/SqlFailures.ts"
import { together } from "../database/Together.ts"
import { SideEffectMeter } from "../edge/SideEffectMeter.ts"

/** Who asks, under which `x-request-id` and from which address; both texts are empty outside of a request. */
export interface RecordedCaller {
  readonly actor: Pick<Actor, "actorId" | "actorType" | "name">
  readonly requestId: string
  readonly address: string
}

/** The same with what it may do. */
export interface Caller extends RecordedCaller {
  readonly actor: Actor
}

/**
 * What became of the action: done, handed on to somebody who said that they will, or turned down: by the runtime, or by
 * this service because of who asked. What this service turns down for other reasons is not recorded.
 */
export type AuditOutcome = "succeeded" | "accepted" | "refused"

export interface AuditEntry {
  readonly caller: RecordedCaller
  readonly action: string
  readonly resource: string
  readonly resourceId: string
  /** `succeeded` unless said; kept among the details. */
  readonly outcome?: AuditOutcome
  readonly details: Schema.JsonObject
  /** ISO-8601. */
  readonly at: string
}

/** Writes the audit log (docs/http.md#audit); inside a transaction the entry commits with it. */
export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    readonly record: (entry: AuditEntry) => Effect.Effect<void, SqlError>
    /**
     * For what has happened already and cannot be taken back: an entry that cannot be written is logged and counted.
     */
    readonly recordDone: (entry: AuditEntry) => Effect.Effect<void>
  }
>()("runplane/control-plane/AuditTrail") {
  static readonly layer = Layer.effect(
    AuditTrail,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const sideEffectFailed = yield* SideEffectMeter
      const insert = together(sql, (entries: ReadonlyArray<AuditEntry>) =>
        Effect.map(
          sql`
          INSERT INTO audit_log (actor, actor_name, actor_type, action, resource, resource_id, details, request_id,
                                 client_address, created_at)
          SELECT actor, nullif(actor_name, ''), actor_type, action, resource, resource_id, details,
                 nullif(request_id, ''), nullif(client_address, ''), created_at
          FROM unnest(${entries.map(({ caller }) => caller.actor.actorId)}::text[],
                      ${entries.map(({ caller }) => caller.actor.name ?? "")}::text[],
                      ${entries.map(({ caller }) => caller.actor.actorType)}::text[],
                      ${entries.map(({ action }) => action)}::text[], ${entries.map(({ resource }) => resource)}::text[],
                      ${entries.map(({ resourceId }) => resourceId)}::text[],
                      ${entries.map(({ details, outcome = "succeeded" }) => JSON.stringify({ outcome, ...details }))}::text[]::json[],
                      ${entries.map(({ caller }) => caller.requestId)}::text[],
                      ${entries.map(({ caller }) => caller.address)}::text[],
                      ${entries.map(({ at }) => at)}::text[]::timestamptz[])
               WITH ORDINALITY AS entry (actor, actor_name, actor_type, action, resource, resource_id, details,
                                         request_id, client_address, created_at, place)
          ORDER BY place`,
          () => entries.map(() => true)
        )
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
  )
}
