import * as PgClient from "@effect/sql-pg/PgClient"
import { cleanText, isTerminal, OTLP_RUNTIME_KIND, RunId, type RunStatus, type SessionSnapshot } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { hasStatus } from "../event-log/runs/RunColumns.ts"
import { batchedReads, batchedWrites } from "../platform/postgres/Batched.ts"
import { idRows } from "../platform/postgres/KeptPlans.ts"
import { unnestRows } from "../platform/postgres/UnnestRows.ts"
import {
  ANNOTATIONS,
  ANSWER,
  IMPLICIT_ANSWER,
  type ObservedRun,
  type PendingCancel,
  type RunSummary
} from "./decide/ObservedRun.ts"
import { isObservableSessionId } from "./SessionIds.ts"

/** Participants that a text names; further ones are counted. */
const NAMED_PARTICIPANTS = 5

const awaitedOf = (declared: unknown): string => {
  const ids = Array.isArray(declared) ? declared.flatMap((one) => (typeof one?.id === "string" ? [one.id] : [])) : []
  const more = ids.length - NAMED_PARTICIPANTS
  return `${ids.slice(0, NAMED_PARTICIPANTS).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

interface ObservedRow {
  readonly id: string
  readonly status: RunStatus
  readonly runtime_session_id: string
  readonly mode_name: string
  readonly runtime_kind: string
  readonly runtime_version: string | null
  readonly trace_id: string
  readonly stream_cursor: bigint
  readonly expires_at: Date | null
  readonly cancel_reason: string | null
  readonly cancel_until: Date | null
  readonly declared: unknown
}

const toObservedRun = (row: ObservedRow): ObservedRun => ({
  id: RunId.make(row.id),
  status: row.status,
  sessionId: row.runtime_session_id,
  modeName: row.mode_name,
  runtimeKind: row.runtime_kind,
  runtimeVersion: row.runtime_version ?? undefined,
  traceId: row.trace_id,
  cursor: Number(row.stream_cursor),
  expiresAtUnixMs: row.expires_at?.getTime(),
  cancel: pendingCancelOf(row),
  awaited: awaitedOf(row.declared)
})

/** Most runs of one query. */
const RUNS_PER_QUERY = 500
export interface RunOfSession {
  readonly runId: RunId
  readonly isUnfinished: boolean
  /** The run has failed because the session did not open in time. */
  readonly hasTimedOut: boolean
}

interface Binding {
  readonly run: ObservedRun
  readonly session: SessionSnapshot
  readonly capabilities: string
  readonly at: string
}

interface TraceArtifact {
  readonly run: ObservedRun
  readonly artifactId: string
  readonly at: string
}

/** The content of a run's trace artifact, as it is stored and served. */
export const traceContent = ({ traceId }: Pick<ObservedRun, "traceId">): string => JSON.stringify({ traceId })

/** The reads and row writes of the observer that are not appends. */
export class ObservedRuns extends Context.Service<
  ObservedRuns,
  {
    readonly find: (runId: RunId) => Effect.Effect<ObservedRun | undefined, SqlError>
    /** The number of stored envelopes of its session; undefined without such a run. */
    readonly cursor: (runId: RunId) => Effect.Effect<number | undefined, SqlError>
    /** The current status of the run, with its revision. */
    readonly summary: (runId: RunId) => Effect.Effect<RunSummary | undefined, SqlError>
    /** The statuses of the runs, in one query. */
    readonly statuses: (runIds: ReadonlyArray<RunId>) => Effect.Effect<ReadonlyMap<string, RunStatus>, SqlError>
    /** The runs of these sessions, in one query; a run that has timed out only when it is the only one. */
    readonly ofSessions: (
      sessionIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, RunOfSession>, SqlError>
    /** The run of the session; callers at the same time share a query. */
    readonly ofSession: (sessionId: string) => Effect.Effect<RunOfSession | undefined, SqlError>
    /** The sessions whose run was deleted lately. */
    readonly deletedSessions: (sessionIds: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, SqlError>
    /** Every run that is not terminal, `queued` included, and those with a pending cancel. */
    readonly unfinished: Effect.Effect<ReadonlyArray<RunId>, SqlError>
    /** The runs with the status `queued`. */
    readonly queued: (runIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<RunId>, SqlError>
    /** The runs that are not terminal and were created at least so many seconds ago. */
    readonly unfinishedFor: (seconds: number) => Effect.Effect<ReadonlyArray<RunId>, SqlError>
    /** The ids of the stored envelopes that the runtime itself wrote, and whether the Commitment is stored. */
    readonly annotations: (
      runId: RunId
    ) => Effect.Effect<{ readonly messageIds: ReadonlyArray<string>; readonly committed: boolean }, SqlError>
    /** The session row of a bound run; for use inside an append. */
    readonly bind: (
      run: ObservedRun,
      session: SessionSnapshot,
      capabilities: string,
      at: string
    ) => Effect.Effect<void, SqlError>
    /** The trace artifact of a run that starts running; for use inside an append. */
    readonly addTraceArtifact: (run: ObservedRun, artifactId: string, at: string) => Effect.Effect<void, SqlError>
  }
>()("runplane/control-plane/ObservedRuns") {
  static readonly layer = Layer.effect(
    ObservedRuns,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const timedOut = sql`(error_code IS NOT DISTINCT FROM 'RUNTIME_TIMEOUT')`

      // Observers that start at the same time share a query.
      const finder = batchedReads(
        sql,
        RUNS_PER_QUERY,
        Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>) {
          const rows = yield* sql<ObservedRow>`
            SELECT found.* FROM ${idRows(sql, runIds)} AS requested (id) CROSS JOIN LATERAL (
              SELECT r.id::text AS id, r.status, r.runtime_session_id, r.mode_name, r.runtime_kind, r.runtime_version,
                     r.trace_id, h.stream_cursor, s.expires_at, c.reason AS cancel_reason, c.until AS cancel_until,
                     CASE WHEN s.run_id IS NULL THEN r.metadata #> '{executionRequest,session,participants}' END AS declared
              FROM runs r JOIN run_heads h ON h.run_id = r.id LEFT JOIN sessions s ON s.run_id = r.id
                          LEFT JOIN late_cancels c ON c.run_id = r.id
              WHERE r.id = requested.id LIMIT 1
            ) AS found`
          return new Map(rows.map((row) => [row.id, toObservedRun(row)]))
        })
      )
      const find = Effect.fn("ObservedRuns.find")((runId: RunId) => finder(runId))
      // All observers of a process read it at the start, and when the connection to the runtime breaks.
      const cursors = batchedReads(
        sql,
        RUNS_PER_QUERY,
        Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>) {
          const rows = yield* sql<{ readonly id: string; readonly stream_cursor: bigint }>`
            SELECT found.* FROM ${idRows(sql, runIds)} AS requested (id) CROSS JOIN LATERAL (
              SELECT run_id::text AS id, stream_cursor FROM run_heads WHERE run_id = requested.id LIMIT 1
            ) AS found`
          return new Map(rows.map((row) => [row.id, Number(row.stream_cursor)]))
        })
      )
      const cursor = Effect.fn("ObservedRuns.cursor")((runId: RunId) => cursors(runId))
      // One listing answers the queries of many observers, and each of them reads its run then.
      const summaries = batchedReads(
        sql,
        RUNS_PER_QUERY,
        Effect.fnUntraced(function* (runIds: ReadonlyArray<RunId>) {
          const rows = yield* sql<{
            readonly id: string
            readonly status: RunStatus
            readonly revision: number
            readonly cancel_reason: string | null
            readonly cancel_until: Date | null
          }>`
            SELECT found.* FROM ${idRows(sql, runIds)} AS requested (id) CROSS JOIN LATERAL (
              SELECT r.id::text AS id, r.status, r.status_revision AS revision, c.reason AS cancel_reason,
                     c.until AS cancel_until
              FROM runs r LEFT JOIN late_cancels c ON c.run_id = r.id WHERE r.id = requested.id LIMIT 1
            ) AS found`
          return new Map(
            rows.map((row) => [row.id, { status: row.status, revision: row.revision, cancel: pendingCancelOf(row) }])
          )
        })
      )
      const summary = Effect.fn("ObservedRuns.summary")((runId: RunId) => summaries(runId))
      const statuses = Effect.fn("ObservedRuns.statuses")((runIds: ReadonlyArray<RunId>) =>
        Effect.map(
          sql<{ readonly id: string; readonly status: RunStatus }>`
            SELECT found.id::text AS id, found.status FROM ${idRows(sql, runIds)} AS requested (id) CROSS JOIN LATERAL (
              SELECT r.id, r.status FROM runs r WHERE r.id = requested.id LIMIT 1
            ) AS found`,
          (rows) => new Map(rows.map(({ id, status }) => [id, status]))
        )
      )
      const ofSessions = Effect.fn("ObservedRuns.ofSessions")(function* (sessionIds: ReadonlyArray<string>) {
        const requested = sessionIds.filter(isObservableSessionId)
        if (requested.length === 0) return new Map<string, RunOfSession>()
        const rows = yield* sql<{
          readonly session_id: string
          readonly id: string
          readonly status: RunStatus
          readonly timed_out: boolean
        }>`
          SELECT runtime_session_id AS session_id, id::text AS id, status, ${timedOut} AS timed_out
          FROM runs WHERE runtime_session_id = ANY(${requested}::text[]) AND runtime_kind <> ${OTLP_RUNTIME_KIND}
          ORDER BY timed_out DESC, created_at, runs.id`
        return new Map(
          rows.map(({ id, session_id, status, timed_out }): [string, RunOfSession] => [
            session_id,
            { runId: RunId.make(id), isUnfinished: !isTerminal(status), hasTimedOut: timed_out }
          ])
        )
      })
      const ofSession = batchedReads(sql, RUNS_PER_QUERY, ofSessions)
      const deletedSessions = Effect.fn("ObservedRuns.deletedSessions")(function* (sessionIds: ReadonlyArray<string>) {
        if (sessionIds.length === 0) return new Set<string>()
        const rows = yield* sql<{ readonly id: string }>`
          SELECT runtime_session_id AS id FROM deleted_sessions WHERE runtime_session_id = ANY(${sessionIds}::text[])`
        return new Set(rows.map(({ id }) => id))
      })
      const unfinished = Effect.map(
        sql<{ readonly id: string }>`
          SELECT id::text AS id FROM runs
          WHERE ${hasStatus(sql, "unfinished")} AND runtime_kind <> ${OTLP_RUNTIME_KIND}
          UNION SELECT run_id::text FROM late_cancels ORDER BY id`,
        (rows) => rows.map((row) => RunId.make(row.id))
      )
      const unfinishedFor = (seconds: number) =>
        Effect.map(
          sql<{ readonly id: string }>`
            SELECT id::text AS id FROM runs
            WHERE ${hasStatus(sql, "unfinished")} AND runtime_kind <> ${OTLP_RUNTIME_KIND}
              AND created_at < now() - make_interval(secs => ${seconds})`,
          (rows) => rows.map((row) => RunId.make(row.id))
        )
      const queued = (runIds: ReadonlyArray<string>) =>
        Effect.map(
          sql<{ readonly id: string }>`
            SELECT id::text AS id FROM runs WHERE id = ANY(${runIds}::uuid[]) AND status = 'queued'`,
          (rows) => rows.map((row) => RunId.make(row.id))
        )
      const annotations = (runId: RunId) =>
        Effect.map(
          sql<{ readonly id: string; readonly type: string }>`
            SELECT message->>'messageId' AS id, message->>'messageType' AS type FROM outbound_messages
            WHERE run_id = ${runId}::uuid
              AND (message->>'messageType' = ANY(${[COMMITMENT, ...ANNOTATIONS]}::text[])
                OR (message->>'messageType' = ${ANSWER} AND starts_with(message->>'messageId', ${IMPLICIT_ANSWER})))`,
          (rows) => ({
            messageIds: rows.filter(({ type }) => type !== COMMITMENT).map(({ id }) => id),
            committed: rows.some(({ type }) => type === COMMITMENT)
          })
        )
      const insertSessions = batchedWrites(sql, (bindings: ReadonlyArray<Binding>) =>
        Effect.map(
          sql`
            INSERT INTO sessions (run_id, runtime_kind, runtime_session_id, mode_name, mode_version,
                                  configuration_version, policy_version, initiator_participant_id, session_state,
                                  expires_at, last_seen_at, capabilities, participants, created_at, updated_at)
            SELECT run_id, runtime_kind, session_id, mode, mode_version, configuration_version, policy_version, initiator,
                   state, to_timestamp(expires_at / 1000.0), at, capabilities,
                   ARRAY(SELECT id FROM json_array_elements_text(participants) WITH ORDINALITY AS p (id, n) ORDER BY n),
                   at, at
            FROM ${unnestRows(sql, bindings.map(sessionRow), SESSION_COLUMNS)} AS s
            ON CONFLICT (run_id) DO NOTHING`,
          () => bindings.map(() => true)
        )
      )
      const bind = (run: ObservedRun, session: SessionSnapshot, capabilities: string, at: string) =>
        Effect.asVoid(insertSessions({ run, session, capabilities, at }))
      const insertTraceArtifacts = batchedWrites(sql, (artifacts: ReadonlyArray<TraceArtifact>) => {
        const rows = artifacts.map(({ artifactId, at, run }) => ({
          id: artifactId,
          run_id: run.id,
          inline: traceContent(run),
          at
        }))
        const columns = { id: "uuid", run_id: "uuid", inline: "json", at: "timestamptz" } as const
        return Effect.map(
          sql`
            INSERT INTO artifacts (id, run_id, kind, label, inline, created_at)
            SELECT id, run_id, 'trace', 'Root run trace', inline, at
            FROM ${unnestRows(sql, rows, columns, { ordinal: true })} AS a ORDER BY ordinal`,
          () => artifacts.map(() => true)
        )
      })
      const addTraceArtifact = (run: ObservedRun, artifactId: string, at: string) =>
        Effect.asVoid(insertTraceArtifacts({ run, artifactId, at }))
      return ObservedRuns.of({
        find,
        cursor,
        summary,
        statuses,
        ofSessions,
        ofSession,
        deletedSessions,
        unfinished,
        unfinishedFor,
        queued,
        annotations,
        bind,
        addTraceArtifact
      })
    })
  )
}

const SESSION_COLUMNS = {
  run_id: "uuid",
  runtime_kind: "text",
  session_id: "text",
  mode: "text",
  mode_version: "text",
  configuration_version: "text",
  policy_version: "text",
  initiator: "text",
  state: "text",
  expires_at: "bigint",
  at: "timestamptz",
  capabilities: "json",
  participants: "json"
} as const

const sessionRow = ({ at, capabilities, run, session }: Binding) => ({
  run_id: run.id,
  runtime_kind: run.runtimeKind,
  session_id: run.sessionId,
  mode: cleanText(session.mode),
  mode_version: cleanText(session.modeVersion),
  configuration_version: cleanText(session.configurationVersion),
  policy_version: cleanText(session.policyVersion),
  initiator: cleanText(session.initiator),
  state: session.state,
  expires_at: storableTime(session.expiresAtUnixMs),
  at,
  capabilities,
  participants: JSON.stringify(session.participants.map(cleanText))
})

const pendingCancelOf = (row: {
  readonly cancel_reason: string | null
  readonly cancel_until: Date | null
}): PendingCancel | undefined =>
  row.cancel_reason === null || row.cancel_until === null
    ? undefined
    : { reason: row.cancel_reason, untilUnixMs: row.cancel_until.getTime() }

/** The message that resolves a session. */
const COMMITMENT = "Commitment"

/** End of the year 9999: the latest time that every reader of the column can format as ISO-8601. */
const LATEST_UNIX_MS = 253_402_300_799_999

/** Agents set the deadline, so it may be beyond the range of a date. */
const storableTime = (unixMs: number): bigint => BigInt(Math.trunc(Math.min(Math.max(unixMs, 0), LATEST_UNIX_MS)))
