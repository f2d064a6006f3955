import * as PgClient from "@effect/sql-pg/PgClient"
import type { TombstoneReason } from "@runplane/api"
import { OTLP_RUNTIME_KIND, RunId, type RunMetrics, type RunStatus } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { insertPending, pendingEntry } from "../../platform/ledger/PendingEntries.ts"
import { SealKeys } from "../../platform/ledger/SealKeys.ts"
import { type DeletionHook, DeletionHooks } from "./DeletionHooks.ts"
import { searchTextOf } from "./NewRun.ts"
import { hasStatus } from "./RunColumns.ts"
import { type TombstoneRow, tombstoneColumns, tombstoneSubject, toTombstone } from "./TombstoneRow.ts"

/** The tag that every archived run carries. */
const ARCHIVED_TAG = "archived"

/** Who deletes runs, and when (ISO-8601): a caller, or retention because of their age. */
export interface Deletion {
  readonly reason: TombstoneReason
  readonly by: string
  readonly at: string
}

/** What a rebuild writes beside the projection. */
export interface RebuiltMetrics {
  readonly metrics: RunMetrics
  readonly intent: string | undefined
}

/** Changes to the rows of a run that are not part of its life: all for use inside a transaction. */
export class RunAdministration extends Context.Service<
  RunAdministration,
  {
    /**
     * Archives a run or undoes that: sets `archivedAt`, unless it is set, and adds the tag, or removes both. Returns
     * false when the run does not exist.
     */
    readonly setArchived: (runId: RunId, isArchived: boolean, at: string) => Effect.Effect<boolean, SqlError>
    /** Adds a tag to a run that does not have it. Returns false when the run does not exist. */
    readonly addTag: (runId: RunId, tag: string, at: string) => Effect.Effect<boolean, SqlError>
    /** Makes every process forget the run's projection as it remembers it (see `ProjectionCache`). */
    readonly raiseRevision: (runId: RunId) => Effect.Effect<void, SqlError>
    /**
     * Makes an ended run a change for the archive when a rebuild replaces its stored metrics or its intent by these.
     * For use inside the rebuild, before the rows are written.
     */
    readonly noteRebuild: (runId: RunId, rebuilt: RebuiltMetrics) => Effect.Effect<void, SqlError>
    /**
     * Locks the runs, as an append does, and answers the status of those that exist: nothing is added to them, and none
     * of them changes, before the transaction ends.
     */
    readonly lock: (runIds: ReadonlyArray<RunId>) => Effect.Effect<ReadonlyMap<RunId, RunStatus>, SqlError>
    /**
     * Deletes every row of locked runs: those of features by their hooks, log, projection, counters, messages, and with
     * the run itself its session, head and artifacts. Triggers delete their rows in the tables of cross-run reads.
     * Webhook deliveries stay until they are delivered or retention deletes them by their age. Each run leaves a
     * tombstone (docs/reference/seal.md#tombstones).
     */
    readonly remove: (runIds: ReadonlyArray<RunId>, deletion: Deletion) => Effect.Effect<void, SqlError>
    /**
     * Deletes a run that retention has deleted, and of which files may have rows: inserts a tombstone. The archive
     * writes the tombstone to a file, and readers of files skip the run. The hooks of features run as well. Returns the
     * status of the run; undefined for an unknown run.
     */
    readonly removeArchived: (runId: RunId, deletion: Deletion) => Effect.Effect<RunStatus | undefined, SqlError>
  }
>()("runplane/control-plane/RunAdministration") {
  static readonly layer = Layer.effect(
    RunAdministration,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { current } = yield* SealKeys
      const followDeletion = followAll(yield* DeletionHooks)

      const setArchived = Effect.fn("RunAdministration.setArchived")(function* (
        runId: RunId,
        isArchived: boolean,
        at: string
      ) {
        const [row] = yield* sql<ArchivedRow>`
          SELECT tags, scenario_ref, environment, source_ref, policy_version, archived_at FROM runs
          WHERE id = ${runId}::uuid FOR NO KEY UPDATE`
        if (row === undefined) return false
        const isTagged = row.tags.includes(ARCHIVED_TAG)
        if (isArchived ? row.archived_at !== null && isTagged : row.archived_at === null) return true
        const others = row.tags.filter((tag) => tag !== ARCHIVED_TAG)
        const tags = isArchived ? (isTagged ? row.tags : [...others, ARCHIVED_TAG]) : others
        const searchText = searchTextOfRow(runId, row, tags)
        const archivedAt = isArchived
          ? sql`coalesce(archived_at, greatest(updated_at, ${at}::timestamptz))`
          : sql`NULL::timestamptz`
        yield* sql`
          UPDATE runs SET archived_at = ${archivedAt},
                          tags = ${tags}::text[], search_text = fold_text(${searchText}::text),
                          updated_at = greatest(updated_at, ${at}::timestamptz)
          WHERE id = ${runId}::uuid`
        return true
      })

      const addTag = Effect.fn("RunAdministration.addTag")(function* (runId: RunId, tag: string, at: string) {
        const [row] = yield* sql<ArchivedRow>`
          SELECT tags, scenario_ref, environment, source_ref, policy_version, archived_at FROM runs
          WHERE id = ${runId}::uuid FOR NO KEY UPDATE`
        if (row === undefined) return false
        if (row.tags.includes(tag)) return true
        const tags = [...row.tags, tag]
        yield* sql`
          UPDATE runs SET tags = ${tags}::text[], search_text = fold_text(${searchTextOfRow(runId, row, tags)}::text),
                          updated_at = greatest(updated_at, ${at}::timestamptz)
          WHERE id = ${runId}::uuid`
        return true
      })

      const raiseRevision = Effect.fn("RunAdministration.raiseRevision")((runId: RunId) =>
        Effect.asVoid(sql`
          UPDATE run_heads SET projection_revision = projection_revision + 1 WHERE run_id = ${runId}::uuid`)
      )

      const noteRebuild = Effect.fn("RunAdministration.noteRebuild")(
        (runId: RunId, { intent, metrics }: RebuiltMetrics) =>
          Effect.asVoid(sql`
            SELECT note_archive_change('runs', r.id) FROM runs r JOIN run_metrics m ON m.run_id = r.id
            WHERE r.id = ${runId}::uuid AND ${hasStatus(sql, "ended", "r")}
              AND (m.metrics::text <> ${JSON.stringify(metrics)} OR m.intent IS DISTINCT FROM ${intent ?? null}::text)`)
      )

      const lock = Effect.fn("RunAdministration.lock")((runIds: ReadonlyArray<RunId>) =>
        Effect.map(
          sql<{ readonly id: string; readonly status: RunStatus }>`
            SELECT r.id::text AS id, r.status FROM runs r JOIN run_heads h ON h.run_id = r.id
            WHERE r.id = ANY(${runIds}::text[]::uuid[]) ORDER BY r.id FOR UPDATE OF r, h`,
          (rows) => new Map(rows.map(({ id, status }) => [RunId.make(id), status]))
        )
      )

      const enterLedger = (buried: ReadonlyArray<TombstoneRow>) =>
        insertPending(
          sql,
          buried
            .map(toTombstone)
            .map((tombstone) => pendingEntry(current, "tombstone", tombstoneSubject(tombstone), tombstone))
        )

      const removeArchived = Effect.fn("RunAdministration.removeArchived")(function* (
        runId: RunId,
        { at, by, reason }: Deletion
      ) {
        // A statement of its own: the next one reads what a concurrent deletion has committed.
        yield* sql`SELECT FROM run_tombstones WHERE run_id = ${runId}::uuid ORDER BY id DESC LIMIT 1 FOR UPDATE`
        const buried = yield* sql<TombstoneRow>`
          INSERT INTO run_tombstones (run_id, status, events, reason, deleted_at, deleted_by, seal, run_created_at,
                                      first_seq, last_seq)
          SELECT t.run_id, t.status, t.events, ${reason}, ${at}::timestamptz, ${by}, t.seal, t.run_created_at,
                 t.first_seq, t.last_seq
          FROM (SELECT * FROM run_tombstones WHERE run_id = ${runId}::uuid ORDER BY id DESC LIMIT 1) AS t
          JOIN archive_state s ON s.seq >= t.first_seq
          WHERE t.reason = 'expired' AND t.erased_at IS NULL
            AND NOT EXISTS (SELECT FROM runs r WHERE r.id = t.run_id)
          RETURNING ${tombstoneColumns(sql)}`
        yield* enterLedger(buried)
        if (buried.length > 0) yield* followDeletion([runId], reason)
        return buried[0]?.status
      })

      const remove = Effect.fn("RunAdministration.remove")(function* (
        runIds: ReadonlyArray<RunId>,
        deletion: Deletion
      ) {
        const theirs = sql`run_id = ANY(${runIds}::text[]::uuid[])`
        // What follows the log locks a run before it writes a row of it: behind this lock it finds no run.
        yield* sql`SELECT FROM runs WHERE id = ANY(${runIds}::text[]::uuid[]) ORDER BY id FOR UPDATE`
        const buried = yield* sql<TombstoneRow>`
          INSERT INTO run_tombstones (run_id, status, events, reason, deleted_at, deleted_by, seal, run_created_at,
                                      first_seq, last_seq)
          SELECT r.id, r.status, h.last_index, ${deletion.reason}, ${deletion.at}::timestamptz, ${deletion.by},
                 (SELECT seal FROM run_seals s WHERE s.run_id = r.id ORDER BY s.events DESC LIMIT 1), r.created_at,
                 (SELECT min(seq) FROM canonical_events e WHERE e.run_id = r.id), h.last_seq
          FROM runs r JOIN run_heads h ON h.run_id = r.id
          WHERE r.id = ANY(${runIds}::text[]::uuid[]) ORDER BY r.id
          RETURNING ${tombstoneColumns(sql)}`
        yield* enterLedger(buried)
        yield* followDeletion(runIds, deletion.reason)
        yield* sql`DELETE FROM canonical_events WHERE ${theirs}`
        yield* sql`DELETE FROM raw_events WHERE ${theirs}`
        yield* sql`DELETE FROM outbound_messages WHERE ${theirs}`
        yield* sql`DELETE FROM projections WHERE ${theirs}`
        yield* sql`DELETE FROM run_metrics WHERE ${theirs}`
        // The runtime may list the sessions for longer, and discovery must not make runs of them again.
        yield* sql`
          INSERT INTO deleted_sessions (runtime_session_id, deleted_at)
          SELECT DISTINCT runtime_session_id, now() FROM runs
          WHERE id = ANY(${runIds}::text[]::uuid[]) AND runtime_kind <> ${OTLP_RUNTIME_KIND}
          ON CONFLICT (runtime_session_id) DO UPDATE SET deleted_at = excluded.deleted_at`
        yield* sql`DELETE FROM deleted_sessions WHERE deleted_at < now() - interval '30 days'`
        yield* sql`DELETE FROM runs WHERE id = ANY(${runIds}::text[]::uuid[])`
      })
      return RunAdministration.of({
        ...{ setArchived, addTag, raiseRevision, noteRebuild },
        ...{ lock, remove, removeArchived }
      })
    })
  )
}

const followAll = (hooks: ReadonlyArray<DeletionHook>) => (runIds: ReadonlyArray<RunId>, reason: TombstoneReason) =>
  Effect.forEach(hooks, (hook) => hook(runIds, reason), { discard: true })

const searchTextOfRow = (id: RunId, row: ArchivedRow, tags: ReadonlyArray<string>): string =>
  searchTextOf({
    id,
    tags,
    scenarioRef: row.scenario_ref ?? undefined,
    environment: row.environment ?? undefined,
    sourceRef: row.source_ref ?? undefined,
    policyVersion: row.policy_version ?? undefined
  })

interface ArchivedRow {
  readonly tags: ReadonlyArray<string>
  readonly scenario_ref: string | null
  readonly environment: string | null
  readonly source_ref: string | null
  readonly policy_version: string | null
  readonly archived_at: Date | null
}
