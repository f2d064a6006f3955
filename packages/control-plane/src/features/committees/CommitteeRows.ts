import * as PgClient from "@effect/sql-pg/PgClient"
import {
  activePolicy,
  committeeFacts,
  type Deliberation,
  hasBallots,
  MAX_COMMITTEE,
  policyReader,
  RECORD_TYPES,
  RunId,
  type ShadowSeat,
  shadowsInRun,
  type TruthMark,
  truthOf
} from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { caseKey } from "../../event-log/runs/RunColumns.ts"
import { sha256Hex } from "../../platform/Sha256.ts"
import { type BacktestRun, BacktestRuns, groupsOf } from "../../queries/decisions/BacktestRuns.ts"
import { DecisionTruths } from "../../queries/decisions/DecisionTruths.ts"
import { storedFacts, storedShadow, voteLetters } from "./FactsRow.ts"

/** Runs of one step: those that have waited longest. */
const STEP_RUNS = 200
/** Digits of the hash that names a set of participants. */
const COMMITTEE_DIGITS = 32

interface DueRun {
  readonly id: string
  readonly events: number
  readonly version: string
}

/** What a step has made. */
export interface MadeRows {
  /** Milliseconds. */
  readonly tookMs: number
  /** Whether no more runs are due. */
  readonly isEnd: boolean
}

/** A run votes under the rules that its log has. */
const noRegistry = () => undefined

/** Equal for equal sets of participants, which are sorted. */
export const committeeKey = (participants: ReadonlyArray<string>): string =>
  sha256Hex(JSON.stringify(participants)).slice(0, COMMITTEE_DIGITS)

/** PostgreSQL stores no NUL. */
const stored = (name: string): string => name.replaceAll("\u0000", "").toWellFormed()

const listed = (names: ReadonlyArray<string> = []): string => stored(names.toSorted().join(", "))

const storedNames = ({ agent, as, shadow }: ShadowSeat): ShadowSeat => ({
  shadow: stored(shadow),
  as: stored(as),
  agent: stored(agent)
})

/** The row of a run; undefined for a run that no committee decides by votes. */
const rowOf = (run: Deliberation, marks: ReadonlyArray<TruthMark>, read: ReturnType<typeof policyReader>) => {
  const { mode, models, prompts, spending, subject } = run
  if (mode === undefined || !hasBallots(mode)) return undefined
  const participants = run.participants.toSorted()
  if (participants.length === 0 || participants.length > MAX_COMMITTEE) return undefined
  const by = activePolicy(run, noRegistry, read)
  const facts = committeeFacts(run, by, participants)
  const shadows = shadowsInRun(run, by).map((one) => storedShadow({ ...one, ...storedNames(one) }))
  const guessed = participants.map((participant) => spending.find((one) => one.participantId === participant))
  // A judge errs with the models that it judges, so its mark is not a truth here.
  const isRight = truthOf(
    marks.filter(({ source }) => source !== "judge"),
    run
  )
  return {
    run_id: run.runId,
    committee: committeeKey(participants),
    participants: participants.map(stored),
    subject: subject === undefined ? null : sha256Hex(subject),
    outcome: facts.outcome,
    is_right: isRight ?? null,
    votes: voteLetters(facts.votes),
    facts: storedFacts(
      facts,
      guessed.map((spent) => spent?.guessedCostUsd ?? 0)
    ),
    models: participants.map((participant) => listed(models.get(participant))),
    prompts: participants.map((participant) => listed(prompts.get(participant))),
    ...(shadows.length > 0 && { shadows })
  }
}

/**
 * Makes the rows of changed runs, each from the whole record of its run and its marks. A row is written only if nothing
 * has changed since both were read: a later change has another version, and its own step.
 */
export const makeCommitteeRows = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const runs = yield* BacktestRuns
  const truths = yield* DecisionTruths

  const write = (group: ReadonlyArray<DueRun>, rows: ReadonlyArray<NonNullable<ReturnType<typeof rowOf>>>) => {
    const due = JSON.stringify(group.map(({ id, version }) => ({ run_id: id, version })))
    return Effect.gen(function* () {
      // A deletion locks a run before the rows of it: the other way round, each would wait for the other.
      const ids = sql`ANY(${group.map(({ id }) => id)}::text[]::uuid[])`
      yield* sql`SELECT FROM runs WHERE id = ${ids} ORDER BY id FOR KEY SHARE`
      const current = yield* sql<{ readonly id: string }>`
        DELETE FROM run_voter_changes c USING json_to_recordset(${due}::json) AS d (run_id uuid, version bigint)
        WHERE c.run_id = d.run_id AND c.version = d.version RETURNING c.run_id::text AS id`
      const unchanged = new Set(current.map(({ id }) => id))
      const theirs = sql`run_id = ANY(${[...unchanged]}::text[]::uuid[])`
      yield* sql`DELETE FROM run_voters WHERE ${theirs}`
      const made = JSON.stringify(rows.filter(({ run_id }) => unchanged.has(run_id)))
      yield* sql`
        INSERT INTO run_voters (run_id, created_at, committee, participants, case_key, outcome, is_right, votes, facts,
                                models, prompts, shadows)
        SELECT r.id, r.created_at, g.committee, g.participants, coalesce(${sql.literal(caseKey("g.subject"))}, r.id::text),
               g.outcome, g.is_right, g.votes, g.facts, g.models, g.prompts, g.shadows
        FROM json_to_recordset(${made}::json) AS g (run_id uuid, committee text, participants text[], subject text,
                                                    outcome text, is_right boolean, votes text, facts json,
                                                    models text[], prompts text[], shadows json)
        JOIN runs r ON r.id = g.run_id ORDER BY r.id FOR KEY SHARE OF r`
    }).pipe(sql.withTransaction)
  }

  const makeGroup = Effect.fnUntraced(function* (
    group: ReadonlyArray<RunId>,
    due: ReadonlyMap<string, DueRun>,
    read: ReturnType<typeof policyReader>
  ) {
    const marks = yield* truths.ofRuns(group)
    const made = yield* runs.evaluate(group, RECORD_TYPES, (run) => rowOf(run, marks.get(run.runId) ?? [], read))
    yield* write(
      group.flatMap((runId) => due.get(runId) ?? []),
      made.filter((row) => row !== undefined)
    )
  })

  /** A run whose record cannot be read waits, so that the others do not. */
  const postpone = (runId: RunId, defect: unknown) =>
    Effect.andThen(
      Effect.logError(`the voters of the run ${runId} cannot be read: ${String(defect)}`),
      sql`UPDATE run_voter_changes SET due_at = now() + interval '1 hour' WHERE run_id = ${runId}::uuid`
    )

  return Effect.gen(function* () {
    const found = yield* sql<DueRun>`
      SELECT c.run_id::text AS id, h.last_index AS events, c.version::text AS version
      FROM run_voter_changes c JOIN run_heads h ON h.run_id = c.run_id
      WHERE c.due_at <= now() ORDER BY c.due_at, c.run_id LIMIT ${STEP_RUNS}`
    const due = new Map(found.map((run) => [run.id, run]))
    const read = policyReader()
    const begin = yield* Clock.currentTimeMillis
    for (const group of groupsOf(found.map(({ events, id }): BacktestRun => ({ runId: RunId.make(id), events })))) {
      yield* Effect.catchDefect(makeGroup(group, due, read), () =>
        Effect.forEach(
          group,
          (runId) => Effect.catchDefect(makeGroup([runId], due, read), (defect) => postpone(runId, defect)),
          { discard: true }
        )
      )
    }
    const tookMs = (yield* Clock.currentTimeMillis) - begin
    return { tookMs, isEnd: found.length < STEP_RUNS } satisfies MadeRows
  })
})
