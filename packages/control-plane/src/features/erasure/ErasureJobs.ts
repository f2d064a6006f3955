import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type BadRequest,
  badRequest,
  type Conflict,
  type ErasureJob,
  erasureConflict,
  erasureNotFound,
  MAX_LISTED_MEMBERS,
  type NewErasureJob,
  type NotFound,
  runQueryFields,
  searchTooSlow
} from "@runplane/api"
import { isoTime, parseQuery, RunId } from "@runplane/domain"
import type { TurnRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { ColdErasures } from "../../event-log/erasure/ColdErasures.ts"
import { AuditTrail, type Caller } from "../../platform/audit/AuditTrail.ts"
import { Ids } from "../../platform/Ids.ts"
import { DatabaseClock } from "../../platform/postgres/DatabaseClock.ts"
import { conditionOf } from "../../platform/postgres/search/QueryConditions.ts"
import { SearchBudget } from "../../platform/postgres/search/SearchBudget.ts"
import { RunMeaning } from "../../queries/runs/RunSearch.ts"
import { NOT_REACHED } from "./NotReached.ts"
import { erasureFault } from "./TextErasures.ts"

/** Jobs of a list, and jobs that are kept. */
const LISTED_JOBS = 100
const KEPT_JOBS = 1_000

const NO_DRY_RUN = "no dry run that is done has this plan: begin with dryRun: true, and send its plan when it is done"
const COLD_RUNS = "with a search: runs that have left the database, which it does not find"

/** Fields that an index finds. */
const FAST_FIELDS = runQueryFields.filter(({ isFast }) => isFast === true).map(({ name }) => name)

/** Erasures over many runs (docs/reference/erasure.md#many-runs): the jobs that `ErasureLoop` works on. */
export class ErasureJobs extends Context.Service<
  ErasureJobs,
  {
    readonly create: (
      request: NewErasureJob,
      caller: Caller
    ) => Effect.Effect<ErasureJob, BadRequest | Conflict | SqlError | TurnRefused>
    readonly get: (id: string) => Effect.Effect<ErasureJob, NotFound | SqlError>
    readonly list: Effect.Effect<{ readonly data: ReadonlyArray<ErasureJob> }, SqlError>
    /** Waits for the next job of this process. */
    readonly woken: Effect.Effect<void>
  }
>()("runplane/control-plane/ErasureJobs") {
  static readonly layer = Layer.effect(
    ErasureJobs,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const audit = yield* AuditTrail
      const clock = yield* DatabaseClock
      const cold = yield* ColdErasures
      const budget = yield* SearchBudget
      const ids = yield* Ids
      const meaning = yield* RunMeaning
      const signal = yield* Queue.sliding<void>(1)

      const jobsWith = (where: Fragment) => sql<JobRow>`
        SELECT j.id::text AS id, j.dry_run, j.query, j.reason, j.actor, j.created_at, j.ended_at, j.plan,
               j.find IS NOT NULL AS is_open, s.*
        FROM (SELECT * FROM erasure_jobs WHERE ${where} ORDER BY ordinal DESC LIMIT ${LISTED_JOBS}) AS j
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS runs, count(done_at)::int AS done,
                 count(*) FILTER (WHERE plan IS NOT NULL)::int AS matching,
                 count(*) FILTER (WHERE done_at IS NOT NULL AND left_out IS NULL AND plan IS NOT NULL)::int AS erased,
                 coalesce(sum(members), 0)::int AS members, coalesce(sum(remaining), 0)::int AS remaining,
                 count(left_out)::int AS left_out, count(*) FILTER (WHERE pending)::int AS pending
          FROM erasure_runs r WHERE r.job_id = j.id
        ) AS s ORDER BY j.ordinal DESC`

      const withLeftOut = Effect.fnUntraced(function* (row: JobRow) {
        const leftOut =
          row.left_out === 0
            ? []
            : yield* sql<{ readonly run_id: string; readonly left_out: string }>`
                SELECT run_id::text AS run_id, left_out FROM erasure_runs
                WHERE job_id = ${row.id}::uuid AND left_out IS NOT NULL ORDER BY position LIMIT ${MAX_LISTED_MEMBERS}`
        return toJob(
          row,
          leftOut.map(({ left_out, run_id }) => ({ runId: RunId.make(run_id), why: left_out }))
        )
      })

      const get = Effect.fn("ErasureJobs.get")(function* (id: string) {
        const [row] = yield* jobsWith(sql`id = ${id}::uuid`)
        return row === undefined ? yield* erasureNotFound(id) : yield* withLeftOut(row)
      })

      const list = Effect.map(
        Effect.flatMap(jobsWith(sql`true`), (rows) => Effect.forEach(rows, withLeftOut)),
        (data) => ({ data })
      )

      /** Runs that only files have are behind those of the database; no search finds them. */
      const addCold = (id: string) =>
        Effect.flatMap(
          cold.all,
          (runIds) => sql`
            INSERT INTO erasure_runs (job_id, position, run_id)
            SELECT ${id}::uuid, before.position + number, run_id
            FROM (SELECT coalesce(max(position), 0) AS position FROM erasure_runs WHERE job_id = ${id}::uuid) AS before,
                 unnest(${runIds}::text[]::uuid[]) WITH ORDINALITY AS filed (run_id, number)`
        )

      /** All runs that match, in every state. The request was validated, so the query parses. */
      const addMatching = Effect.fnUntraced(function* (id: string, query: string) {
        const search =
          query === "" ? undefined : yield* Effect.orDie(Effect.fromResult(parseQuery(query, runQueryFields)))
        const where = search === undefined ? sql`true` : conditionOf(sql, search, meaning)
        yield* sql`
          INSERT INTO erasure_runs (job_id, position, run_id)
          SELECT ${id}::uuid, row_number() OVER (ORDER BY r.created_at, r.id), r.id FROM runs r WHERE ${where}`
        if (search === undefined) yield* addCold(id)
      })

      /** The runs in which the dry run has found the text, or that it could not search. */
      const addPlanned = Effect.fnUntraced(function* (id: string, plan: string) {
        const [dryRun] = yield* sql<{ readonly id: string }>`
          SELECT id::text AS id FROM erasure_jobs WHERE dry_run AND plan = ${plan} ORDER BY ordinal DESC LIMIT 1`
        if (dryRun === undefined) return yield* erasureConflict(NO_DRY_RUN)
        yield* sql`
          INSERT INTO erasure_runs (job_id, position, run_id, plan, left_out, done_at)
          SELECT ${id}::uuid, position, run_id, plan, left_out, CASE WHEN left_out IS NOT NULL THEN now() END
          FROM erasure_runs WHERE job_id = ${dryRun.id}::uuid AND (plan IS NOT NULL OR left_out IS NOT NULL)`
      })

      const create = Effect.fn("ErasureJobs.create")(function* (request: NewErasureJob, caller: Caller) {
        const fault = erasureFault(request)
        if (fault !== undefined) return yield* badRequest(fault)
        const { dryRun, find, plan = "", query = "", reason } = request
        const id = yield* ids.uuid
        const at = isoTime(yield* clock.now)
        const { actorId, actorType, name = null } = caller.actor
        const insert = Effect.gen(function* () {
          yield* sql`
            INSERT INTO erasure_jobs (id, dry_run, find, query, reason, actor, actor_type, actor_name, request_id,
                                      client_address, created_at)
            VALUES (${id}::uuid, ${dryRun}, ${find.trim()}, ${query}, ${reason}, ${actorId}, ${actorType}, ${name},
                    ${caller.requestId}, ${caller.address}, ${at}::timestamptz)`
          yield* dryRun ? addMatching(id, query) : addPlanned(id, plan)
          yield* sql`
            DELETE FROM erasure_jobs WHERE ended_at IS NOT NULL AND ordinal <= (
              SELECT ordinal FROM erasure_jobs ORDER BY ordinal DESC OFFSET ${KEPT_JOBS} LIMIT 1)`
          yield* audit.record({
            ...{ caller, action: "erasure.create", resource: "erasure", resourceId: id, details: { dryRun }, at }
          })
        })
        yield* budget
          .inTurn(budget.limited(insert))
          .pipe(Effect.catchTag("SearchTooSlow", () => Effect.fail(searchTooSlow(FAST_FIELDS))))
        Queue.offerUnsafe(signal, undefined)
        // It was stored just now.
        return yield* Effect.catchTag(get(id), "NotFound", Effect.die)
      })
      return ErasureJobs.of({ create, get, list, woken: Queue.take(signal) })
    })
  )
}

interface JobRow {
  readonly id: string
  readonly dry_run: boolean
  readonly query: string
  readonly reason: string
  readonly actor: string
  readonly created_at: Date
  readonly ended_at: Date | null
  readonly plan: string | null
  readonly runs: number
  readonly done: number
  readonly matching: number
  readonly erased: number
  readonly members: number
  readonly remaining: number
  readonly left_out: number
  readonly pending: number
}

const toJob = (row: JobRow, runsLeftOut: ErasureJob["runsLeftOut"]): ErasureJob => ({
  ...{ id: row.id, dryRun: row.dry_run, query: row.query, reason: row.reason, by: row.actor },
  state: row.ended_at !== null ? "done" : row.dry_run ? "searching" : "erasing",
  createdAt: row.created_at.toISOString(),
  ...(row.ended_at !== null && { endedAt: row.ended_at.toISOString() }),
  ...(row.plan !== null && { plan: row.plan }),
  ...{ runs: row.runs, done: row.done, matching: row.matching, erased: row.dry_run ? 0 : row.erased },
  ...{ members: row.members, remaining: row.remaining, leftOut: row.left_out, runsLeftOut },
  pendingFiles: row.pending,
  notReached: [...NOT_REACHED, COLD_RUNS]
})
