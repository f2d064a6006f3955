import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import {
  type AlertRule,
  byMeasure,
  decodeEventText,
  draftEvent,
  entriesOfEvent,
  makePeriods,
  makeRuleEvaluator,
  noMemory,
  type RunId,
  type RunMemory,
  remember
} from "@runplane/domain"
import { chanceOf, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { AlertEvaluator } from "../../../src/features/alerts/AlertEvaluator.ts"
import { AlertNotices } from "../../../src/features/alerts/AlertNotices.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const SCENARIO = "exactly/once@1.0.0"
const RUNS = 6
const APPENDS = 240
const levels = (...at: ReadonlyArray<number>) =>
  at.map((each) => ({
    at: each,
    severity: "info" as const,
    actions: [{ type: "webhook" as const, format: "generic" as const, url: "http://127.0.0.1:9/hook" }]
  }))
const rule = (id: string, over: Partial<AlertRule>): AlertRule => ({
  ...{ id, name: id, enabled: true, match: `scenarioRef:"${SCENARIO}"`, per: "all", window: "day", zone: "Asia/Tokyo" },
  ...{ measure: "costUsd", levels: levels(1) },
  ...over
})
const RULES: ReadonlyArray<AlertRule> = [
  rule("costs", { levels: levels(5, 20, 50, 80) }),
  rule("costs-of-models", { per: "model", window: "month", levels: levels(10, 30) }),
  rule("events-of-runs", { per: "run", window: "run", measure: "events", levels: levels(5, 25, 40) }),
  rule("hour", { per: "scenario", window: "1h", measure: "llmCalls", levels: levels(10, 60, 100) }),
  rule("stuck", { per: "run", window: "run", measure: "repeats", levels: levels(2, 3, 4) }),
  rule("denials", { per: "agent", window: "week", measure: "denials", levels: levels(3, 9) })
]

const KEPT_MS = 366 * 86_400_000

const chance = chanceOf(20_261_126, 1)
const eventOf = () => {
  const type = chance.pick(["llm.call.completed", "message.received", "policy.denied"] as const)
  const sender = chance.pick(["ann", "bob"])
  return draftEvent(
    type,
    {
      ts: new Date().toISOString(),
      subject: { kind: "participant", id: sender },
      source: { kind: "runtime", name: "rust-runtime" }
    },
    {
      sender,
      messageType: "Say",
      decodedPayload: { model: chance.pick(["m", "n"]), text: chance.pick(["a", "b"]), estimatedCostUsd: 0.5 }
    }
  )
}

/** The firings of the whole log in one pass. */
const expectedFirings = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const rows = yield* sql<{ readonly event: string }>`
    SELECT e.event::text AS event FROM canonical_events e
    WHERE e.seq > (SELECT max(from_seq) FROM alert_rules) ORDER BY e.seq`
  const evaluator = makeRuleEvaluator(new Map(RULES.map((one) => [one.id, one])), [], [], KEPT_MS)
  const memories = new Map<string, RunMemory>()
  const rules = byMeasure(RULES)
  const periods = makePeriods()
  for (const row of rows) {
    const event = Result.getOrThrow(decodeEventText(row.event))
    const memory = memories.get(event.runId) ?? noMemory()
    memories.set(event.runId, memory)
    const run = { id: event.runId, scenarioRef: SCENARIO, environment: undefined, source: undefined, tags: [] }
    for (const entry of entriesOfEvent(rules, run, event, remember(memory, event), false, {
      periods,
      keptMs: KEPT_MS
    })) {
      evaluator.take(entry)
    }
  }
  return evaluator
    .result()
    .firings.map((one) => `${one.rule.id} ${one.key} ${one.period.key} ${one.level} at ${one.seq}: ${one.value}`)
    .toSorted()
})

layer(layerTestService({ settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: "true" } }), { excludeTestServices: true })(
  "the evaluation of rules",
  (it) => {
    it.effect("fires each level once, whatever process evaluates and is killed", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const log = yield* EventLog
        const runs: Array<RunId> = []
        for (let number = 0; number < RUNS; number++) runs.push(yield* createRun({ status: "running" }))
        yield* sql`UPDATE runs SET scenario_ref = ${SCENARIO}`
        for (const body of RULES) {
          const answer = yield* call("POST", "/alerts/rules", { body })
          assert.strictEqual(answer.status, 201, answer.text)
        }
        // Beside the singleton of the service, three more evaluators, each with caches of its own. Each step of theirs
        // may be interrupted anywhere.
        const layerEvaluator = Layer.fresh(AlertEvaluator.layer.pipe(Layer.provide(AlertNotices.layer)))
        const process = Effect.scoped(
          Effect.gen(function* () {
            const { step } = yield* AlertEvaluator
            while (true) {
              const fiber = yield* Effect.forkChild(Effect.ignore(step))
              yield* Effect.sleep(chance.below(25))
              if (chance.below(3) === 0) yield* Fiber.interrupt(fiber)
              else yield* Fiber.await(fiber)
            }
          }).pipe(Effect.provide(layerEvaluator))
        )
        const processes = yield* Effect.forEach([1, 2, 3], () => Effect.forkScoped(process))
        const append = Effect.suspend(() =>
          log.record({ runId: chance.pick(runs), events: Array.from({ length: 1 + chance.below(3) }, eventOf) })
        )
        yield* Effect.all(
          Array.from({ length: APPENDS }, () => append),
          { concurrency: 4, discard: true }
        )
        yield* until(
          sql<{
            readonly done: boolean
          }>`SELECT seq >= (SELECT max(seq) FROM canonical_events) AS done FROM alert_cursor`,
          ([row]) => row?.done === true
        )
        yield* Fiber.interruptAll(processes)
        const rows = yield* sql<{ readonly text: string }>`
        SELECT concat(rule_id, ' ', key, ' ', period, ' ', level, ' at ', firing ->> 'seq', ': ', firing ->> 'value') AS text
        FROM alert_firings ORDER BY 1`
        const expected = yield* expectedFirings
        assert.isAbove(expected.length, 20)
        assert.deepStrictEqual(rows.map(({ text }) => text).toSorted(), expected)
        // One notification and one audit entry for each.
        const [counts] = yield* sql<{ readonly deliveries: number; readonly entries: number }>`
        SELECT (SELECT count(*) FROM webhook_deliveries WHERE event = 'alert.fired')::int AS deliveries,
               (SELECT count(*) FROM audit_log WHERE action = 'alert.fired')::int AS entries`
        assert.deepStrictEqual(counts, { deliveries: expected.length, entries: expected.length })
      }).pipe(Effect.scoped)
    )
  }
)
