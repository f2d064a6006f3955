import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import {
  ALERT_MEASURES,
  AlertPer,
  type AlertRule,
  AlertWindow,
  type CanonicalEvent,
  type CountedMark,
  decodeEventText,
  draftEvent,
  type EventDraft,
  makePeriods,
  measureOf,
  type RunId,
  ruleProblem,
  runSliced
} from "@runplane/domain"
import { type Chance, chanceOf, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { EventLog } from "../../../src/event-log/EventLog.ts"
import { makeAlertClock } from "../../../src/features/alerts/AlertClock.ts"
import { AlertNotices } from "../../../src/features/alerts/AlertNotices.ts"
import { makeAlertStep, type StepStore } from "../../../src/features/alerts/AlertStep.ts"
import { makeAlertStores } from "../../../src/features/alerts/AlertStore.ts"
import { makeChangedRules } from "../../../src/features/alerts/ChangedRules.ts"
import { makeFiringWriter } from "../../../src/features/alerts/FiringWriter.ts"
import { makeMemoryStore } from "../../../src/features/alerts/MemoryStore.ts"
import { makeRuleMatches } from "../../../src/features/alerts/RuleMatches.ts"
import { makeRunAmounts } from "../../../src/features/alerts/RunAmounts.ts"
import { call, layerTestService } from "../../support/HttpService.ts"
import { createRun } from "../../support/Runs.ts"

const KEPT_MS = 366 * 86_400_000
const HISTORIES = 4
const EVENTS = 80
const MARK = "quality"
const KINDS = [
  ...(["message.received", "llm.call.completed", "tool.called", "policy.denied", "proposal.updated"] as const),
  ...(["decision.finalized", "run.started", "run.suspended", "run.resumed", "run.failed", "run.corrected"] as const)
]

/** An event of a run; calls arrive late at times. */
const draftAt = (chance: Chance, at: number): EventDraft => {
  const type = chance.pick(KINDS)
  const sender = chance.pick(["ann", "bob"])
  const calledAt = at - chance.pick([0, 0, 0, 90_000, 1_200_000, 172_800_000])
  const isCall = type === "llm.call.completed" || type === "tool.called"
  return draftEvent(
    type,
    {
      ts: new Date(at).toISOString(),
      subject: { kind: "participant", id: sender },
      source: { kind: "runtime", name: "rust-runtime" }
    },
    {
      ...(!type.startsWith("run.") && { sender, messageType: type === "proposal.updated" ? "Vote" : "Say" }),
      ...(type === "run.corrected" && { status: chance.pick(["completed", "failed"]) }),
      ...(isCall && {
        startedAt: new Date(calledAt - 1_000).toISOString(),
        endedAt: new Date(calledAt).toISOString()
      }),
      decodedPayload: {
        ...{ model: chance.pick(["m", "n"]), text: chance.pick(["a", "b"]), totalTokens: chance.below(9) },
        ...{ estimatedCostUsd: chance.below(10) / 10, costBasis: chance.pick(["fallback", "catalogue"]) },
        ...{ proposalId: "p", vote: chance.pick(["APPROVE", "REJECT"]) },
        ...{ action: chance.pick(["go", "stay"]), outcomePositive: chance.happens(0.5) }
      }
    }
  )
}

/** A rule of the measure with thresholds that histories reach. */
const ruleOf = (chance: Chance, measure: string, id: string): AlertRule => {
  const { clock, firesBelow, unit } = measureOf(measure)
  const scale = unit === "share" ? 0.1 : unit === "milliseconds" ? 600_000 : firesBelow ? 0.1 : 1
  const levels = [1, 4, 9].map((step) => ({ at: step * scale, severity: "info" as const, actions: [] }))
  const draw = (): AlertRule => ({
    ...{ id, name: id, enabled: false, match: "", zone: chance.pick(["UTC", "Asia/Tokyo"]), measure, levels },
    per: clock === undefined ? chance.pick(AlertPer.literals) : "run",
    window: clock === undefined ? chance.pick(AlertWindow.literals) : "run",
    ...(chance.happens(0.5) && { minRuns: 1 + chance.below(3) }),
    ...(chance.happens(0.5) && { resolveBelow: firesBelow ? 9 * scale : scale })
  })
  for (;;) {
    const rule = draw()
    if (ruleProblem(rule) === undefined) return rule
  }
}

/** Two runs with the properties that keys are made of, from their first event on. */
const twoRuns = (scenarioRef: string) => {
  const run = createRun({ status: "running", scenarioRef, environment: "test", sourceKind: "suite", tags: ["x", "y"] })
  return Effect.all([run, run])
}

/** Appends a history of the runs that ends now, and returns it as the log has it. */
const appended = Effect.fnUntraced(function* (chance: Chance, runs: ReadonlyArray<RunId>) {
  const sql = yield* PgClient.PgClient
  const log = yield* EventLog
  const gaps = Array.from({ length: EVENTS }, () => chance.below(chance.happens(0.8) ? 90_000 : 3_600_000))
  let at = Date.now() - gaps.reduce((sum, gap) => sum + gap, 0)
  while (gaps.length > 0) {
    const events = gaps.splice(0, 1 + chance.below(4)).map((gap) => {
      at += gap
      return draftAt(chance, at)
    })
    yield* log.record({ runId: chance.pick(runs), events })
  }
  const rows = yield* sql<{ readonly event: string }>`
    SELECT event::text AS event FROM canonical_events WHERE run_id = ANY(${runs}::text[]::uuid[]) ORDER BY seq`
  return rows.map(({ event }) => Result.getOrThrow(decodeEventText(event)))
})

/** Stores rules that the live evaluator leaves alone. */
const insertRules = Effect.fnUntraced(function* (rules: ReadonlyArray<AlertRule>) {
  const sql = yield* PgClient.PgClient
  yield* sql`
    INSERT INTO alert_rules (id, rule, enabled, from_seq, silent_seq, created_at, updated_at)
    SELECT rule ->> 'id', rule, false, 0, 0, now(), now()
    FROM json_array_elements(${JSON.stringify(rules)}::text::json) AS rule`
})

const addRule = Effect.fnUntraced(function* (rule: AlertRule) {
  const answer = yield* call("POST", "/alerts/rules", { body: rule })
  assert.strictEqual(answer.status, 201, answer.text)
})

/** Steps over stores of the database, and of memory. */
const makeSteps = Effect.gen(function* () {
  const writer = yield* makeFiringWriter
  const alertClock = yield* makeAlertClock
  const changes = yield* makeChangedRules(writer)
  const amounts = yield* makeRunAmounts(writer, changes)
  const stores = yield* makeAlertStores({ alertClock, amounts, changes, keptMs: KEPT_MS, writer })
  const take = yield* makeAlertStep({ periods: makePeriods(), keptMs: KEPT_MS }, (slices) =>
    Effect.sync(() => runSliced(slices))
  )
  return { stores, take }
}).pipe(Effect.provide(AlertNotices.layer))

layer(layerTestService(), { excludeTestServices: true })("the trial of a rule", (it) => {
  it.effect("finds what the rows of the database find, however both divide the log", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const { stores, take } = yield* makeSteps
      const matchRuns = yield* makeRuleMatches
      let fired = 0
      let ended = 0
      for (let number = 0; number < HISTORIES; number++) {
        const chance = chanceOf(20_261_129, number)
        const rules = [...ALERT_MEASURES, `markBelow:${MARK}`].map((measure, at) =>
          ruleOf(chance, measure, `h${number}-${at}`)
        )
        yield* insertRules(rules)
        const runs = yield* twoRuns(`trial/rows-${number}@1.0.0`)
        const events = yield* appended(chance, runs)
        const found = yield* matchRuns(runs, [])
        const now = Date.now()
        const marks = events.map(
          ({ runId, ts }): CountedMark => ({
            ...{ runId, name: MARK, at: Date.parse(ts), value: chance.below(10) * 100_000_000 },
            n: chance.happens(0.9) ? 1 : -1
          })
        )
        const steps = Effect.fnUntraced(function* (store: StepStore, longest: number) {
          for (let from = 0; from < events.length; ) {
            const upTo = from + 1 + chance.below(longest)
            const input = { events: events.slice(from, upTo), marks: marks.slice(from, upTo) }
            const active = rules.map((rule) => ({ rule, fromSeq: 0 }))
            yield* sql.withTransaction(take(store, { ...input, rules: active, found, now }))
            from = upTo
          }
        })
        // In one transaction: the live evaluator ends firings of disabled rules once it sees them.
        const stored = yield* sql.withTransaction(
          Effect.andThen(
            steps(stores.backfill(new Map(), 0, now), 30),
            sql<{ readonly text: string }>`
              SELECT concat_ws(' ', rule_id, key, period, level, 'at', firing ->> 'seq', firing ->> 'value',
                               firing ->> 'startsAt', round(extract(epoch FROM resolved_at) * 1000)::bigint) AS text
              FROM alert_firings WHERE rule_id LIKE ${`h${number}-%`}`
          )
        )
        const memory = makeMemoryStore()
        yield* steps(memory.store, 50)
        const tried = memory.firings().map(({ endedAt, firing }) => {
          const { at, key, level, period, rule, seq, value } = firing
          const end = endedAt === undefined ? [] : [Math.max(at, endedAt)]
          const facts = [rule.id, key, period.key, level, "at", ...(seq === undefined ? [] : [seq]), value]
          return [...facts, new Date(at).toISOString(), ...end].join(" ")
        })
        assert.deepStrictEqual(tried.toSorted(), stored.map(({ text }) => text).toSorted())
        fired += tried.length
        ended += memory.firings().filter(({ endedAt }) => endedAt !== undefined).length
      }
      assert.isAbove(fired, 80)
      assert.isAbove(ended, 20)
    })
  )

  it.effect("reports what the live evaluator has reported", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const chance = chanceOf(20_261_130, 1)
      const scenario = "trial/live@1.0.0"
      // The live evaluator ends what the clock ends before the next event; the trial has no clock.
      const isOfEvents = ({ measure, window }: AlertRule) =>
        measureOf(measure).clock === undefined && window !== "1h" && window !== "24h"
      const rules = Array.from({ length: 2 }, (_, round) =>
        ALERT_MEASURES.map((measure, at) => ruleOf(chance, measure, `l${round}-${at}`))
      )
        .flat()
        .filter(isOfEvents)
        .map((rule): AlertRule => ({ ...rule, enabled: true, match: `scenarioRef:"${scenario}"` }))
      for (const rule of rules) yield* addRule(rule)
      const events: ReadonlyArray<CanonicalEvent> = yield* appended(chance, yield* twoRuns(scenario))
      yield* until(
        sql<{ readonly seq: bigint }>`SELECT seq FROM alert_cursor`,
        ([row]) => Number(row?.seq ?? 0) >= (events.at(-1)?.seq ?? 0)
      )
      let fired = 0
      for (const { id } of rules) {
        const live = yield* sql<{ readonly firing: string }>`
          SELECT firing::text AS firing FROM alert_firings WHERE rule_id = ${id} ORDER BY starts_at, period, key, level`
        const { body } = yield* call("POST", `/alerts/rules/${id}/test`)
        assert.isTrue(body.complete)
        const factsOf = ({
          id: _,
          endsAt: _e,
          resolvedBy: _r,
          status: _s,
          ...facts
        }: Readonly<Record<string, unknown>>) => JSON.stringify(facts)
        assert.deepStrictEqual(
          body.firings.map(factsOf).toSorted(),
          live.map(({ firing }) => factsOf(JSON.parse(firing))).toSorted(),
          id
        )
        fired += live.length
      }
      assert.isAbove(fired, 15)
    })
  )
})
