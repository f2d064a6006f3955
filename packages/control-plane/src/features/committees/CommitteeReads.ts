import * as PgClient from "@effect/sql-pg/PgClient"
import { MAX_COMMITTEE_RUNS, MAX_COMMITTEES } from "@runplane/api"
import type { Sliced } from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import { RunMeaning, runsFound } from "../../queries/runs/RunSearch.ts"

/** Rows of one read, and rows between two checks of the time that a slice has taken. */
interface ReadSize {
  readonly perRead: number
  readonly perPart: number
}

/** For rows of some hundred bytes, whose memory does not depend on the number of runs. */
export const WITH_VOTES: ReadSize = { perRead: 10_000, perPart: 200 }
/** For rows with their facts, each of which is counted again. */
export const WITH_FACTS: ReadSize = { perRead: 250, perPart: 10 }

interface RowsWanted extends ReadSize {
  /** Of the cursor. A connection keeps the columns of a FETCH by its text, so other columns need another name. */
  readonly cursor: "voters_of_independence" | "voters_of_worth" | "voters_of_search"
  readonly scope: Scope
  /** The sets of participants. */
  readonly keys: ReadonlyArray<string>
  /** Most runs, the latest ones. */
  readonly most: number
}

/** Different combinations of models that are compared. */
const MAX_COMBINATIONS = 1_000

/** The runs that a request is about. */
export interface Scope {
  readonly q?: string | undefined
  readonly since?: string | undefined
  /** Only runs in which all of these take part. */
  readonly seats?: ReadonlyArray<string> | undefined
}

/** Runs with the same participants. */
export interface CommitteeSet {
  readonly committee: string
  readonly participants: ReadonlyArray<string>
  readonly runs: number
  /** Indexes of the participants that vote in one of the runs. */
  readonly voters: ReadonlyArray<number>
}

interface SetRow {
  readonly committee: string
  readonly participants: ReadonlyArray<string>
  readonly runs: number
  readonly votes: ReadonlyArray<string>
}

/** What a request may read, and how much of it there is. */
export interface FoundSets {
  readonly sets: ReadonlyArray<CommitteeSet>
  /** Whether there are more sets or runs than are read. */
  readonly truncated: boolean
  /** Ended runs without a row that counts. */
  readonly waiting: number
  /** Runs of sets that are left out. */
  readonly others: number
}

const votersOf = (votes: ReadonlyArray<string>, participants: number): ReadonlyArray<number> =>
  Array.from({ length: participants }, (_, at) => at).filter((at) =>
    votes.some((letters) => letters.charAt(at) !== "-" && letters.charAt(at) !== "")
  )

/** The reads of `run_voters`. They run in the transaction of a search, whose limits hold for them. */
export const makeCommitteeReads = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const meaning = yield* RunMeaning

  const inScope = ({ q, seats, since }: Scope): Fragment =>
    sql.and([
      since === undefined ? sql`true` : sql`v.created_at >= ${since}::timestamptz`,
      seats === undefined ? sql`true` : sql`v.participants @> ${seats}::text[]`,
      runsFound(sql, meaning, q, sql`v.run_id`)
    ])

  /** The sets of participants, those with the most runs first. */
  const sets = Effect.fnUntraced(function* (scope: Scope, most = MAX_COMMITTEES) {
    const rows = yield* sql<SetRow>`
      SELECT committee, min(participants) AS participants, sum(runs)::int AS runs, array_agg(votes) AS votes
      FROM (SELECT v.committee, v.participants, v.votes, count(*) AS runs FROM run_voters v
            WHERE ${inScope(scope)} GROUP BY 1, 2, 3) AS patterns
      GROUP BY committee ORDER BY 3 DESC, committee LIMIT ${BigInt(most + 1)}`
    const [waiting] = yield* sql<{ readonly runs: number }>`SELECT count(*)::int AS runs FROM run_voter_changes`
    const shown = rows.slice(0, most)
    const runs = shown.reduce((sum, row) => sum + row.runs, 0)
    return {
      sets: shown.map(({ votes, ...set }) => ({ ...set, voters: votersOf(votes, set.participants.length) })),
      truncated: rows.length > most || runs > MAX_COMMITTEE_RUNS,
      waiting: waiting?.runs ?? 0,
      others: rows.slice(most).reduce((sum, row) => sum + row.runs, 0)
    } satisfies FoundSets
  })

  /** Takes the latest runs of some sets, some rows at a time. */
  const forEachRow = Effect.fnUntraced(function* <Row extends object>(
    { cursor, keys, most, perPart, perRead, scope }: RowsWanted,
    columns: Fragment,
    take: (row: Row) => void
  ) {
    const name = sql.literal(cursor)
    yield* sql`
      DECLARE ${name} NO SCROLL CURSOR FOR
      SELECT ${columns} FROM run_voters v WHERE v.committee = ANY(${keys}::text[]) AND ${inScope(scope)}
      ORDER BY v.created_at DESC, v.run_id DESC LIMIT ${BigInt(most)}`
    while (true) {
      const rows = yield* sql<Row>`FETCH ${sql.literal(String(perRead))} FROM ${name}`
      yield* inSlices(taken(rows, take, perPart))
      if (rows.length < perRead) break
    }
    yield* sql`CLOSE ${name}`
  })

  /** The combinations of models that the participants of each set have called, with their prompts. */
  const models = (scope: Scope, keys: ReadonlyArray<string>) =>
    sql<{
      readonly committee: string
      readonly models: ReadonlyArray<string>
      readonly prompts: ReadonlyArray<string> | null
    }>`
      SELECT v.committee, v.models, v.prompts FROM run_voters v WHERE v.committee = ANY(${keys}::text[]) AND ${inScope(scope)}
      GROUP BY 1, 2, 3 ORDER BY count(*) DESC LIMIT ${MAX_COMBINATIONS}`

  return { sets, forEachRow, models }
})

function* taken<Row>(rows: ReadonlyArray<Row>, take: (row: Row) => void, perPart: number): Sliced<void> {
  for (const [at, row] of rows.entries()) {
    take(row)
    if (at % perPart === 0) yield
  }
}
