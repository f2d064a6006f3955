import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { createDatabase, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { layerDatabase } from "../../src/platform/postgres/Database.ts"
import { postRun } from "../support/HttpService.ts"
import { ScriptedRuntime } from "../support/ScriptedRuntime.ts"
import { startService } from "./support/ServiceProcess.ts"

const RUNS = 4
const LENGTH = 60
/** Events after which the levels fire. */
const LEVELS = [1, 40, 80, 120, 160, 200, 240, 280]

/** Three processes on one database; two of them are killed while the rules are evaluated. */
const evaluateWithKills = Effect.gen(function* () {
  const databaseUrl = yield* createDatabase
  const runtime = yield* ScriptedRuntime.start
  const environment = {
    DATABASE_URL: databaseUrl,
    RUNTIME_ADDRESS: runtime.address,
    RUN_TAKE_OVER_INTERVAL_MS: "200",
    THROTTLE_LIMIT: "1000000",
    DB_POOL_MAX: "3"
  }
  const services = yield* Effect.forEach([1, 2, 3], () => startService(environment))
  const [first, second, third] = services
  if (first === undefined || second === undefined || third === undefined) return
  yield* Effect.addFinalizer((exit) =>
    Effect.sync(() => {
      if (exit._tag === "Failure") for (const each of services) console.error(each.output().slice(-4_000))
    })
  )
  const [url = ""] = yield* Effect.all(
    services.map((each) => each.url),
    { concurrency: 3 }
  )
  const levels = LEVELS.map((at) => ({
    ...{ at, severity: "info" },
    actions: [{ type: "webhook", format: "generic", url: "http://127.0.0.1:9/" }]
  }))
  const rules = [
    { id: "all", per: "all", window: "month" },
    { id: "each", per: "run", window: "run" }
  ].map((rule) => ({ ...rule, name: rule.id, measure: "events", levels }))
  for (const body of rules) {
    const answer = yield* request("POST", `${url}/alerts/rules`, { body })
    assert.strictEqual(answer.status, 201, answer.text)
  }

  return yield* Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const sessions = Array.from({ length: RUNS }, () => randomUUID())
    for (const id of sessions) {
      runtime.openSession(id, LENGTH)
      assert.strictEqual((yield* postRun(url, id)).status, 202)
    }
    const firings = sql<{ readonly text: string }>`
      SELECT concat(rule_id, ' ', key, ' ', level, ' at ', firing ->> 'seq') AS text FROM alert_firings ORDER BY 1`
    const accept = (length: number) =>
      Effect.sync(() => {
        for (const id of sessions) runtime.accept(id, length)
      })
    yield* accept(10)
    yield* until(firings, (rows) => rows.length >= 2)
    yield* accept(30)
    yield* first.kill("SIGKILL")
    yield* until(firings, (rows) => rows.length >= 6)
    yield* accept(45)
    yield* second.kill("SIGKILL")
    yield* accept(LENGTH)
    yield* until(
      sql<{ readonly ended: number; readonly behind: number }>`
        SELECT (SELECT count(*) FROM runs WHERE status = 'completed')::int AS ended,
               (SELECT count(*) FROM canonical_events WHERE seq > (SELECT seq FROM alert_cursor))::int AS behind`,
      ([row]) => row?.ended === RUNS && row.behind === 0
    )
    const events = yield* sql<{ readonly seq: bigint; readonly run_id: string }>`
      SELECT seq, run_id::text AS run_id FROM canonical_events ORDER BY seq`
    const expected = (rule: string, key: string, own: ReadonlyArray<{ readonly seq: bigint }>) =>
      LEVELS.flatMap((at, level) => {
        const event = own[at - 1]
        return event === undefined ? [] : [`${rule} ${key} ${level} at ${event.seq}`]
      })
    const byRun = [...Map.groupBy(events, ({ run_id }) => run_id)]
    const all = [...expected("all", "all", events), ...byRun.flatMap(([id, own]) => expected("each", id, own))]
    assert.deepStrictEqual((yield* firings).map(({ text }) => text).toSorted(), all.toSorted())
    const [counts] = yield* sql<{ readonly deliveries: number; readonly entries: number }>`
      SELECT (SELECT count(*) FROM webhook_deliveries WHERE event = 'alert.fired')::int AS deliveries,
             (SELECT count(*) FROM audit_log WHERE action = 'alert.fired')::int AS entries`
    assert.deepStrictEqual(counts, { deliveries: all.length, entries: all.length })
  }).pipe(Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 })))
})

describe("alert rules in three processes of which two are killed", () => {
  it.live("fire each level once, at the event that reaches it", () => Effect.scoped(evaluateWithKills))
})
