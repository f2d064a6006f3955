import * as PgClient from "@effect/sql-pg/PgClient"
import { activePolicy, type DecisionFacts, type Deliberation, decisionFacts, FACT_TYPES, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import { SCENARIO } from "../../event-log/runs/RunColumns.ts"
import { sha256 } from "../../platform/Sha256.ts"
import { type BacktestRun, BacktestRuns, groupsOf } from "../../queries/decisions/BacktestRuns.ts"

/** Runs of one step. */
const STEP_RUNS = 500
/** Events from which on a run is long: one step reads one of these, after all others. */
const LONG_RUN = 2_000

/** A message that opens a session is read with the events that `FACT_TYPES` names. */
const READ_TYPES = [...FACT_TYPES, "message.received"] as const

interface DueRun {
  readonly id: string
  readonly events: number
}

const hexOf = (text: string): string => Hex.encode(sha256(new TextEncoder().encode(text)))

/** The case of a run `r` with the subject `g.subject`: that of its gate, else its scenario with the subject. */
const CASE_KEY = `CASE
  WHEN r.metadata -> 'gate' ->> 'case' IS NOT NULL OR g.subject IS NOT NULL THEN left(encode(sha256(convert_to(concat_ws(E'\\n',
    regexp_replace(coalesce(${SCENARIO}, ''), '@[^@/]*$', ''),
    coalesce('gate ' || (r.metadata -> 'gate' ->> 'case'), g.subject)), 'UTF8')), 'hex'), 32) END`

/** The decision as it is served, with its case as the last member. */
const LISTED_WITH_CASE = "coalesce(left(g.listed, -1) || ',\"case\":\"' || c.key || '\"}', g.listed)"

/** What a step has made. */
export interface MadeRows {
  readonly runs: number
  /** Whether no more runs are due. */
  readonly isEnd: boolean
}

interface Evaluated extends DecisionFacts {
  readonly runId: string
}

/**
 * Makes the rows of runs that have changed, each from the whole record of its run: the rows of two processes are equal,
 * and the one of the later event stays. Rules that the log does not have stay unknown, since the registry is not called.
 */
export const makeDecisionRows = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const runs = yield* BacktestRuns

  const evaluate = (run: Deliberation): Evaluated => ({
    runId: run.runId,
    ...decisionFacts(run, activePolicy(run))
  })

  const write = (made: ReadonlyArray<Evaluated>, events: ReadonlyMap<string, number>) => {
    const rows = JSON.stringify(
      made.map(({ ballots, dissenters, listed, options, runId, subject }) => ({
        ...{ run_id: runId, seq: listed.asOfSeq, events: events.get(runId) ?? 0, verdict: listed.verdict },
        ...{ listed: JSON.stringify(listed), options, ballots, dissenters },
        ...{ subject: subject === undefined ? null : hexOf(subject) }
      }))
    )
    return Effect.gen(function* () {
      yield* sql`
        INSERT INTO run_decisions AS known
          (run_id, seq, events, read_at, verdict, listed, options, ballots, dissenters, case_key)
        SELECT r.id, g.seq, g.events, now(), g.verdict, ${sql.literal(LISTED_WITH_CASE)}::json, fold_text(g.options),
               g.ballots, g.dissenters, c.key
        FROM json_to_recordset(${rows}::json) AS g (run_id uuid, seq bigint, events integer, verdict text, listed text,
                                                    options text, ballots text[], dissenters text[], subject text)
        JOIN runs r ON r.id = g.run_id CROSS JOIN LATERAL (SELECT ${sql.literal(CASE_KEY)} AS key) AS c
        ORDER BY r.id FOR KEY SHARE OF r
        ON CONFLICT (run_id) DO UPDATE
        SET seq = excluded.seq, events = excluded.events, read_at = excluded.read_at, verdict = excluded.verdict,
            listed = excluded.listed, options = excluded.options, ballots = excluded.ballots,
            dissenters = excluded.dissenters, case_key = excluded.case_key
        WHERE known.seq <= excluded.seq`
      yield* sql`
        DELETE FROM run_decision_changes c USING json_to_recordset(${rows}::json) AS g (run_id uuid, seq bigint)
        WHERE c.run_id = g.run_id AND c.seq <= g.seq`
    }).pipe(sql.withTransaction)
  }

  const makeGroup = Effect.fnUntraced(function* (group: ReadonlyArray<RunId>, events: ReadonlyMap<string, number>) {
    const made = yield* runs.evaluate(group, READ_TYPES, evaluate)
    if (made.length > 0) yield* write(made, events)
  })

  return Effect.gen(function* () {
    const due = yield* sql<DueRun>`
      SELECT c.run_id::text AS id, h.last_index AS events
      FROM run_decision_changes c JOIN run_heads h ON h.run_id = c.run_id
      WHERE c.due_at <= now() ORDER BY c.due_at LIMIT ${STEP_RUNS}`
    const found = due.map(({ events, id }): BacktestRun => ({ runId: RunId.make(id), events }))
    const long = found.filter(({ events }) => events > LONG_RUN)
    const next = [...found.filter(({ events }) => events <= LONG_RUN), ...long.slice(0, 1)]
    const events = new Map<string, number>(next.map((run) => [run.runId, run.events]))
    for (const group of groupsOf(next)) yield* makeGroup(group, events)
    return { runs: next.length, isEnd: due.length < STEP_RUNS && long.length <= 1 } satisfies MadeRows
  })
})
