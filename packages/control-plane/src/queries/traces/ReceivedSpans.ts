import * as PgClient from "@effect/sql-pg/PgClient"
import { type NotFound, notArchived, type RunSpans, runNotFound, type SpansQuery, type TraceSpan } from "@runplane/api"
import { TraceFoldNode } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"

const decodeNode = Schema.decodeUnknownSync(Schema.fromJsonString(TraceFoldNode))

/** The spans that were received for a run (docs/reference/runs.md#traces). */
export class ReceivedSpans extends Context.Service<
  ReceivedSpans,
  { readonly page: (reference: string, query: SpansQuery) => Effect.Effect<RunSpans, NotFound | SqlError> }
>()("runplane/control-plane/ReceivedSpans") {
  static readonly layer = Layer.effect(
    ReceivedSpans,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runs = yield* RunRepository

      const page = Effect.fn("ReceivedSpans.page")(function* (reference: string, { after, limit }: SpansQuery) {
        const runId = (yield* runs.resolve(reference)) ?? (yield* runNotFound(reference))
        // Positions count from 0, the cursor of a client from 1.
        const rows = yield* sql<{ readonly position: number; readonly node: string }>`
          SELECT position, (node::jsonb - 'answer')::text AS node FROM otlp_seen
          WHERE run_id = ${runId}::uuid AND position >= ${after} ORDER BY position LIMIT ${limit}`
        const data = rows.flatMap(({ node }) => spanOf(decodeNode(node)))
        if (rows.length === 0 && (yield* runs.find(runId))?.record.storage === "archive") {
          return yield* notArchived(runId, "spans")
        }
        const last = rows.at(-1)
        return {
          data,
          nextCursor: last === undefined ? after : last.position + 1,
          hasMore: rows.length === limit
        }
      })
      return ReceivedSpans.of({ page })
    })
  )
}

/** The span of a node; nothing for a log record. */
const spanOf = (node: TraceFoldNode): ReadonlyArray<TraceSpan> => {
  if (!("startedAt" in node)) return []
  const { agent, endedAt, errorMessage, errorType, isError, kind, model, name, parentSpanId, spanId, tool } = node
  const startedAtUnixMs = millisOf(node.startedAt)
  return [
    {
      traceId: node.traceId,
      spanId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      name,
      kind,
      startedAtUnixMs,
      durationMs: Math.max(0, Math.round((millisOf(endedAt) - startedAtUnixMs) * 1_000) / 1_000),
      ...(agent !== undefined && { agent }),
      ...(tool !== undefined && { tool }),
      ...(model !== undefined && { model }),
      ok: isError !== true,
      ...(errorType !== undefined && { errorCode: errorType }),
      ...(errorMessage !== undefined && { errorMessage })
    }
  ]
}

/** Unix nanoseconds, a decimal text, as milliseconds to three decimals. */
const millisOf = (nanos: string): number => Number(BigInt(nanos) / 1_000n) / 1_000
