import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { MAX_ALERT_RULES } from "@runplane/api"
import * as Effect from "effect/Effect"
import { addRule, alertsOf, level, record, ruleOf, runningRun, spends } from "../../support/AlertRules.ts"
import { call, layerTestService } from "../../support/HttpService.ts"

// docs/internals/attacks.md
layer(layerTestService(), { excludeTestServices: true })("10,000 rules of alerts", (it) => {
  it.effect("are refused beyond the bound, and those within it are evaluated", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const runId = yield* runningRun
      const rule = yield* addRule({ match: `id:${runId}`, levels: [level(1)] })
      yield* sql`
        INSERT INTO alert_rules
        SELECT (jsonb_populate_record(r, jsonb_build_object('id', ids.id, 'rule', r.rule::jsonb || jsonb_build_object('id', ids.id)))).*
        FROM alert_rules r, generate_series(1, ${MAX_ALERT_RULES - 1}::int) n,
             LATERAL (SELECT r.id || '-' || n AS id) ids`
      for (let count = 0; count < 20; count += 1) {
        const answer = yield* call("POST", "/alerts/rules", { body: ruleOf() })
        assert.strictEqual(answer.status, 409, answer.text)
        assert.match(answer.text, /1,?000/)
      }
      yield* record(runId, spends(2))
      assert.lengthOf(yield* alertsOf(rule, (alerts) => alerts.length === 1), 1)
    })
  )
})
