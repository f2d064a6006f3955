import * as PgClient from "@effect/sql-pg/PgClient"
import {
  CORRECT,
  isTerminal,
  judgementOf,
  OTLP_MODE_NAME,
  OTLP_RUNTIME_KIND,
  type RunFacts,
  type RunId,
  type RunStatus,
  resumeTraceFold,
  type TraceFold,
  TraceFoldNode,
  type TraceFoldOptions,
  type TraceFoldStep
} from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { RunAlreadyExists, RunEnd, RunNotFound } from "../../event-log/append/AppendRequest.ts"
import { EventLog } from "../../event-log/EventLog.ts"
import { ArtifactRepository } from "../../event-log/runs/ArtifactRepository.ts"
import { type NewRun, searchTextOf } from "../../event-log/runs/NewRun.ts"
import { RunRepository } from "../../event-log/runs/RunRepository.ts"
import { TelemetryMarks } from "../../marks/TelemetryMarks.ts"
import { callsKeptMs } from "../../platform/CallsKept.ts"
import { Prices } from "../../platform/deployment/Prices.ts"
import { Ids } from "../../platform/Ids.ts"
import type { AppendFailed } from "../../platform/postgres/AppendFailed.ts"
import { batchedReads, batchedWrites } from "../../platform/postgres/Batched.ts"
import { idRows } from "../../platform/postgres/KeptPlans.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { sha256Hex } from "../../platform/Sha256.ts"
import { countedCalls, makeCountedCalls } from "./CountedCalls.ts"
import { IngestSettings } from "./IngestSettings.ts"
import { KEYS_PER_READ, MAX_SPANS_PER_RUN, removal, type SpanInboxRow, type TraceRef } from "./SpanInbox.ts"

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

/**
 * The folds of runs: read from the stored nodes, and continued by appends
 * (docs/reference/ingest.md#exactly-once).
 */
export class TraceFolds extends Context.Service<
  TraceFolds,
  {
    /** `deleted` when the run is deleted: its traces need another. Undefined when no trace is bound to the run. */
    readonly open: (runId: RunId) => Effect.Effect<OpenTraceFold | "deleted" | undefined, SqlError>
    /**
     * Appends what a step decided, stores its marks, and removes the consumed rows from the span inbox in the same
     * transaction. Fails when another process has continued the fold: it is opened again then.
     */
    readonly append: (
      fold: OpenTraceFold,
      step: TraceFoldStep,
      rows: ReadonlyArray<SpanInboxRow>
    ) => Effect.Effect<StoredMarks, SqlError | AppendFailed | RunNotFound | RunAlreadyExists>
    /** Identities of the model calls of a step that another run has counted: the step is to be made again then. */
    readonly countedElsewhere: (
      fold: OpenTraceFold,
      step: TraceFoldStep
    ) => Effect.Effect<ReadonlyArray<string>, SqlError>
    /** Removes what no later step needs. Call it every few seconds. */
    readonly removeOld: Effect.Effect<void, SqlError>
    /** Releases the traces that were bound to a run while it was deleted, and returns them. */
    readonly release: (runId: RunId) => Effect.Effect<ReadonlyArray<TraceRef>, SqlError>
    /** Runs of OpenTelemetry that have not ended, with their sources. */
    readonly unfinished: Effect.Effect<ReadonlyArray<{ readonly runId: RunId; readonly source: string }>, SqlError>
  }
>()("runplane/control-plane/TraceFolds") {
  static readonly layer = Layer.effect(
    TraceFolds,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const keptMs = yield* callsKeptMs
      const artifacts = yield* ArtifactRepository
      const ids = yield* Ids
      const log = yield* EventLog
      const prices = yield* Prices
      const marks = yield* TelemetryMarks
      const repository = yield* RunRepository
      const calls = yield* makeCountedCalls
      const { countsJoinedUsage, idleMs, maxStatedCostUsd, parentWaitMs, settleMs, truth } = yield* IngestSettings

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

      const open = Effect.fn("TraceFolds.open")(function* (runId: RunId) {
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
        const options: TraceFoldOptions = {
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
        }
        return {
          runId,
          source: row.source,
          linkedSession: row.linked_session ?? undefined,
          options,
          state: resumeTraceFold({ nodes: stored, isCreated, isEnded, isProvisional: row.ended_because === "idle" }),
          positions: nodes.length,
          isCreated,
          facts: "",
          countedElsewhere,
          pending: new Map()
        } satisfies OpenTraceFold
      })

      /** Rows of the span inbox become rows of the fold. A position that is taken fails the transaction. */
      const consume = batchedWrites(sql, (taken: ReadonlyArray<Taken>) => {
        const seen = taken.flatMap(({ step: { consumed }, fold: { positions, runId } }) =>
          consumed
            .flatMap(({ key, node }) => (node === undefined ? [] : [{ key, node: JSON.stringify(node) }]))
            .map((one, index) => ({ ...one, run_id: runId, position: positions + index }))
        )
        return Effect.as(
          sql`
            WITH removed AS (
              ${removal(
                sql,
                taken.flatMap(({ rows }) => rows)
              )}
            ), claimed AS (
              ${calls.claim(
                taken.flatMap(({ step, fold: { runId, source } }) =>
                  countedCalls(source, step).map(({ call }) => ({ call, run_id: runId }))
                )
              )}
            ), counted AS (
              UPDATE otlp_traces t SET bytes = t.bytes + r.bytes
              FROM (SELECT source, trace_id, sum(bytes)::bigint AS bytes FROM removed GROUP BY source, trace_id) AS r
              WHERE t.source = r.source AND t.trace_id = r.trace_id
            )
            INSERT INTO otlp_seen (run_id, position, key, node)
            SELECT run_id, position, key, node FROM ${unnestRows(sql, seen, SEEN_COLUMNS)} AS s
            ORDER BY run_id, position`,
          taken.map(() => true)
        )
      })

      const update = (fold: OpenTraceFold, facts: RunFacts, at: string) => {
        const { environment, metadata, policyVersion, scenarioRef, searchText, sourceRef, tags } = columnsOf(
          fold,
          facts
        )
        return sql`
          UPDATE runs SET source_ref = ${sourceRef ?? null}, scenario_ref = ${scenarioRef ?? null},
                          environment = ${environment ?? null}, policy_version = ${policyVersion ?? null},
                          tags = ${tags}::text[],
                          metadata = (metadata::jsonb || ${JSON.stringify(metadata)}::text::jsonb)::json,
                          search_text = fold_text(${searchText}::text),
                          updated_at = greatest(updated_at, ${at}::timestamptz)
          WHERE id = ${fold.runId}::uuid`
      }

      /** Sums count the run at its first span, like its calls (docs/reference/alerts.md#late). */
      const count = (runId: RunId, firstSpanAt: string) => sql`
        UPDATE runs SET counted_at = ${firstSpanAt}::timestamptz
        WHERE id = ${runId}::uuid AND counted_at IS DISTINCT FROM ${firstSpanAt}::timestamptz
          AND ${firstSpanAt}::timestamptz < created_at
          AND ${firstSpanAt}::timestamptz > created_at - make_interval(secs => ${keptMs / 1_000}::float8)`

      const append = Effect.fn("TraceFolds.append")(function* (
        fold: OpenTraceFold,
        step: TraceFoldStep,
        rows: ReadonlyArray<SpanInboxRow>
      ) {
        const { runId } = fold
        const facts = JSON.stringify(step.facts)
        const isNew = !fold.isCreated && step.events.length > 0
        const judgements = step.marks.map((mark) => ({ ...mark, ...judgementOf(mark, fold.options) }))
        const statesTruth = truth === "all" || (truth === "own" && fold.options.joined === undefined)
        const stated = statesTruth ? judgements : judgements.filter(({ name }) => name !== CORRECT)
        let storedMarks = 0
        let areFactsStored = isNew
        const also = (at: string) =>
          Effect.gen(function* () {
            if (rows.length > 0) yield* consume({ fold, step, rows })
            for (const { artifactId: id, content, kind, label } of step.artifacts) {
              yield* artifacts.insert({ id, runId, kind, label, inline: { text: content }, createdAt: at })
            }
            const isChanged = fold.isCreated && fold.options.joined === undefined && facts !== fold.facts
            if (isChanged) yield* update(fold, step.facts, at)
            if ((isNew || isChanged) && step.facts.startedAt !== undefined) yield* count(runId, step.facts.startedAt)
            areFactsStored ||= isChanged
            if (stated.length > 0) storedMarks = yield* marks.add(runId, fold.source, stated, at)
          })
        const { events } = step
        const end = step.end && endOf(step.end)
        if (isNew) {
          const insert = repository.insert(yield* newRun(fold, step, rows))
          yield* log.create({ runId, insert, events, also, ...(end !== undefined && { end }) })
        } else if (end !== undefined) {
          yield* log.change({ runId, ...end, events: () => events, maxEvents: events.length, also })
        } else if (events.length > 0 || rows.length > 0) {
          const correction = step.correction && endOf(step.correction)
          yield* fold.isCreated
            ? log.record({ runId, events, also, ...(correction !== undefined && { correction }) })
            : sql.withTransaction(also(""))
        }
        fold.positions += step.consumed.filter(({ node }) => node !== undefined).length
        fold.isCreated ||= isNew
        // A step without events writes nothing: the next one that does has these facts.
        if (areFactsStored) fold.facts = facts
        fold.state = step.state
        for (const { ordinal } of rows) fold.pending.delete(ordinal)
        return { stored: storedMarks, dropped: judgements.length - storedMarks }
      })

      const newRun = Effect.fnUntraced(function* (
        fold: OpenTraceFold,
        step: TraceFoldStep,
        rows: ReadonlyArray<SpanInboxRow>
      ) {
        const run: NewRun = {
          ...columnsOf(fold, step.facts),
          id: fold.runId,
          mode: "live",
          modeName: OTLP_MODE_NAME,
          runtimeKind: OTLP_RUNTIME_KIND,
          runtimeVersion: undefined,
          sessionId: fold.options.sessionId,
          traceId: rows[0]?.traceId ?? (yield* ids.traceId),
          spanId: yield* ids.spanId,
          traceParent: undefined,
          idempotencyKey: undefined,
          sourceKind: OTLP_RUNTIME_KIND,
          runningSince: step.startedAt
        }
        return run
      })

      const unfinished = Effect.map(
        sql<{ readonly id: RunId; readonly source: string | null }>`
          SELECT id::text AS id, metadata ->> 'source' AS source
          FROM runs WHERE status = 'running' AND runtime_kind = ${OTLP_RUNTIME_KIND}`,
        (rows) => rows.map(({ id, source }) => ({ runId: id, source: source ?? "" }))
      ).pipe(Effect.withTracerEnabled(false))

      const release = Effect.fn("TraceFolds.release")((runId: RunId) =>
        Effect.map(
          sql<{ readonly source: string; readonly trace_id: string }>`
            DELETE FROM otlp_traces t WHERE run_id = ${runId}::uuid AND NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run_id)
            RETURNING source, trace_id`,
          (rows) => rows.map(({ source, trace_id }): TraceRef => ({ source, traceId: trace_id }))
        )
      )

      const countedElsewhere = (fold: OpenTraceFold, step: TraceFoldStep) =>
        calls.countedElsewhere(fold.runId, countedCalls(fold.source, step))

      return TraceFolds.of({ open, append, countedElsewhere, removeOld: calls.removeOld, release, unfinished })
    })
  )
}

/** The end that a step gives the run, as the log takes it. */
const endOf = ({
  endedAt,
  errorCode = "APPLICATION_ERROR",
  errorMessage = errorCode,
  startedAt,
  status
}: NonNullable<TraceFoldStep["correction"]>): RunEnd => ({
  to: status,
  times: { startedAt, endedAt },
  ...(status === "failed" && { failure: { errorCode, errorMessage } })
})

/** Rows of the span inbox that a step of a fold takes. */
interface Taken {
  readonly fold: OpenTraceFold
  readonly step: TraceFoldStep
  readonly rows: ReadonlyArray<SpanInboxRow>
}

/** Judgements of a step. A repetition counts as dropped. */
export interface StoredMarks {
  readonly stored: number
  readonly dropped: number
}

const SEEN_COLUMNS = { run_id: "uuid", position: "int", key: "text", node: "json" } as const

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

/** How many spans no event of the run says anything of, and the scopes of their instrumentations. */
const unreadOf = (unread: NonNullable<RunFacts["unread"]>) => ({
  count: Object.values(unread).reduce((sum, spans) => sum + spans, 0),
  scopes: unread
})

/** The values of a run's row that follow from its spans. */
const columnsOf = ({ linkedSession, runId, source }: OpenTraceFold, facts: RunFacts) => {
  const columns = {
    scenarioRef: facts.name,
    sourceRef: facts.sourceRef,
    environment: facts.environment,
    policyVersion: facts.policy,
    tags: facts.tags
  }
  const metadata = {
    ...facts.metadata,
    source,
    ...(linkedSession !== undefined && { linkedSession }),
    ...(facts.startedAt !== undefined && { firstSpanAt: facts.startedAt }),
    ...(facts.name !== undefined && { scenarioRef: facts.name }),
    ...(facts.sourceRef !== undefined && { sourceRef: facts.sourceRef }),
    ...(facts.models.length > 0 && { models: facts.models }),
    ...(facts.unread !== undefined && { unreadSpans: unreadOf(facts.unread) })
  }
  return { ...columns, metadata, searchText: searchTextOf({ id: runId, ...columns }) }
}
