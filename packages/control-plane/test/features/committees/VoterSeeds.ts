import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { committeeKey } from "../../../src/features/committees/CommitteeRows.ts"
import type { StoredFacts, StoredShadow } from "../../../src/features/committees/FactsRow.ts"

/** An ended run as a committee counts it. */
export interface VoterSeed {
  readonly caseKey: string
  readonly outcome: "positive" | "negative" | "none"
  readonly isRight: boolean | null
  /** A letter a seat: `f`, `a`, `x` or `-`. */
  readonly votes: string
  readonly shadows?: ReadonlyArray<StoredShadow>
}

const NO_FACTS: StoredFacts = { notCounted: "no decision", pivotal: [], costUsd: [], guessedUsd: [], atMs: [] }

/** Rows of one statement. */
const BATCH = 10_000

/** Ended runs of these participants, with their rows and without a log. The participants are sorted. */
export const insertVoters = Effect.fnUntraced(function* (
  participants: ReadonlyArray<string>,
  seeds: ReadonlyArray<VoterSeed>,
  {
    facts = NO_FACTS,
    models,
    prompts
  }: {
    readonly facts?: StoredFacts
    readonly models?: ReadonlyArray<string>
    readonly prompts?: ReadonlyArray<string>
  } = {}
) {
  const sql = yield* PgClient.PgClient
  const committee = committeeKey(participants)
  for (let from = 0; from < seeds.length; from += BATCH) {
    const rows = JSON.stringify(
      seeds.slice(from, from + BATCH).map(({ caseKey, isRight, outcome, shadows, votes }) => ({
        ...{ case_key: caseKey, outcome, is_right: isRight, votes },
        ...(shadows !== undefined && { shadows })
      }))
    )
    yield* sql`
      WITH seeds AS MATERIALIZED (
        SELECT gen_random_uuid() AS id, s.* FROM json_to_recordset(${rows}::json)
          AS s (case_key text, outcome text, is_right boolean, votes text, shadows json)
      ), created AS (
        INSERT INTO runs (id, status, mode, mode_name, runtime_kind, runtime_session_id, trace_id, span_id, tags,
                          metadata, search_text, created_at, updated_at)
        SELECT id, 'completed', 'live', 'macp.mode.decision.v1', 'rust', id::text, '', '', '{}', '{}', '', now(), now()
        FROM seeds RETURNING id
      )
      INSERT INTO run_voters (run_id, created_at, committee, participants, case_key, outcome, is_right, votes, facts,
                              models, prompts, shadows)
      SELECT s.id, now(), ${committee}, ${participants}::text[], s.case_key, s.outcome, s.is_right, s.votes,
             ${JSON.stringify(facts)}::text::json, ${models ?? participants.map(() => "")}::text[],
             ${prompts ?? null}::text[], s.shadows
      FROM seeds s JOIN created c ON c.id = s.id`
  }
})

/** Numbers from 0 to 1, the same in each test (mulberry32). */
export const numbersFrom = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * Runs whose decision is the majority of five seats with three errors in ten. The first `copies` seats err together in
 * each run, the others by themselves.
 */
export const committeeRuns = (runs: number, copies: number): ReadonlyArray<VoterSeed> => {
  const next = numbersFrom(7)
  return Array.from({ length: runs }, (_, at) => {
    const isGood = next() < 0.5
    const shared = next() < 0.3
    const votes = Array.from({ length: 5 }, (_, seat) => {
      const errs = seat < copies ? shared : next() < 0.3
      return isGood === errs ? "a" : "f"
    })
    const isPositive = votes.filter((vote) => vote === "f").length >= 3
    return {
      caseKey: `case-${at}`,
      outcome: isPositive ? "positive" : "negative",
      isRight: isPositive === isGood,
      votes: votes.join("")
    }
  })
}
