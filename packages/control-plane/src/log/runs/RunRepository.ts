import * as PgClient from "@effect/sql-pg/PgClient"
import { isUuid, RunId, type RunStatus } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { NewRun } from "./NewRun.ts"
import { type RunRow, runColumns, type StoredRun, toStoredRun } from "./RunRow.ts"

/** `source` of runs that were made of a session which nobody had posted. */
export const DISCOVERY_SOURCE = "session-discovery"

/**
 * The rows of runs. A `reference` is what stands in a path: the id of a run, or the id of its session when that is not
 * a UUID (docs/http.md#run-references).
 */
export class RunRepository extends Context.Service<
  RunRepository,
  {
    /**
     * Inserts a queued run with its head; false when its id, session or idempotency key is taken. `earlier` has had the
     * session and given it up: it may stand beside the new one.
     */
    readonly insert: (run: NewRun, at: string, earlier?: RunId) => Effect.Effect<boolean, SqlError>
    /** Adds keys to the metadata of a run that has ended. */
    readonly addMetadata: (runId: RunId, keys: Schema.JsonObject) => Effect.Effect<void, SqlError>
    /** Gives a discovered run the descriptor's values, once; false when it is claimed already or the key is taken. */
    readonly claim: (run: NewRun, at: string) => Effect.Effect<boolean, SqlError>
    readonly find: (reference: string) => Effect.Effect<StoredRun | undefined, SqlError>
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

      const insert = Effect.fn("RunRepository.insert")((run: NewRun, at: string, earlier?: RunId) =>
        Effect.map(
          sql`
            WITH run AS (
              INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_version, runtime_session_id, trace_id,
                                span_id, trace_parent, idempotency_key, source_kind, source_ref, scenario_ref, environment,
                                policy_version, tags, metadata, search_text, created_at, updated_at)
              SELECT ${run.id}::uuid, 'queued', ${run.mode}, ${run.modeName}, ${run.runtimeKind},
                      ${run.runtimeVersion ?? null}, ${run.sessionId}, ${run.traceId}, ${run.spanId},
                      ${run.traceParent ?? null}, ${run.idempotencyKey ?? null}, ${run.sourceKind ?? null}, ${run.sourceRef ?? null},
                      ${run.scenarioRef ?? null}, ${run.environment ?? null}, ${run.policyVersion ?? null},
                      ${run.tags}::text[], ${JSON.stringify(run.metadata)}::text::json, ${run.searchText},
                      ${at}::timestamptz, ${at}::timestamptz
              WHERE NOT EXISTS (
                SELECT FROM runs other
                WHERE other.runtime_session_id = ${run.sessionId} AND other.id IS DISTINCT FROM ${earlier ?? null}::uuid)
              ON CONFLICT DO NOTHING
              RETURNING id
            )
            INSERT INTO run_heads (run_id) SELECT id FROM run RETURNING run_id`,
          (rows) => rows.length > 0
        )
      )

      // What the run has gained since its discovery stays; what the discovery itself said gives way.
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
                            search_text = ${run.searchText}, updated_at = ${at}::timestamptz
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

      // A run that gave its session up stands behind the one that got it.
      const latest = sql`ORDER BY (r.error_code IS NOT DISTINCT FROM 'RUNTIME_TIMEOUT'), r.created_at DESC LIMIT 1`

      const findOne = (condition: ReturnType<typeof named>) =>
        Effect.map(
          sql<RunRow>`
            SELECT ${columns} FROM runs r JOIN run_heads h ON h.run_id = r.id WHERE ${condition} ${latest}`,
          ([row]) => row && toStoredRun(row)
        )

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
        addMetadata,
        claim,
        find,
        findByIdempotencyKey,
        findBySession,
        resolve,
        status
      })
    })
  )
}
