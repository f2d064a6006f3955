import * as PgClient from "@effect/sql-pg/PgClient"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { CurrentTransformer } from "effect/sql/Statement"

interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly Plans?: ReadonlyArray<Plan>
}

const nodesOf = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** The tables that the statements of a read scan from end to end, be they prepared or fresh. */
export const scansOf = Effect.fnUntraced(function* <A, E, R>(read: Effect.Effect<A, E, R>) {
  const sql = yield* PgClient.PgClient
  const seen: Array<readonly [string, ReadonlyArray<unknown>]> = []
  yield* Effect.provideService(read, CurrentTransformer, (statement) =>
    Effect.sync(() => {
      seen.push(statement.compile())
      return statement
    })
  )
  assert.isNotEmpty(seen)
  const scanned = new Set<string>()
  for (const [text, params] of seen.filter(([text]) => /^\s*(SELECT|WITH)/.test(text))) {
    for (const mode of ["force_generic_plan", "force_custom_plan"]) {
      const explain = Effect.gen(function* () {
        yield* sql`SELECT set_config('plan_cache_mode', ${mode}, true)`
        const [row] = yield* sql.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
          `EXPLAIN (FORMAT JSON) ${text}`,
          params
        ).unprepared
        for (const { Plan: plan } of row?.["QUERY PLAN"] ?? []) {
          for (const node of nodesOf(plan)) {
            if (node["Node Type"] === "Seq Scan") scanned.add(node["Relation Name"] ?? "")
          }
        }
      })
      yield* sql.withTransaction(explain)
    }
  }
  return [...scanned]
})
