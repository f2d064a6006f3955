import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type RuleRow, ruleColumns, storedRule } from "../AlertRows.ts"
import { makeRuleMatches } from "../RuleMatches.ts"
import type { ActiveRule } from "../StepEntries.ts"

/** The rules of the evaluation, and the runs that they match. A rule that fails is kept out until it changes. */
export const makeActiveRules = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const matchRuns = yield* makeRuleMatches

  /** Keeps a rule out of the evaluation until it changes. */
  const fail = Effect.fnUntraced(function* (id: string, error: string) {
    const [failed] = yield* sql`
      WITH failed AS (UPDATE alert_rules SET error = ${error} WHERE id = ${id} AND error IS NULL RETURNING id)
      UPDATE alert_cursor SET rules_version = rules_version + 1 WHERE EXISTS (SELECT FROM failed)
      RETURNING rules_version`
    if (failed !== undefined) yield* Effect.logError(`the alert rule ${id} cannot be evaluated: ${error}`)
  })

  let known: { readonly version: bigint; readonly rules: ReadonlyArray<ActiveRule> } | undefined
  /** The rules of a version of them, without those that count older events first. */
  const ofVersion = Effect.fnUntraced(function* (version: bigint) {
    if (known?.version === version) return known.rules
    const rows = yield* sql<RuleRow>`
      SELECT ${ruleColumns(sql)} FROM alert_rules
      WHERE enabled AND error IS NULL AND backfill_seq IS NULL ORDER BY id`
    const rules: Array<ActiveRule> = []
    for (const row of rows) {
      const rule = storedRule(row)
      if (Result.isFailure(rule)) yield* fail(row.id, rule.failure)
      else rules.push({ rule: rule.success, fromSeq: Number(row.from_seq) })
    }
    known = { version, rules }
    return rules
  })

  /** The matches of the runs; a rule whose search fails is kept out. */
  const matchesOf = Effect.fnUntraced(function* (runIds: ReadonlyArray<string>, rules: ReadonlyArray<ActiveRule>) {
    const found = yield* matchRuns(
      runIds,
      rules.flatMap(({ rule }) => (rule.match === "" ? [] : [rule.match]))
    )
    for (const { rule } of rules) {
      const failure = found.failures.get(rule.match)
      if (failure !== undefined) yield* fail(rule.id, `match: ${failure}`)
    }
    return found
  })

  return { fail, ofVersion, matchesOf } as const
})
