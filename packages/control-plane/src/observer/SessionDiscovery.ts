import * as PgClient from "@effect/sql-pg/PgClient"
import { isUuidSessionId, RunId, runCreated, type SessionSnapshot } from "@runplane/domain"
import { RuntimeClient } from "@runplane/runtime"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../events/EventLog.ts"
import { Ids } from "../events/Ids.ts"
import { Observers } from "./Observers.ts"

/** Time-to-live of a discovered session that does not tell its own, milliseconds (http-details section 5.3). */
const DEFAULT_TTL_MS = 300_000
/** `source` of discovered runs; a `POST /runs` for the same session may still claim such a run. */
export const DISCOVERY_SOURCE = "session-discovery"

/** Turns a session that no run knows into a run (http-details section 5.3). */
export class SessionDiscovery extends Context.Service<
  SessionDiscovery,
  {
    /** Does nothing when the session has become known meanwhile. A failure is logged: it must not end the watch. */
    readonly discover: (session: SessionSnapshot) => Effect.Effect<void>
  }
>()("runplane/control-plane/SessionDiscovery") {
  static readonly layerNoDeps = Layer.effect(
    SessionDiscovery,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const log = yield* EventLog
      const ids = yield* Ids
      const observers = yield* Observers
      const runtime = yield* RuntimeClient

      const discover = Effect.fn("SessionDiscovery.discover")(
        function* (session: SessionSnapshot) {
          const runId = RunId.make(isUuidSessionId(session.sessionId) ? session.sessionId : yield* ids.uuid)
          const traceId = yield* ids.traceId
          const spanId = yield* ids.spanId
          const at = new Date(yield* Clock.currentTimeMillis).toISOString()
          const descriptor = describeSession(session, runtime.kind)
          const metadata = JSON.stringify({
            executionRequest: descriptor,
            source: DISCOVERY_SOURCE,
            discoveredAt: at,
            initiator: session.initiator
          })
          const create = Effect.gen(function* () {
            const inserted = yield* sql`
              INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, source_kind,
                                policy_version, metadata, search_text, created_at, updated_at)
              VALUES (${runId}::uuid, 'queued', 'live', ${session.mode}, ${runtime.kind}, ${session.sessionId}, ${traceId},
                      ${spanId}, ${DISCOVERY_SOURCE}, ${session.policyVersion}, ${metadata}::text::json,
                      ${`${runId} ${session.policyVersion}`.toLowerCase()}, ${at}::timestamptz, ${at}::timestamptz)
              ON CONFLICT DO NOTHING RETURNING id`
            if (inserted.length === 0) return false
            yield* sql`INSERT INTO run_heads (run_id) VALUES (${runId}::uuid)`
            return true
          })
          yield* log.append({
            runId,
            create,
            events: [
              runCreated({
                ts: at,
                runId,
                traceId,
                modeName: session.mode,
                runtimeKind: runtime.kind,
                sessionId: session.sessionId
              })
            ]
          })
          yield* observers.adopt(runId)
        },
        (effect, session) =>
          effect.pipe(
            Effect.catchTag("RunAlreadyExists", () => Effect.void),
            Effect.catchCause((cause) => Effect.logError(`could not make a run of session ${session.sessionId}`, cause))
          )
      )
      return SessionDiscovery.of({ discover })
    })
  )
}

const describeSession = (session: SessionSnapshot, runtimeKind: string) => ({
  mode: "live",
  runtime: { kind: runtimeKind },
  session: {
    sessionId: session.sessionId,
    modeName: session.mode,
    modeVersion: session.modeVersion || "1.0.0",
    configurationVersion: session.configurationVersion || "config.default",
    ...(session.policyVersion === "" ? {} : { policyVersion: session.policyVersion }),
    ttlMs:
      session.expiresAtUnixMs > session.startedAtUnixMs
        ? session.expiresAtUnixMs - session.startedAtUnixMs
        : DEFAULT_TTL_MS,
    participants: session.participants.map((id) => ({ id }))
  }
})
