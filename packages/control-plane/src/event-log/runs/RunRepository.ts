import * as PgClient from "@effect/sql-pg/PgClient"
import { isInside } from "@runplane/database"
import { isUuid, OTLP_RUNTIME_KIND, RunId, type RunStatus } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { batchedReads, batchedWrites } from "../../platform/postgres/Batched.ts"
import { bytesOf } from "../../platform/postgres/BoundedRows.ts"
import { idRows } from "../../platform/postgres/KeptPlans.ts"
import { unnestRows } from "../../platform/postgres/UnnestRows.ts"
import { SESSION_ORDER } from "../SessionOrder.ts"
import type { NewRun } from "./NewRun.ts"
import { LARGE_COLUMNS, type RunRow, runColumns, type StoredRun, toStoredRun } from "./RunRow.ts"

/** Most rows that one statement reads for several callers, and the most bytes of one of them. */
const BATCHED_RUNS = 32
const BATCHED_BYTES = 64 * 1024

/** A run to be inserted; see `RunRepository.insert`. */
interface Insertion {
  readonly run: NewRun
  readonly earlier: RunId | undefined
}

const NEW_RUN_COLUMNS = {
  id: "uuid",
  mode: "text",
  mode_name: "text",
  runtime_kind: "text",
  runtime_version: "text",
  session_id: "text",
  trace_id: "text",
  span_id: "text",
  trace_parent: "text",
  idempotency_key: "text",
  source_kind: "text",
  source_ref: "text",
  scenario_ref: "text",
  environment: "text",
  policy_version: "text",
  tags: "json",
  metadata: "json",
  search_text: "text",
  running_since: "timestamptz",
  earlier: "uuid"
} as const

const newRow = ({ earlier, run }: Insertion) => ({
  id: run.id,
  mode: run.mode,
  mode_name: run.modeName,
  runtime_kind: run.runtimeKind,
  runtime_version: run.runtimeVersion ?? null,
  session_id: run.sessionId,
  trace_id: run.traceId,
  span_id: run.spanId,
  trace_parent: run.traceParent ?? null,
  idempotency_key: run.idempotencyKey ?? null,
  source_kind: run.sourceKind ?? null,
  source_ref: run.sourceRef ?? null,
  scenario_ref: run.scenarioRef ?? null,
  environment: run.environment ?? null,
  policy_version: run.policyVersion ?? null,
  tags: JSON.stringify(run.tags),
  metadata: JSON.stringify(run.metadata),
  search_text: run.searchText,
  running_since: run.runningSince ?? null,
  earlier: earlier ?? null
})

/** `source` of runs that the discovery created for sessions without a posted run. */
export const DISCOVERY_SOURCE = "session-discovery"

/**
 * The rows of runs. A `reference` is the parameter of a path: the id of a run, or the id of its session when it is not
 * a UUID (docs/reference/http.md#run-references).
 */
export class RunRepository extends Context.Service<
  RunRepository,
  {
    /**
     * Inserts a queued run, or one that is running already, with its head, at the time of the database, inside of a
     * pipelined transaction only; false when its id, session or idempotency key is taken. `earlier` has had the session
     * and given it up: it may stand beside the new one.
     */
    readonly insert: (run: NewRun, earlier?: RunId) => Effect.Effect<boolean, SqlError>
    /** Removes a run that this transaction has inserted. It has no events yet, and no tombstone. */
    readonly removeInserted: (runId: RunId) => Effect.Effect<void, SqlError>
    /** Adds keys to the metadata of a run that has ended. */
    readonly addMetadata: (runId: RunId, keys: Schema.JsonObject) => Effect.Effect<void, SqlError>
    /** Gives a discovered run the descriptor's values, once; false when it is claimed already or the key is taken. */
    readonly claim: (run: NewRun, at: string) => Effect.Effect<boolean, SqlError>
    readonly find: (reference: string) => Effect.Effect<StoredRun | undefined, SqlError>
    /** The same as a row; callers that read at the same time share a statement. Outside of transactions only. */
    readonly row: (reference: string) => Effect.Effect<RunRow | undefined, SqlError>
    readonly findByIdempotencyKey: (key: string) => Effect.Effect<StoredRun | undefined, SqlError>
    readonly findBySession: (sessionId: string) => Effect.Effect<StoredRun | undefined, SqlError>
    /** The id behind a reference; undefined when there is no such run. */
    readonly resolve: (reference: string) => Effect.Effect<RunId | undefined, SqlError>
    readonly status: (runId: RunId) => Effect.Effect<RunStatus | undefined, SqlError>
  }
>()("runplane/control-plane/RunRepository") {
  static readonly layer = Layer.effect(
    RunRepository,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const columns = sql.literal(runColumns)

      /** Each run at most once; returns the ids of the inserted ones. */
      const insertOnce = (insertions: ReadonlyArray<Insertion>) =>
        Effect.map(
          sql<{ readonly run_id: string }>`
            WITH given AS (
              SELECT *, date_trunc('milliseconds', clock_timestamp()) AS at
              FROM ${unnestRows(sql, insertions.map(newRow), NEW_RUN_COLUMNS, { ordinal: true })} AS g
            ), run AS (
              INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_version, runtime_session_id, trace_id,
                                span_id, trace_parent, idempotency_key, source_kind, source_ref, scenario_ref, environment,
                                policy_version, tags, metadata, search_text, created_at, updated_at, started_at)
              SELECT g.id, CASE WHEN g.running_since IS NULL THEN 'queued' ELSE 'running' END, g.mode, g.mode_name, g.runtime_kind, g.runtime_version, g.session_id, g.trace_id,
                     g.span_id, g.trace_parent, g.idempotency_key, g.source_kind, g.source_ref, g.scenario_ref,
                     g.environment, g.policy_version,
                     ARRAY(SELECT tag FROM json_array_elements_text(g.tags) WITH ORDINALITY AS t (tag, n) ORDER BY n),
                     g.metadata, fold_text(g.search_text), g.at, g.at, g.running_since
              FROM given g
              WHERE ${isInside(sql)} AND NOT EXISTS (
                SELECT FROM runs other
                WHERE other.runtime_session_id = g.session_id AND other.id IS DISTINCT FROM g.earlier
                  AND (other.runtime_kind = ${OTLP_RUNTIME_KIND}) = (g.runtime_kind = ${OTLP_RUNTIME_KIND}))
              ORDER BY g.ordinal
              ON CONFLICT DO NOTHING
              RETURNING id
            )
            INSERT INTO run_heads (run_id, chain_version) SELECT id, 2 FROM run RETURNING run_id::text AS run_id`,
          (rows) => new Set(rows.map(({ run_id }) => run_id))
        )

      /** Of several insertions of one run only the first can succeed, so the others run after it. */
      const insertAll = (insertions: ReadonlyArray<Insertion>): Effect.Effect<ReadonlyArray<boolean>, SqlError> =>
        Effect.gen(function* () {
          const first = new Map<string, Insertion>()
          for (const insertion of insertions) {
            if (!first.has(insertion.run.id)) first.set(insertion.run.id, insertion)
          }
          const inserted = yield* insertOnce([...first.values()])
          const others = insertions.filter((insertion) => first.get(insertion.run.id) !== insertion)
          const later = others.length === 0 ? [] : yield* insertAll(others)
          let next = 0
          return insertions.map((insertion) =>
            first.get(insertion.run.id) === insertion ? inserted.has(insertion.run.id) : (later[next++] ?? false)
          )
        })
      const insertBatched = batchedWrites(sql, insertAll)
      const insert = Effect.fn("RunRepository.insert")((run: NewRun, earlier?: RunId) =>
        insertBatched({ run, earlier })
      )
      const removeInserted = (runId: RunId) => Effect.asVoid(sql`DELETE FROM runs WHERE id = ${runId}::uuid`)

      // Values that the run received after its discovery stay; those of the discovery are replaced.
      const claim = Effect.fn("RunRepository.claim")((run: NewRun, at: string) =>
        Effect.map(
          sql`
            UPDATE runs SET mode = ${run.mode}, runtime_version = ${run.runtimeVersion ?? null},
                            idempotency_key = ${run.idempotencyKey ?? null}, source_kind = ${run.sourceKind ?? null},
                            source_ref = ${run.sourceRef ?? null}, scenario_ref = ${run.scenarioRef ?? null},
                            environment = ${run.environment ?? null},
                            policy_version = coalesce(${run.policyVersion ?? null}, policy_version),
                            tags = ${run.tags}::text[],
                            metadata = ((metadata::jsonb - 'source') || ${JSON.stringify(run.metadata)}::text::jsonb)::json,
                            search_text = fold_text(${run.searchText}::text), updated_at = ${at}::timestamptz
            WHERE id = ${run.id}::uuid AND source_kind = ${DISCOVERY_SOURCE}
              AND NOT EXISTS (SELECT FROM runs other WHERE other.idempotency_key = ${run.idempotencyKey ?? null})
            RETURNING id`,
          (rows) => rows.length > 0
        )
      )

      const addMetadata = Effect.fn("RunRepository.addMetadata")((runId: RunId, keys: Schema.JsonObject) =>
        Effect.asVoid(sql`
          UPDATE runs SET metadata = (metadata::jsonb || ${JSON.stringify(keys)}::text::jsonb)::json
          WHERE id = ${runId}::uuid`)
      )

      const named = (reference: string) =>
        isUuid(reference) ? sql`r.id = ${reference}::uuid` : sql`r.runtime_session_id = ${reference}`

      const latest = sql`${sql.literal(SESSION_ORDER)} LIMIT 1`

      const readOne = (condition: ReturnType<typeof named>) =>
        Effect.map(
          sql<RunRow>`
            SELECT ${columns} FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE ${condition} ${latest}`,
          ([row]) => row
        )
      const findOne = (condition: ReturnType<typeof named>) =>
        Effect.map(readOne(condition), (row) => row && toStoredRun(row))

      /** The rows of many runs without the large ones. */
      const readMany = (ids: ReadonlyArray<string>) =>
        Effect.map(
          sql<RunRow>`
            SELECT run.* FROM ${idRows(sql, ids)} AS requested (id)
            CROSS JOIN LATERAL (
              SELECT ${columns} FROM runs r JOIN run_heads h ON h.run_id = r.id
              WHERE r.id = requested.id AND ${sql.literal(bytesOf(LARGE_COLUMNS))} <= ${BATCHED_BYTES} LIMIT 1
            ) AS run`,
          (rows) => new Map(rows.map((row) => [row.id, row]))
        )
      const batchedRow = batchedReads(sql, BATCHED_RUNS, readMany)
      const row = (reference: string) =>
        isUuid(reference)
          ? Effect.flatMap(batchedRow(reference.toLowerCase()), (found) =>
              found === undefined ? readOne(named(reference)) : Effect.succeed(found)
            )
          : readOne(named(reference))

      const find = Effect.fn("RunRepository.find")((reference: string) => findOne(named(reference)))
      const findByIdempotencyKey = Effect.fn("RunRepository.findByIdempotencyKey")((key: string) =>
        findOne(sql`r.idempotency_key = ${key}`)
      )
      const findBySession = Effect.fn("RunRepository.findBySession")((sessionId: string) =>
        findOne(sql`r.runtime_session_id = ${sessionId}`)
      )

      const resolve = Effect.fn("RunRepository.resolve")((reference: string) =>
        Effect.map(
          sql<{ readonly id: string }>`SELECT r.id::text AS id FROM runs r WHERE ${named(reference)} ${latest}`,
          ([row]) => row && RunId.make(row.id)
        )
      )
      const status = Effect.fn("RunRepository.status")((runId: RunId) =>
        Effect.map(
          sql<{ readonly status: RunStatus }>`SELECT status FROM runs WHERE id = ${runId}::uuid`,
          ([row]) => row?.status
        )
      )

      return RunRepository.of({
        insert,
        removeInserted,
        addMetadata,
        claim,
        find,
        row,
        findByIdempotencyKey,
        findBySession,
        resolve,
        status
      })
    })
  )
}
