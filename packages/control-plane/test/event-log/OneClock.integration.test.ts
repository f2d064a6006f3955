import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { type RunId, runCompleted, runCreated, runStarted, streamOpened } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { EventLog } from "../../src/event-log/EventLog.ts"
import { newRun } from "../../src/event-log/runs/NewRun.ts"
import { RunRepository } from "../../src/event-log/runs/RunRepository.ts"
import { RunDocuments } from "../../src/queries/runs/RunDocuments.ts"
import { layerDatabaseTimeLog } from "../support/ControlPlane.ts"
import { contribution } from "../support/Envelopes.ts"
import { descriptor } from "../support/HttpService.ts"
import { assertLogIsExact } from "../support/LogChecks.ts"
import { layerTestDatabase } from "../support/TestDatabase.ts"

const HOUR_MS = 3_600_000

/** The clock of a machine that is off by so many milliseconds. */
const clockOff = (real: Clock.Clock, by: number): Clock.Clock => {
  const nanos = BigInt(by) * 1_000_000n
  return {
    currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe() + by,
    currentTimeMillis: Effect.map(real.currentTimeMillis, (now) => now + by),
    currentTimeNanosUnsafe: () => real.currentTimeNanosUnsafe() + nanos,
    currentTimeNanos: Effect.map(real.currentTimeNanos, (now) => now + nanos),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration)
  }
}

/** What a process with such a clock does to a run, as its observer and its callers. */
const processOff = Effect.fnUntraced(function* (by: number) {
  const clock = clockOff(yield* Clock.Clock, by)
  const services = yield* Effect.provideService(Layer.build(Layer.fresh(layerDatabaseTimeLog)), Clock.Clock, clock)
  const log = Context.get(services, EventLog)
  const runs = Context.get(services, RunRepository)
  const now = () => new Date(clock.currentTimeMillisUnsafe()).toISOString()
  const vote = (runId: RunId, messageId: string) => contribution(runId, messageId, now())
  return {
    create: Effect.suspend(() => {
      const id = randomUUID()
      const run = newRun(
        { ...descriptor(), mode: "live" },
        {
          id,
          sessionId: id,
          traceId: "0af7651916cd43dd8448eb211c80319c",
          spanId: "b7ad"
        }
      )
      const { modeName, runtimeKind, traceId } = run
      const created = runCreated({ ts: now(), runId: run.id, traceId, modeName, runtimeKind, sessionId: id })
      return Effect.as(log.create({ runId: run.id, insert: runs.insert(run), events: [created] }), run.id)
    }),
    start: (runId: RunId) =>
      log.change({
        runId,
        to: "starting",
        events: (run, at) => [
          runStarted({
            ts: at,
            startedAt: at,
            runId,
            traceId: run.traceId,
            modeName: run.modeName,
            runtimeKind: run.runtimeKind
          })
        ]
      }),
    become: (runId: RunId, to: "binding_session" | "running") => log.change({ runId, to, events: () => [] }),
    observe: (runId: RunId, cursor: number) =>
      log.observe({ runId, cursor, frames: [vote(runId, `m${cursor}`), vote(runId, `m${cursor + 1}`)] }),
    note: (runId: RunId) => log.record({ runId, events: [streamOpened(now(), runId, { status: "recovered" })] }),
    complete: (runId: RunId) =>
      log.change({
        runId,
        to: "completed",
        events: (run, at) => [
          runCompleted({ ts: at, endedAt: at, runId, traceId: run.traceId, runtimeSessionId: run.runtimeSessionId })
        ]
      })
  }
})

layer(RunDocuments.layer.pipe(Layer.provideMerge(layerDatabaseTimeLog), Layer.provideMerge(layerTestDatabase)), {
  excludeTestServices: true
})("a run that processes with different clocks write", (it) => {
  for (const [first, second] of [
    [HOUR_MS, 0],
    [0, HOUR_MS],
    [-HOUR_MS, HOUR_MS]
  ] as const) {
    it.effect(`has the time of the database (${first} and ${second} ms off)`, () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const documents = yield* RunDocuments
        const runs = yield* RunRepository
        const [left, right] = [yield* processOff(first), yield* processOff(second)]
        const begun = Date.now()
        const runId = yield* left.create
        yield* right.start(runId)
        yield* left.become(runId, "binding_session")
        yield* right.become(runId, "running")
        yield* left.observe(runId, 0)
        yield* right.observe(runId, 2)
        yield* left.note(runId)
        yield* right.note(runId)
        yield* left.observe(runId, 4)
        yield* right.complete(runId)
        yield* left.note(runId)
        const ended = Date.now()

        const { decoded, state } = yield* assertLogIsExact(runId)
        const { createdAt, endedAt, startedAt, updatedAt } = (yield* runs.find(runId))?.record ?? assert.fail()
        const raw = yield* sql<{ readonly ts: Date }>`
            SELECT ts FROM raw_events WHERE run_id = ${runId}::uuid ORDER BY seq`
        const messages = (yield* documents.messages(runId, 0, 100)).rows.map(({ json }) => JSON.parse(json).createdAt)
        const events = decoded.map(({ ts }) => ts)
        for (const times of [events, raw.map(({ ts }) => ts.toISOString()), messages]) {
          assert.deepStrictEqual(times, [...times].sort())
        }
        for (const time of [...events, ...messages, createdAt, startedAt, endedAt, updatedAt]) {
          assert.isAtLeast(Date.parse(time ?? ""), begun - 1_000)
          assert.isAtMost(Date.parse(time ?? ""), ended + 1_000)
        }
        const ordered = [createdAt, events[0], startedAt, endedAt]
        assert.deepStrictEqual(ordered, [...ordered].sort())
        assert.strictEqual(JSON.parse(state).run.endedAt, endedAt)
      })
    )
  }
})
