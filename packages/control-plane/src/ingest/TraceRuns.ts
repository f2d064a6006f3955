import { createHash } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { type Arrival, bindingOf, OTLP_RUNTIME_KIND, RunId, runIdOf, type TraceBinding } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { Inbox, type InboxRow, type TraceRef } from "./Inbox.ts"
import { IngestSettings } from "./IngestSettings.ts"

/** How soon a trace that waits for another trace, or for the run of its session, is bound again. Milliseconds. */
const AGAIN_MS = 250

type Bound = Extract<TraceBinding, { readonly state: "bound" }>

/** The state of a trace: its run, or when to decide again (Unix milliseconds), or nothing that waits. */
export type TraceState =
  | { readonly _tag: "Bound"; readonly runId: RunId }
  | { readonly _tag: "Due"; readonly at: number }
  | { readonly _tag: "Empty" }

const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest()

/** The run of a key of a source, in every process. */
export const runOfKey = (source: string, key: string): RunId => RunId.make(runIdOf(sha1, source, key))

export const arrivalOf = ({ kind, receivedAt, spanId, telemetry, traceId }: InboxRow): Arrival => ({
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
      const inbox = yield* Inbox
      const { runKey, settleMs } = yield* IngestSettings
      const options = { settleMs, ...(runKey !== "" && { runKeyAttribute: runKey }) }

      const find = ({ source, traceId }: TraceRef) =>
        Effect.map(
          sql<{ readonly run_id: string }>`
            SELECT run_id::text AS run_id FROM otlp_traces WHERE source = ${source} AND trace_id = ${traceId}`,
          ([row]) => row && RunId.make(row.run_id)
        )

      const runOfSession = (sessionId: string) =>
        Effect.map(
          sql<{ readonly id: string }>`
            SELECT id::text AS id FROM runs
            WHERE runtime_session_id = ${sessionId} AND runtime_kind <> ${OTLP_RUNTIME_KIND}
            ORDER BY created_at DESC LIMIT 1`,
          ([row]) => row && RunId.make(row.id)
        )

      /** The run of a linked trace that has not ended, or a moment ago. */
      const runOfLinks = (source: string, links: ReadonlyArray<string>) =>
        Effect.map(
          sql<{ readonly run_id: string; readonly run_key: string | null }>`
            SELECT t.run_id::text AS run_id, t.run_key FROM otlp_traces t LEFT JOIN runs r ON r.id = t.run_id
            WHERE t.source = ${source} AND t.trace_id = ANY(${links}::text[])
              AND (r.ended_at IS NULL OR r.updated_at > now() - make_interval(secs => ${settleMs / 1_000}))
            ORDER BY r.created_at LIMIT 1`,
          ([row]) => row
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
      const runOf = Effect.fnUntraced(function* ({ source }: TraceRef, bound: Bound, mayWait: boolean) {
        if (bound.sessionId !== undefined) {
          const runId = yield* runOfSession(bound.sessionId)
          if (runId !== undefined) return { runId, runKey: null }
          if (mayWait) return undefined
        }
        if (!bound.isNamed && bound.links.length > 0) {
          const linked = yield* runOfLinks(source, bound.links)
          if (linked !== undefined) return { runId: RunId.make(linked.run_id), runKey: linked.run_key }
          if (mayWait && (yield* isWaiting(source, bound.links))) return undefined
        }
        return { runId: runOfKey(source, bound.key), runKey: bound.key }
      })

      const bind = Effect.fn("TraceRuns.bind")(function* (
        trace: TraceRef,
        now: number
      ): Effect.fn.Return<TraceState, SqlError> {
        const known = yield* find(trace)
        if (known !== undefined) return { _tag: "Bound", runId: known }
        const { rows } = yield* inbox.ofTrace(trace)
        if (rows.length === 0) return { _tag: "Empty" }
        const binding = bindingOf(rows.map(arrivalOf), now, options)
        if (binding.state === "waiting") return { _tag: "Due", at: Math.max(binding.until, now + 1) }
        if (binding.state === "construction") {
          yield* inbox.remove(rows)
          return { _tag: "Empty" }
        }
        const latest = rows.reduce((last, { receivedAt }) => Math.max(last, receivedAt), 0)
        const run = yield* runOf(trace, binding, now < latest + settleMs)
        if (run === undefined) return { _tag: "Due", at: now + AGAIN_MS }
        yield* sql`
          INSERT INTO otlp_traces (source, trace_id, run_id, run_key)
          VALUES (${trace.source}, ${trace.traceId}, ${run.runId}::uuid, ${run.runKey}) ON CONFLICT DO NOTHING`
        // Another process may have decided first.
        return { _tag: "Bound", runId: (yield* find(trace)) ?? run.runId }
      })
      return TraceRuns.of({ bind })
    })
  )
}
