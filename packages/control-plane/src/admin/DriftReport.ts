import * as PgClient from "@effect/sql-pg/PgClient"
import { controlPlaneError, type DriftReport as Report, type RuntimeFailure } from "@runplane/api"
import { OTLP_RUNTIME_KIND, type RunId, type SessionSnapshot } from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hasStatus } from "../event-log/runs/RunColumns.ts"
import type { DatabaseFailure } from "../platform/http/OutageAnswers.ts"
import { answerOfRuntimeError } from "../platform/http/RuntimeRefusal.ts"

interface UnfinishedRun {
  readonly id: RunId
  readonly runtime_session_id: string
  /** It has found its session: before that, an absent session is expected. */
  readonly bound: boolean
}

/**
 * Compares the runtime's sessions with the unfinished runs (docs/reference/admin.md#drift). Only
 * live sessions count on both sides. Nothing is repaired, and a failed listing is a failure, never an empty report.
 */
export class DriftReport extends Context.Service<
  DriftReport,
  { readonly make: Effect.Effect<Report, RuntimeFailure | DatabaseFailure> }
>()("runplane/control-plane/DriftReport") {
  static readonly layer = Layer.effect(
    DriftReport,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runtime = yield* RuntimeClient

      // A partial index holds just the unfinished runs.
      const unfinished = sql<UnfinishedRun>`
        SELECT r.id::text AS id, r.runtime_session_id, s.run_id IS NOT NULL AS bound
        FROM runs r LEFT JOIN sessions s ON s.run_id = r.id
        WHERE ${hasStatus(sql, "unfinished", "r")} AND r.runtime_kind <> ${OTLP_RUNTIME_KIND}
        ORDER BY r.id`

      // The runs are read last, so a session with a run is never reported as untracked. A run that is bound in between
      // is reported as missing once.
      const make = Effect.gen(function* () {
        const listing = yield* Effect.mapError(runtime.listSessions, answerOfDrift)
        return compare(listing.sessions, listing.complete, yield* unfinished)
      }).pipe(Effect.withSpan("DriftReport.make"))
      return DriftReport.of({ make })
    })
  )
}

const isLive = ({ state }: SessionSnapshot): boolean => state === "OPEN" || state === "SUSPENDED"

const compare = (
  sessions: ReadonlyArray<SessionSnapshot>,
  complete: boolean,
  runs: ReadonlyArray<UnfinishedRun>
): Report => {
  // A session that moves between two pages of the listing is in both.
  const all = new Map(sessions.map((session) => [session.sessionId, session]))
  const live = [...all.values()].filter(isLive)
  const known = new Set(runs.map((run) => run.runtime_session_id))
  const bound = runs.filter((run) => run.bound)
  const alive = new Set(live.map(({ sessionId }) => sessionId))
  return {
    complete,
    runtimeSessionCount: all.size,
    liveRuntimeSessionCount: live.length,
    trackedRunCount: bound.length,
    untrackedSessions: live
      .filter(({ sessionId }) => !known.has(sessionId))
      .map(({ mode, sessionId, state }) => ({ sessionId, mode, state: `SESSION_STATE_${state}` })),
    // A cut listing does not prove that a session is absent.
    missingFromRuntime: complete
      ? bound
          .filter((run) => !alive.has(run.runtime_session_id))
          .map((run) => ({ runId: run.id, runtimeSessionId: run.runtime_session_id }))
      : null
  }
}

/** A runtime that does not answer has its own answer here; other failures are those of every request. */
const answerOfDrift = (error: RuntimeError) => {
  if (error.reason === "UNAVAILABLE") return unavailable("RUNTIME_UNAVAILABLE", error.message)
  if (error.reason === "CIRCUIT_BREAKER_OPEN") return unavailable("CIRCUIT_BREAKER_OPEN", error.message)
  return answerOfRuntimeError(error)
}

const unavailable = (code: "RUNTIME_UNAVAILABLE" | "CIRCUIT_BREAKER_OPEN", details: string) =>
  controlPlaneError("SERVICE_UNAVAILABLE", `${code}: ${details}`, { code })
