import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import type { DescribedField } from "@runplane/api"
import { parseQuery } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { conditionOf } from "../../../../src/platform/postgres/search/QueryConditions.ts"
import { meaningOf, type SearchField, type SearchParts } from "../../../../src/platform/postgres/search/SearchFields.ts"
import { layerTestDatabase } from "../../../support/TestDatabase.ts"

const id: DescribedField = { name: "id", type: "number", isFast: true, description: "Its number" }

/** A field whose name carries a parameter, with the only values that it has. */
const vote: DescribedField = {
  ...{ name: "vote", type: "keyword", values: ["approve", "reject"], dotted: true, hasAny: true },
  ...{ isFast: false, description: "The last vote of an agent" }
}
const ofVotes: SearchField = {
  field: vote,
  column: (sql, agent) => ({
    type: "text",
    where: (test) => sql`
      EXISTS (SELECT FROM json_each_text(x.votes) AS v
              WHERE ${agent === "" ? sql`true` : sql`v.key = ${agent}`} AND ${test(sql`v.value`)})`
  })
}

const stored: DescribedField = { name: "at", type: "time", isFast: true, description: "When it was stored" }
const ofTimes: SearchField = {
  field: stored,
  column: (sql) => ({ type: "time", where: (test) => test(sql`x.at`) })
}

const parts = (sql: PgClient.PgClient, changes: Partial<SearchParts> = {}): SearchParts => ({
  declared: [id, vote, stored],
  plain: { id: ["integer", "x.id"] },
  others: {},
  added: [ofVotes, ofTimes],
  search: () => sql`false`,
  ...changes
})

layer(layerTestDatabase)("the search fields of features", (it) => {
  it.effect("carry a parameter in the name, a list of values, and times", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const meaning = meaningOf(sql, parts(sql))
      const found = Effect.fnUntraced(function* (q: string) {
        const condition = conditionOf(sql, Result.getOrThrow(parseQuery(q, [id, vote, stored])), meaning)
        const rows = yield* sql<{ readonly id: number }>`
          SELECT x.id FROM (VALUES
            (1, '{"risk": "approve", "lead": "reject"}'::json, '2026-07-01T00:00:00Z'::timestamptz),
            (2, '{"risk": "reject"}'::json, '2026-07-02T00:00:00Z'::timestamptz),
            (3, '{}'::json, '2026-07-03T00:00:00Z'::timestamptz)) AS x (id, votes, at)
          WHERE ${condition} ORDER BY x.id`
        return rows.map((row) => row.id)
      })
      assert.deepStrictEqual(yield* found("vote.risk:approve"), [1])
      assert.deepStrictEqual(yield* found("vote.risk:(approve,reject) -id:1"), [2])
      assert.deepStrictEqual(yield* found("has:vote.lead"), [1])
      assert.deepStrictEqual(yield* found("has:vote"), [1, 2])
      assert.deepStrictEqual(yield* found("at:>2026-07-01"), [2, 3])
      const refused = parseQuery("vote.risk:perhaps", [id, vote, stored])
      assert.include(Result.isFailure(refused) ? refused.failure.message : "", "expected approve, reject")
    })
  )

  it.effect("have one column each", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      assert.throws(() => meaningOf(sql, parts(sql, { added: [ofVotes] })), "without a column: at")
      assert.throws(() => meaningOf(sql, parts(sql, { added: [ofVotes, ofTimes, ofVotes] })), "vote has two columns")
      assert.throws(() => meaningOf(sql, parts(sql, { declared: [id, vote] })), "at is not declared")
    })
  )
})
