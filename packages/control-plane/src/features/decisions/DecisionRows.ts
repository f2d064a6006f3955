import * as PgClient from "@effect/sql-pg/PgClient"
import { activePolicy, type DecisionFacts, type Deliberation, decisionFacts, FACT_TYPES, RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { caseKey } from "../../event-log/runs/RunColumns.ts"
import { sha256Hex } from "../../platform/Sha256.ts"
import { type BacktestRun, BacktestRuns, groupsOf } from "../../queries/decisions/BacktestRuns.ts"

/** Runs of one step: the latest ones, and those that have waited longest. */
const STEP_RUNS = 250
/** Events of the short runs of one step. */
const STEP_EVENTS = 20_000
/** Events from which on a run is long: one step reads one of these, after all others. */
const LONG_RUN = 2_000

/** A message that opens a session is read with the events that `FACT_TYPES` names. */
const READ_TYPES = [...FACT_TYPES, "message.received"] as const

interface DueRun {
  readonly id: string
  readonly events: number
}

/** The decision as it is served, with its case as the last member. */
const LISTED_WITH_CASE = "coalesce(left(g.listed, -1) || ',\"case\":\"' || c.key || '\"}', g.listed)"

/** What a step has made. */
export interface MadeRows {
  readonly runs: number
  /** What the short ones took. Milliseconds. */
  readonly tookMs: number
  /** Whether no more runs are due. */
  readonly isEnd: boolean
}

interface Evaluated extends DecisionFacts {
  readonly runId: string
}

/** The first runs whose events fit into a step. */
const withinStep = (runs: ReadonlyArray<BacktestRun>): ReadonlyArray<BacktestRun> => {
  let sum = 0
  return runs.filter(({ events }) => {
    sum += events
    return sum <= STEP_EVENTS
  })
}

/**
 * Makes the rows of runs that have changed, each from the whole record of its run: the rows of two processes are equal,
 * and the one of the later event stays. Rules that the log does not have stay unknown, since the registry is not
 * called.
 */
export const makeDecisionRows = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const runs = yield* BacktestRuns

  const evaluate = (run: Deliberation): Evaluated => ({
    runId: run.runId,
    ...decisionFacts(run, activePolicy(run))
  })

  /** How often the projections were made anew: an erasure does it, and the events of a row are older then. */
  const revisionsOf = (group: ReadonlyArray<RunId>) =>
    Effect.map(
      sql<{ readonly id: string; readonly revision: number }>`
        SELECT run_id::text AS id, projection_revision AS revision FROM run_heads
        WHERE run_id = ANY(${group}::text[]::uuid[])`,
      (rows) => new Map(rows.map(({ id, revision }) => [id, revision]))
    )

  const write = (
    made: ReadonlyArray<Evaluated>,
    events: ReadonlyMap<string, number>,
    revisions: ReadonlyMap<string, number>
  ) => {
    const rows = JSON.stringify(
      made.map(({ ballots, dissenters, listed, options, runId, subject }) => ({
        ...{ run_id: runId, seq: listed.asOfSeq, events: events.get(runId) ?? 0, verdict: listed.verdict },
        revision: revisions.get(runId) ?? -1,
        ...{ listed: JSON.stringify(listed), options, ballots, dissenters },
        ...{ subject: subject === undefined ? null : sha256Hex(subject) }
      }))
    )
    return Effect.gen(function* () {
      yield* sql`
        INSERT INTO run_decisions AS known
          (run_id, seq, events, read_at, verdict, listed, options, ballots, dissenters, case_key)
        SELECT r.id, g.seq, g.events, now(), g.verdict, ${sql.literal(LISTED_WITH_CASE)}::json, fold_text(g.options),
               g.ballots, g.dissenters, c.key
        FROM json_to_recordset(${rows}::json) AS g (run_id uuid, seq bigint, events integer, verdict text, listed text,
                                                    options text, ballots text[], dissenters text[], subject text,
                                                    revision integer)
        JOIN runs r ON r.id = g.run_id JOIN run_heads h ON h.run_id = r.id AND h.projection_revision = g.revision CROSS JOIN LATERAL (SELECT ${sql.literal(caseKey("g.subject"))} AS key) AS c
        ORDER BY r.id FOR KEY SHARE OF r, h
        ON CONFLICT (run_id) DO UPDATE
        SET seq = excluded.seq, events = excluded.events, read_at = excluded.read_at, verdict = excluded.verdict,
            listed = excluded.listed, options = excluded.options, ballots = excluded.ballots,
            dissenters = excluded.dissenters, case_key = excluded.case_key
        WHERE known.seq <= excluded.seq`
      yield* sql`
        DELETE FROM run_decision_changes c USING json_to_recordset(${rows}::json) AS g (run_id uuid, seq bigint, revision integer), run_heads h
        WHERE c.run_id = g.run_id AND c.seq <= g.seq AND h.run_id = g.run_id AND h.projection_revision = g.revision`
    }).pipe(sql.withTransaction)
  }

  const makeGroup = Effect.fnUntraced(function* (group: ReadonlyArray<RunId>, events: ReadonlyMap<string, number>) {
    const revisions = yield* revisionsOf(group)
    const made = yield* runs.evaluate(group, READ_TYPES, evaluate)
    if (made.length > 0) yield* write(made, events, revisions)
  })

  /** A run whose record cannot be read waits, so that the others do not. */
  const postpone = (runId: RunId, defect: unknown) =>
    Effect.andThen(
      Effect.logError(`the decision of the run ${runId} cannot be read: ${String(defect)}`),
      sql`UPDATE run_decision_changes SET due_at = now() + interval '1 hour' WHERE run_id = ${runId}::uuid`
    )

  const makeEach = (group: ReadonlyArray<RunId>, events: ReadonlyMap<string, number>) =>
    Effect.catchDefect(makeGroup(group, events), () =>
      Effect.forEach(
        group,
        (runId) => Effect.catchDefect(makeGroup([runId], events), (defect) => postpone(runId, defect)),
        { discard: true }
      )
    )

  return Effect.gen(function* () {
    const due = yield* sql<DueRun>`
      SELECT c.run_id::text AS id, h.last_index AS events
      FROM ((SELECT run_id, seq FROM run_decision_changes WHERE due_at <= now() ORDER BY seq DESC LIMIT ${STEP_RUNS})
            UNION
            (SELECT run_id, seq FROM run_decision_changes WHERE due_at <= now() ORDER BY due_at LIMIT ${STEP_RUNS})) AS c
      JOIN run_heads h ON h.run_id = c.run_id ORDER BY c.seq DESC`
    const found = due.map(({ events, id }): BacktestRun => ({ runId: RunId.make(id), events }))
    const events = new Map<string, number>(found.map((run) => [run.runId, run.events]))
    const allShort = found.filter((run) => run.events <= LONG_RUN)
    const short = withinStep(allShort)
    const begin = yield* Clock.currentTimeMillis
    for (const group of groupsOf(short)) yield* makeEach(group, events)
    const tookMs = (yield* Clock.currentTimeMillis) - begin
    const [long, ...later] = found.filter((run) => run.events > LONG_RUN)
    if (long !== undefined) yield* makeEach([long.runId], events)
    const isEnd = due.length < STEP_RUNS && short.length === allShort.length && later.length === 0
    return { runs: short.length + (long === undefined ? 0 : 1), tookMs, isEnd } satisfies MadeRows
  })
})
