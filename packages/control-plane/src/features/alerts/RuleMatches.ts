import * as PgClient from "@effect/sql-pg/PgClient"
import { runQueryFields } from "@runplane/api"
import { describeSqlError, isOutage } from "@runplane/database"
import {
  isTerminal,
  type KeyedRun,
  OTLP_RUNTIME_KIND,
  parseQuery,
  type RunStatus,
  UNNAMED_SOURCE
} from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import { SCENARIO } from "../../event-log/runs/RunColumns.ts"
import { conditionOf } from "../../platform/postgres/search/QueryConditions.ts"
import { RunMeaning } from "../../queries/runs/RunSearch.ts"

/** A run, with the searches among the requested ones that find it. */
export interface MatchedRun extends KeyedRun {
  readonly hasEnded: boolean
  readonly matches: ReadonlySet<string>
}

export interface Matches {
  readonly runs: ReadonlyMap<string, MatchedRun>
  /** Searches that failed, and why. */
  readonly failures: ReadonlyMap<string, string>
}

/** Searches in one statement. */
const SEARCHES_AT_ONCE = 200

/** Finds which searches over runs find which of some runs. One statement serves all searches, unless one fails. */
export const makeRuleMatches = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const meaning = yield* RunMeaning

  const read = (runIds: ReadonlyArray<string>, searches: ReadonlyArray<string>) => {
    const conditions = searches.map((q) =>
      Result.match(parseQuery(q, runQueryFields), {
        onSuccess: (query) => sql`coalesce(${conditionOf(sql, query, meaning)}, false)`,
        onFailure: () => sql`false`
      })
    )
    return sql<RunRow>`
      SELECT r.id::text AS id, ${sql.literal(SCENARIO)} AS scenario, r.environment, r.source_kind, r.runtime_kind,
             r.metadata ->> 'source' AS telemetry_source, r.tags, r.status, ARRAY[${sql.csv(conditions)}]::boolean[] AS found
      FROM runs r WHERE r.id = ANY(${runIds}::text[]::uuid[])`
  }

  return Effect.fnUntraced(function* (runIds: ReadonlyArray<string>, searches: Iterable<string>) {
    const runs = new Map<string, MatchedRun & { readonly matches: Set<string> }>()
    const failures = new Map<string, string>()
    const take = (rows: ReadonlyArray<RunRow>, of: ReadonlyArray<string>) => {
      for (const row of rows) {
        const run = runs.get(row.id) ?? { ...keyedRun(row), matches: new Set<string>() }
        runs.set(row.id, run)
        for (const [number, q] of of.entries()) if (row.found[number] === true) run.matches.add(q)
      }
    }
    const all = [...new Set(searches)].filter((q) => {
      const parsed = parseQuery(q, runQueryFields)
      if (Result.isFailure(parsed)) failures.set(q, parsed.failure.message)
      return Result.isSuccess(parsed)
    })
    if (all.length === 0) take(yield* read(runIds, []), [])
    for (let from = 0; from < all.length; from += SEARCHES_AT_ONCE) {
      const part = all.slice(from, from + SEARCHES_AT_ONCE)
      const rows = yield* Effect.result(read(runIds, part))
      if (Result.isSuccess(rows)) take(rows.success, part)
      else if (isOutage(rows.failure)) return yield* rows.failure
      else {
        take(yield* read(runIds, []), [])
        // One of them fails: each is tried by itself.
        for (const q of part) {
          const single = yield* Effect.result<ReadonlyArray<RunRow>, SqlError, never>(read(runIds, [q]))
          if (Result.isSuccess(single)) take(single.success, [q])
          else if (isOutage(single.failure)) return yield* single.failure
          else failures.set(q, describeSqlError(single.failure))
        }
      }
    }
    return { runs, failures } satisfies Matches
  })
})

interface RunRow {
  readonly id: string
  readonly scenario: string | null
  readonly environment: string | null
  readonly source_kind: string | null
  readonly runtime_kind: string | null
  readonly telemetry_source: string | null
  readonly tags: ReadonlyArray<string>
  readonly status: RunStatus
  readonly found: ReadonlyArray<boolean>
}

const keyedRun = (row: RunRow) => ({
  id: row.id,
  scenarioRef: row.scenario ?? undefined,
  environment: row.environment ?? undefined,
  source: row.source_kind ?? undefined,
  tags: row.tags,
  telemetrySource: row.runtime_kind === OTLP_RUNTIME_KIND ? (row.telemetry_source ?? UNNAMED_SOURCE) : undefined,
  hasEnded: isTerminal(row.status)
})
