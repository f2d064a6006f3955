import * as PgClient from "@effect/sql-pg/PgClient"
import {
  isTerminal,
  type RunId,
  type RunStatus,
  resumeTraceFold,
  type TraceFold,
  TraceFoldNode,
  type TraceFoldOptions
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Prices } from "../../../platform/deployment/Prices.ts"
import { batchedReads } from "../../../platform/postgres/Batched.ts"
import { idRows } from "../../../platform/postgres/KeptPlans.ts"
import { sha256Hex } from "../../../platform/Sha256.ts"
import { IngestSettings } from "../IngestSettings.ts"
import { KEYS_PER_READ, MAX_SPANS_PER_RUN, type SpanInboxRow } from "../SpanInbox.ts"

/** Nodes that are decoded at a time, before the thread is given back. */
const NODES_PER_SLICE = 500

/** Spans that one step decides: it holds the thread for some 10 ms, and the next one begins at once. */
const DECISIONS_PER_STEP = 250

const decodeNode = Schema.decodeUnknownSync(Schema.fromJsonString(TraceFoldNode))

/** The fold of a run as this process continues it. */
export interface OpenTraceFold {
  readonly runId: RunId
  readonly source: string
  /** The session that its spans name and may not join. */
  readonly linkedSession: string | undefined
  readonly options: TraceFoldOptions
  state: TraceFold
  /** Spans and log records of the run that are stored. */
  positions: number
  isCreated: boolean
  /** The facts that the run's row has, as JSON. */
  facts: string
  /** Identities of its model calls that other runs have counted. */
  readonly countedElsewhere: Set<string>
  /** Rows of the span inbox that the state has, by ordinal. */
  readonly pending: Map<bigint, SpanInboxRow>
}

/** Reads the fold of a run from its stored nodes. */
export const makeOpenFold = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const prices = yield* Prices
  const { countsJoinedUsage, idleMs, maxStatedCostUsd, parentWaitMs, settleMs } = yield* IngestSettings

  const readRow = batchedReads(sql, KEYS_PER_READ, (runIds: ReadonlyArray<RunId>) =>
    Effect.map(
      sql<StoredRow>`
        SELECT k.run_id::text AS run_id, t.source, t.run_key, l.linked_session, r.status, r.runtime_session_id,
               EXISTS (SELECT FROM runs o WHERE o.runtime_session_id = t.run_key AND o.id <> k.run_id) AS is_taken,
               EXISTS (SELECT FROM run_tombstones d WHERE d.run_id = k.run_id) AS is_deleted,
               e.ended_because
        FROM ${idRows(sql, runIds)} AS k (run_id)
        CROSS JOIN LATERAL (
          SELECT * FROM otlp_traces t WHERE t.run_id = k.run_id ORDER BY t.run_key NULLS FIRST LIMIT 1) AS t
        LEFT JOIN LATERAL (
          SELECT min(o.linked_session) AS linked_session FROM otlp_traces o WHERE o.run_id = k.run_id) AS l ON true
        LEFT JOIN runs r ON r.id = k.run_id
        LEFT JOIN LATERAL (
          SELECT event -> 'data' ->> 'endedBecause' AS ended_because FROM canonical_events
          WHERE run_id = r.id AND type IN ('run.completed', 'run.failed', 'run.corrected')
          ORDER BY seq DESC LIMIT 1) AS e ON r.status IN ('completed', 'failed')`,
      (rows) => new Map(rows.map((row) => [row.run_id, row]))
    )
  )
  const readNodes = (runId: RunId) =>
    sql<{ readonly node: string }>`
      SELECT node::text AS node FROM otlp_seen WHERE run_id = ${runId}::uuid ORDER BY position`

  const optionsOf = (row: StoredRow, runId: RunId, countedElsewhere: ReadonlySet<string>): TraceFoldOptions => ({
    countedElsewhere,
    runId,
    sessionId: row.runtime_session_id ?? (row.is_taken || row.run_key === null ? runId : row.run_key),
    settleMs,
    idleMs,
    parentWaitMs,
    maxSpans: MAX_SPANS_PER_RUN,
    maxStatedCostUsd,
    maxDecisions: DECISIONS_PER_STEP,
    prices,
    sha256: sha256Hex,
    ...(row.run_key === null && { joined: { usage: countsJoinedUsage } })
  })

  return Effect.fn("TraceFolds.open")(function* (runId: RunId) {
    const row = yield* readRow(runId)
    if (row === undefined) return undefined
    if (row.status === null && (row.is_deleted || row.run_key === null)) return "deleted" as const
    const isCreated = row.status !== null
    const nodes = isCreated ? yield* readNodes(runId) : []
    const stored: Array<TraceFoldNode> = []
    for (const { node } of nodes) {
      if (stored.length % NODES_PER_SLICE === NODES_PER_SLICE - 1) yield* Effect.yieldNow
      stored.push(decodeNode(node))
    }
    const isEnded = row.status !== null && isTerminal(row.status)
    const countedElsewhere = new Set<string>()
    return {
      runId,
      source: row.source,
      linkedSession: row.linked_session ?? undefined,
      options: optionsOf(row, runId, countedElsewhere),
      state: resumeTraceFold({ nodes: stored, isCreated, isEnded, isProvisional: row.ended_because === "idle" }),
      positions: nodes.length,
      isCreated,
      facts: "",
      countedElsewhere,
      pending: new Map()
    } satisfies OpenTraceFold
  })
})

interface StoredRow {
  readonly run_id: string
  readonly source: string
  readonly run_key: string | null
  readonly linked_session: string | null
  readonly status: RunStatus | null
  readonly runtime_session_id: string | null
  readonly is_taken: boolean
  readonly is_deleted: boolean
  /** Of a run that has ended: `root` or `idle`. */
  readonly ended_because: string | null
}
