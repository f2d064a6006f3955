import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunId } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { ObserverSettings } from "./ObserverSettings.ts"

/**
 * The cancels of runs whose sessions are not open yet (docs/internals/runtime.md#late-cancel), a row each. Both
 * statements are for use inside an append.
 */
export class PendingCancels extends Context.Service<
  PendingCancels,
  {
    /** The cancel waits for the session's time to live, milliseconds, or the bind timeout if that is longer. */
    readonly remember: (
      runId: RunId,
      cancel: { readonly reason: string; readonly ttlMs: number; readonly at: string }
    ) => Effect.Effect<void, SqlError>
    readonly forget: (runId: RunId) => Effect.Effect<void, SqlError>
  }
>()("runplane/control-plane/PendingCancels") {
  static readonly layer = Layer.effect(
    PendingCancels,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { sessionPollTimeoutMs } = yield* ObserverSettings
      return PendingCancels.of({
        remember: (runId, { at, reason, ttlMs }) =>
          Effect.asVoid(sql`
            INSERT INTO late_cancels (run_id, reason, until)
            VALUES (${runId}::uuid, ${reason}, ${new Date(Date.parse(at) + Math.max(ttlMs, sessionPollTimeoutMs))})
            ON CONFLICT (run_id) DO UPDATE SET reason = excluded.reason, until = excluded.until`),
        forget: (runId) => Effect.asVoid(sql`DELETE FROM late_cancels WHERE run_id = ${runId}::uuid`)
      })
    })
  )
}
