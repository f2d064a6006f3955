import { createHash } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { type Arrival, bindingOf, OTLP_RUNTIME_KIND, RunId, runIdOf, type TraceBinding } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { DISCOVERY_SOURCE } from "../../event-log/runs/RunRepository.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { batched, batchedReads } from "../../platform/postgres/Batched.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { Drops } from "./Drops.ts"
import { IngestSettings } from "./IngestSettings.ts"
import { KEYS_PER_READ, SpanInbox, type SpanInboxRow, type TraceRef, traceKey, traceOfKey } from "./SpanInbox.ts"

/** How soon a trace that waits for another trace, or for the run of its session, is bound again. Milliseconds. */
const AGAIN_MS = 250

/** A trace with its run; `runKey` is null for the run of a session. */
interface DecidedTrace extends TraceRef {
  readonly runId: RunId
  readonly runKey: string | null
  /** The session that the trace names and may not join. */
  readonly linkedSession: string | null
}

/** The run of a session, and who may join it. */
interface SessionRun {
  readonly runId: RunId
  readonly sessionId: string
  readonly sources: unknown
  /** Found by the session watch: the request that names its sources may still arrive. */
  readonly isDiscovered: boolean
}

const TRACE_COLUMNS = { source: "text", trace_id: "text" } as const
const traceRow = ({ source, traceId }: TraceRef) => ({ source, trace_id: traceId })

type Bound = Extract<TraceBinding, { readonly state: "bound" }>

/**
 * The state of a trace: its run, or when to decide again (Unix milliseconds), or nothing that waits. What waits of a
 * trace whose run was deleted is dropped.
 */
export type TraceState =
  | { readonly _tag: "Bound"; readonly runId: RunId }
  | { readonly _tag: "Due"; readonly at: number }
  | { readonly _tag: "Empty" }

const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest()

/** The run of a key of a source, in every process; the next one when that was deleted, and so on. */
export const runOfKey = (source: string, key: string, life = 0): RunId => RunId.make(runIdOf(sha1, source, key, life))

/** Lives of a key that one statement compares with the deleted runs. */
const LIVES_PER_READ = 16

export const arrivalOf = ({ kind, receivedAt, spanId, telemetry, traceId }: SpanInboxRow): Arrival => ({
  key: kind.replace(/^[a-z]+/, (label) => `${label}:${traceId}:${spanId}`),
  at: receivedAt,
  telemetry
})

/** Decides the run of each trace, once (docs/reference/ingest.md#runs). */
export class TraceRuns extends Context.Service<
  TraceRuns,
  {
    /** The run of a trace, which is decided from what waits of it when it is not yet. */
    readonly bind: (trace: TraceRef, now: number) => Effect.Effect<TraceState, SqlError>
  }
>()("runplane/control-plane/TraceRuns") {
  static readonly layer = Layer.effect(
    TraceRuns,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { drop } = yield* Drops
      const spanInbox = yield* SpanInbox
      const metrics = yield* Metrics
      const { joinsEverything, runKey, settleMs } = yield* IngestSettings
      const options = { settleMs, ...(runKey !== "" && { runKeyAttribute: runKey }) }

      const findByKey = batchedReads(sql, KEYS_PER_READ, (keys: ReadonlyArray<string>) =>
        Effect.map(
          sql<{ readonly source: string; readonly trace_id: string; readonly run_id: string | null }>`
            SELECT k.source, k.trace_id, t.run_id
            FROM ${unnestRows(sql, keys.map(traceOfKey).map(traceRow), TRACE_COLUMNS)} AS k
            CROSS JOIN LATERAL (
              (SELECT run_id::text AS run_id FROM otlp_traces t
               WHERE t.source = k.source AND t.trace_id = k.trace_id LIMIT 1)
              UNION ALL
              (SELECT NULL FROM deleted_traces d WHERE d.source = k.source AND d.trace_id = k.trace_id LIMIT 1)
              LIMIT 1) AS t`,
          (rows) =>
            new Map(
              rows.map(({ run_id, source, trace_id }) => [
                traceKey({ source, traceId: trace_id }),
                run_id === null ? ("deleted" as const) : RunId.make(run_id)
              ])
            )
        )
      )
      const find = (trace: TraceRef) => findByKey(traceKey(trace))

      /** The first run of a trace counts: another process may have decided too. */
      const insert = batched<DecidedTrace, true>(sql, {
        isShared: true,
        most: KEYS_PER_READ,
        run: (decided) => {
          const rows = decided.map(({ linkedSession, runId, runKey, ...trace }) => ({
            ...traceRow(trace),
            run_id: runId,
            run_key: runKey,
            linked_session: linkedSession
          }))
          const columns = { ...TRACE_COLUMNS, run_id: "uuid", run_key: "text", linked_session: "text" } as const
          return Effect.as(
            sql`
              INSERT INTO otlp_traces (source, trace_id, run_id, run_key, linked_session)
              SELECT source, trace_id, run_id, run_key, linked_session FROM ${unnestRows(sql, rows, columns)} AS t
              ORDER BY source, trace_id ON CONFLICT DO NOTHING`,
            decided.map(() => true as const)
          ).pipe(Effect.withTracerEnabled(false))
        }
      })

      const sessionRun = (condition: Fragment) =>
        Effect.map(
          sql<Omit<SessionRun, "runId"> & { readonly id: string }>`
            SELECT id::text AS id, runtime_session_id AS "sessionId", source_kind = ${DISCOVERY_SOURCE} IS TRUE AS "isDiscovered",
                   metadata -> 'executionRequest' -> 'telemetry' -> 'sources' AS sources
            FROM runs WHERE ${condition} AND runtime_kind <> ${OTLP_RUNTIME_KIND}
            ORDER BY created_at DESC LIMIT 1`,
          ([row]): SessionRun | undefined => row && { ...row, runId: RunId.make(row.id) }
        )

      /** A session names the sources that may join its run, and a token of the session lets its holder join. */
      const mayJoin = ({ sessionId, sources }: SessionRun, source: string, tokens: ReadonlySet<string>) =>
        joinsEverything || tokens.has(sessionId) || (Array.isArray(sources) && sources.includes(source))

      /** The run of a key: a deleted one is over, and the key goes on with another. */
      const runOfLife = Effect.fnUntraced(function* (source: string, key: string) {
        for (let from = 0; ; from += LIVES_PER_READ) {
          const lives = Array.from({ length: LIVES_PER_READ }, (_, life) => runOfKey(source, key, from + life))
          const rows = yield* sql<{ readonly id: string }>`
            SELECT DISTINCT run_id::text AS id FROM run_tombstones t WHERE run_id = ANY(${lives}::text[]::uuid[])
              AND NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run_id)`
          const deleted = new Set(rows.map(({ id }) => id))
          const living = lives.find((runId) => !deleted.has(runId))
          if (living !== undefined) return living
        }
      })

      /** The run of a linked trace, unless it had ended for the settle time when this trace arrived. */
      const runOfLinks = (source: string, links: ReadonlyArray<string>, arrivedAt: number) =>
        Effect.map(
          sql<{ readonly run_id: string; readonly run_key: string | null }>`
            SELECT t.run_id::text AS run_id, t.run_key FROM otlp_traces t LEFT JOIN runs r ON r.id = t.run_id
            WHERE t.source = ${source} AND t.trace_id = ANY(${links}::text[])
              AND (r.ended_at IS NULL OR r.updated_at > to_timestamp(${(arrivedAt - settleMs) / 1_000}::float8))
            ORDER BY r.created_at LIMIT 1`,
          ([row]) => row
        )

      const isUnknown = (source: string, traceIds: ReadonlyArray<string>) =>
        Effect.map(
          sql`
            SELECT FROM unnest(${traceIds}::text[]) AS l (trace_id)
            WHERE NOT EXISTS (SELECT FROM otlp_traces t WHERE t.source = ${source} AND t.trace_id = l.trace_id)
            LIMIT 1`,
          (rows) => rows.length > 0
        )

      const isWaiting = (source: string, traceIds: ReadonlyArray<string>) =>
        Effect.map(
          sql`
            SELECT FROM otlp_inbox i WHERE source = ${source} AND trace_id = ANY(${traceIds}::text[])
              AND NOT EXISTS (SELECT FROM otlp_traces t WHERE t.source = i.source AND t.trace_id = i.trace_id)
            LIMIT 1`,
          (rows) => rows.length > 0
        )

      /** The run that a decided trace joins; undefined while another trace or a session may still get one. */
      const runOf = Effect.fnUntraced(function* (
        { source, traceId }: TraceRef,
        bound: Bound,
        tokens: ReadonlySet<string>,
        arrivedAt: number,
        waitedMs: number
      ) {
        let linkedSession: string | null = null
        if (bound.sessionId !== undefined) {
          const run = yield* sessionRun(sql`runtime_session_id = ${bound.sessionId}`)
          if (run !== undefined && mayJoin(run, source, tokens))
            return { runId: run.runId, runKey: null, linkedSession }
          if ((run === undefined || run.isDiscovered) && waitedMs < settleMs) return undefined
          linkedSession = bound.sessionId
          if (run !== undefined) metrics.otlpJoinRefused(tokens.size > 0 ? "other_session" : "not_named")
        }
        if (!bound.isNamed && bound.links.length > 0) {
          // A linked trace may arrive later, and is decided when it has waited as long. Of two traces that link to each
          // other the first by id is decided first. Read before the runs: a trace that is decided in between has one.
          const links = waitedMs < 2 * settleMs ? bound.links : bound.links.filter((link) => link < traceId)
          const mayWait =
            (waitedMs < settleMs && (yield* isUnknown(source, links))) ||
            (waitedMs < 3 * settleMs && (yield* isWaiting(source, links)))
          const linked = yield* runOfLinks(source, bound.links, arrivedAt)
          if (linked !== undefined) {
            const runId = RunId.make(linked.run_id)
            // A trace that has joined by a token does not pass its right on to the traces that link to it.
            const joined = linked.run_key === null ? yield* sessionRun(sql`id = ${runId}::uuid`) : undefined
            if (joined === undefined || mayJoin(joined, source, tokens)) {
              return { runId, runKey: linked.run_key, linkedSession }
            }
            linkedSession = joined.sessionId
            metrics.otlpJoinRefused(tokens.size > 0 ? "other_session" : "not_named")
          } else if (mayWait) return undefined
        }
        return { runId: yield* runOfLife(source, bound.key), runKey: bound.key, linkedSession }
      })

      const bind = Effect.fn("TraceRuns.bind")(function* (
        trace: TraceRef,
        now: number
      ): Effect.fn.Return<TraceState, SqlError> {
        const known = yield* find(trace)
        if (known !== undefined && known !== "deleted") return { _tag: "Bound", runId: known }
        const { isCut, rows } = yield* spanInbox.ofTrace(trace)
        if (rows.length === 0) return { _tag: "Empty" }
        if (known === "deleted") {
          yield* spanInbox.remove(rows)
          yield* drop("run_deleted", rows.length, trace.source)
          return isCut ? { _tag: "Due", at: now } : { _tag: "Empty" }
        }
        const binding = bindingOf(rows.map(arrivalOf), now, options)
        if (binding.state === "waiting") return { _tag: "Due", at: Math.max(binding.until, now + 1) }
        if (binding.state !== "bound") {
          yield* spanInbox.remove(rows)
          yield* drop(binding.state, rows.length, trace.source)
          return isCut ? { _tag: "Due", at: now } : { _tag: "Empty" }
        }
        const times = rows.map(({ receivedAt }) => receivedAt)
        const tokens = new Set(rows.flatMap(({ joins }) => joins ?? []))
        const run = yield* runOf(trace, binding, tokens, Math.min(...times), now - Math.max(...times))
        if (run === undefined) return { _tag: "Due", at: now + AGAIN_MS }
        yield* insert({ ...trace, ...run })
        const stored = yield* find(trace)
        return { _tag: "Bound", runId: stored === undefined || stored === "deleted" ? run.runId : stored }
      })
      return TraceRuns.of({ bind })
    })
  )
}
