import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunMemory } from "@runplane/domain"
import * as Effect from "effect/Effect"
import type { makeRunAmounts } from "../RunAmounts.ts"
import type { ActiveRule } from "../StepEntries.ts"
import { isRecounted, readCounted, takeClaims } from "./ClaimedRuns.ts"
import { eventOf, type StepParts } from "./Steps.ts"

interface RecountParts extends StepParts {
  readonly amounts: Effect.Success<ReturnType<typeof makeRunAmounts>>
}

/**
 * Counts runs again that were claimed since (docs/reference/alerts.md#claimed-runs): with the properties of the claim,
 * and without what was counted of them before. In the transaction of a step.
 */
export const makeRecounts = Effect.fnUntraced(function* ({ amounts, rules, stores, takeStep }: RecountParts) {
  const sql = yield* PgClient.PgClient
  return Effect.fnUntraced(function* (active: ReadonlyArray<ActiveRule>, now: number) {
    const claimed = yield* takeClaims(sql)
    const recounted = active.flatMap(({ fromSeq, rule }) =>
      // The events before a rule that counts older ones were counted with the rule.
      isRecounted(rule) ? [{ rule, fromSeq: rule.backfill === true ? 0 : fromSeq }] : []
    )
    if (claimed.length === 0 || recounted.length === 0) return
    const found = yield* rules.matchesOf(
      claimed.map(({ run_id }) => run_id),
      recounted
    )
    const all = new Map(recounted.map(({ rule }) => [rule.id, rule]))
    for (const run of claimed) {
      const memories = new Map<string, RunMemory>()
      const count = Effect.gen(function* () {
        for (let after = Number(run.after); ; ) {
          const read = yield* readCounted(sql, run, after)
          const last = read.at(-1)
          if (last === undefined) return
          after = Number(last.seq)
          const events = read.flatMap(({ event }) => eventOf(event))
          yield* takeStep(stores.recount(memories, now), { events, marks: [], rules: recounted, found, now })
        }
      })
      yield* amounts.replace(run.run_id, all, count, now)
    }
  })
})
