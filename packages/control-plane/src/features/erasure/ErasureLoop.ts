import * as PgClient from "@effect/sql-pg/PgClient"
import type { ActorType, Erasure } from "@runplane/api"
import { describeSqlError, isContention, isOutage, isTimeout } from "@runplane/database"
import { canonicalJson, textFinder } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isSqlError } from "effect/sql/SqlError"
import { Placement } from "../../observe/placement/Placement.ts"
import type { Caller } from "../../platform/audit/AuditTrail.ts"
import { forever, roundGoesOn } from "../../platform/loop/Forever.ts"
import { sha256Hex } from "../../platform/Sha256.ts"
import { ErasureJobs } from "./ErasureJobs.ts"
import { TextErasures } from "./TextErasures.ts"

/** Runs that a round reads at a time, and those that it works on at the same time. */
const RUNS_PER_ROUND = 100
const AT_ONCE = 2
/** The pause between two polls for jobs that other processes have left. Milliseconds. */
const POLL_MS = 2_000

interface OpenJob {
  readonly id: string
  readonly dry_run: boolean
  readonly find: string
  readonly query: string
  readonly reason: string
  readonly actor: string
  readonly actor_type: ActorType
  readonly actor_name: string | null
  readonly request_id: string
  readonly client_address: string
}

interface OpenRun {
  readonly position: number
  readonly run_id: string
  readonly plan: string | null
}

/**
 * Works on the jobs, the oldest first, one run a transaction: what became of the run commits with its erasure. A
 * process that is killed leaves the remaining runs, and the next one continues with them.
 */
const workForever = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const erasures = yield* TextErasures
  const jobs = yield* ErasureJobs

  const nextJob = Effect.map(
    sql<OpenJob>`
      SELECT id::text AS id, dry_run, find, query, reason, actor, actor_type, actor_name, request_id, client_address
      FROM erasure_jobs WHERE ended_at IS NULL AND find IS NOT NULL ORDER BY ordinal LIMIT 1`,
    ([job]) => job
  )

  const openRuns = ({ id }: OpenJob) => sql<OpenRun>`
    SELECT position, run_id::text AS run_id, plan FROM erasure_runs
    WHERE job_id = ${id}::uuid AND done_at IS NULL ORDER BY position LIMIT ${RUNS_PER_ROUND}`

  const note = ({ id }: OpenJob, { position }: OpenRun, { members, pending, plan, remaining, rows }: Erasure) => {
    const hasText = members > 0 || rows.length > 0
    return sql`
      UPDATE erasure_runs SET plan = ${hasText ? plan : null}, members = ${members}, remaining = ${remaining},
                              pending = ${pending !== null}, done_at = now()
      WHERE job_id = ${id}::uuid AND position = ${position}`
  }

  const leaveOut = ({ id }: OpenJob, { position }: OpenRun, why: string) => sql`
    UPDATE erasure_runs SET left_out = ${why}, done_at = now() WHERE job_id = ${id}::uuid AND position = ${position}`

  /** A failure of the database that a later attempt may not have fails the round; any other leaves the run out. */
  const eraseOne = (job: OpenJob, run: OpenRun) => {
    const request = {
      ...{ find: job.find, reason: job.reason, dryRun: job.dry_run },
      ...(run.plan !== null && { plan: run.plan })
    }
    return erasures
      .erase(run.run_id, request, callerOf(job), (answer) => note(job, run, answer))
      .pipe(
        Effect.catch((error) => {
          if (!isSqlError(error)) return leaveOut(job, run, error.message)
          const isPassing = isOutage(error) || isContention(error) || isTimeout(error)
          return isPassing
            ? Effect.fail(error)
            : leaveOut(job, run, `the database refused it: ${describeSqlError(error)}`)
        }),
        Effect.catchDefect((defect) =>
          Effect.andThen(
            Effect.logError(`the erasure ${job.id} cannot be executed on run ${run.run_id}`, defect),
            leaveOut(job, run, "it cannot be read; the log of the service has the cause")
          )
        )
      )
  }

  /** The plan of a dry run is over those of its runs. The text goes, and with it a search that has it. */
  const end = Effect.fnUntraced(function* ({ dry_run, find, id, query }: OpenJob) {
    const plans = dry_run
      ? yield* sql<{ readonly run_id: string; readonly plan: string; readonly members: number }>`
          SELECT run_id::text AS run_id, plan, members FROM erasure_runs
          WHERE job_id = ${id}::uuid AND plan IS NOT NULL ORDER BY run_id`
      : undefined
    const plan =
      plans === undefined
        ? null
        : `${plans.length}-${plans.reduce((sum, { members }) => sum + members, 0)}-${sha256Hex(
            canonicalJson(plans.map(({ plan, run_id }) => [run_id, plan]))
          )}`
    const left = textFinder(find)(query) ? "" : query
    yield* sql`
      UPDATE erasure_jobs SET ended_at = now(), find = NULL, plan = ${plan}, query = ${left} WHERE id = ${id}::uuid`
  })

  const round = Effect.gen(function* () {
    const job = yield* nextJob
    if (job === undefined) return { pauseMs: POLL_MS }
    while (true) {
      const runs = yield* openRuns(job)
      if (runs.length === 0) break
      yield* Effect.forEach(runs, (run) => eraseOne(job, run), { concurrency: AT_ONCE, discard: true })
      yield* roundGoesOn
    }
    yield* end(job)
    return { pauseMs: 0 }
  }).pipe(Effect.withTracerEnabled(false))
  yield* forever("erasures", round, { wake: jobs.woken })
})

const callerOf = ({ actor, actor_name, actor_type, client_address, request_id }: OpenJob): Caller => ({
  actor: {
    ...{ actorId: actor, actorType: actor_type, role: "admin" },
    ...(actor_name !== null && { name: actor_name })
  },
  requestId: request_id,
  address: client_address
})

/** One process at a time works on the erasures over many runs. */
export const layer = Layer.effectDiscard(Placement.use((placement) => placement.singleton("erasures", workForever)))
