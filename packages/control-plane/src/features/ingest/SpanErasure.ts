import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { type ErasureHook, foundRows, makeScrubber, togetherFound } from "../../event-log/erasure/ErasureHooks.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"

/** Members that connect the spans of a trace, and those that the fold of the trace decides by. */
const KEEP = new Set([
  ...["key", "kind", "traceId", "spanId", "parentSpanId", "startedAt", "endedAt", "source", "agent", "agentByName"],
  ...["delegate", "callee", "calledBy"]
])

/** Rows read at a time. */
const PAGE = 1_000

interface ReceivedRow {
  readonly source: string
  readonly trace_id: string
  readonly span_id: string
  readonly kind: string
  readonly span: string
}

interface SeenRow {
  readonly position: number
  readonly node: string
}

/** Removes texts from received spans that wait for the run, and from what the fold of its trace remembers. */
export const makeSpanErasure = Effect.map(PgClient.PgClient, (sql): ErasureHook => {
  const received: ErasureHook = Effect.fnUntraced(function* ({ finder, isDryRun, runId }) {
    const rows = yield* sql<ReceivedRow>`
      SELECT i.source, i.trace_id, i.span_id, i.kind, i.span::text AS span
      FROM otlp_traces t JOIN otlp_inbox i ON i.source = t.source AND i.trace_id = t.trace_id
      WHERE t.run_id = ${runId}::uuid`
    const scrubber = makeScrubber(finder, KEEP)
    const changed = scrubber.changed(rows, (row) => ({ ...row, span: scrubber.json(row.span) }))
    if (changed.length > 0 && !isDryRun) {
      yield* sql`
        UPDATE otlp_inbox i SET span = c.span
        FROM ${unnestRows(sql, changed, {
          ...{ source: "text", trace_id: "text", span_id: "text", kind: "text", span: "json" }
        })} AS c
        WHERE i.source = c.source AND i.trace_id = c.trace_id AND i.span_id = c.span_id AND i.kind = c.kind`
    }
    return foundRows("received span", changed.length, scrubber.kept())
  })

  const seen: ErasureHook = Effect.fnUntraced(function* ({ finder, isDryRun, runId }) {
    const scrubber = makeScrubber(finder, KEEP)
    let [after, count] = [-1, 0]
    while (true) {
      const rows: ReadonlyArray<SeenRow> = yield* sql<SeenRow>`
        SELECT position, node::text AS node FROM otlp_seen
        WHERE run_id = ${runId}::uuid AND position > ${after} ORDER BY position LIMIT ${PAGE}`
      const last = rows.at(-1)
      if (last === undefined) return foundRows("seen span", count, scrubber.kept())
      after = last.position
      const changed = scrubber.changed(rows, ({ node, position }) => ({ position, node: scrubber.json(node) }))
      count += changed.length
      if (changed.length > 0 && !isDryRun) {
        yield* sql`
          UPDATE otlp_seen s SET node = c.node
          FROM ${unnestRows(sql, changed, { position: "int", node: "json" })} AS c
          WHERE s.run_id = ${runId}::uuid AND s.position = c.position`
      }
    }
  })

  return (erasure) => Effect.map(Effect.all([received(erasure), seen(erasure)]), togetherFound)
})
