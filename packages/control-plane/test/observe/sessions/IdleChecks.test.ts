import { assert, describe, it } from "@effect/vitest"
import { RunId, type SessionSnapshot } from "@runplane/domain"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import { ObservedRuns } from "../../../src/observe/ObservedRuns.ts"
import { ObserverSettings } from "../../../src/observe/ObserverSettings.ts"
import { IdleChecks } from "../../../src/observe/sessions/IdleChecks.ts"
import { SessionDirectory } from "../../../src/observe/sessions/SessionDirectory.ts"

const TIMEOUT_MS = 120_000
const NEVER = 1e15

const idOf = (number: number) => `session-${String(number).padStart(5, "0")}`
const runOf = (number: number) => RunId.make(`00000000-0000-4000-8000-${String(number).padStart(12, "0")}`)

/** The log: its suspended runs, and the outcome of a read. */
class Runs extends Context.Service<Runs, { readonly suspended: Set<string>; reading: "well" | "fails" | "dies" }>()(
  "test/Runs"
) {
  static readonly layer = Layer.sync(Runs, () => ({ suspended: new Set<string>(), reading: "well" as const }))
}
const layerRuns = Layer.unwrap(
  Effect.map(Runs, (runs) =>
    Layer.mock(ObservedRuns, {
      statuses: (runIds) =>
        Effect.suspend(() => {
          if (runs.reading === "dies") return Effect.die(new Error("broken"))
          return runs.reading === "fails"
            ? Effect.fail(new SqlError({ reason: new ConnectionError({ cause: new Error("away") }) }))
            : Effect.succeed(new Map(runIds.map((id) => [id, runs.suspended.has(id) ? "suspended" : "running"])))
        })
    })
  )
)
const layerWith = (streamIdleTimeoutMs: number) =>
  IdleChecks.layer.pipe(
    Layer.provide([SessionDirectory.layer, layerRuns]),
    Layer.provide(ObserverSettings.layerFrom({ streamIdleTimeoutMs })),
    Layer.provideMerge(Layer.merge(Layer.fresh(RuntimeFake.layer), Layer.fresh(Runs.layer)))
  )

const test = (
  name: string,
  effect: Effect.Effect<void, unknown, IdleChecks | RuntimeFake | Runs>,
  timeoutMs = TIMEOUT_MS
) => it.effect(name, () => Effect.provide(effect, layerWith(timeoutMs)))

/** Opens sessions of one message each, and lets their observations rest until the idle time-out is over. */
const resting = Effect.fnUntraced(function* (
  count: number,
  { timeoutMs = TIMEOUT_MS, ...more }: Partial<SessionSnapshot> & { readonly timeoutMs?: number } = {}
) {
  const fake = yield* RuntimeFake
  const quiet = yield* IdleChecks
  /** For which observations an alarm was set, and when it is to ring. */
  const alarms: Array<readonly [number, number]> = []
  const rest = Effect.fnUntraced(function* (number: number, received = 2, suspended = false) {
    const at = (yield* Clock.currentTimeMillis) + timeoutMs
    const setAlarm = (at: number) => Effect.sync(() => void alarms.push([number, at]))
    yield* quiet.add({ runId: runOf(number), sessionId: idOf(number), at, idleness: { received, suspended }, setAlarm })
    return at
  })
  const open = (number: number, session: Partial<SessionSnapshot> = {}) =>
    fake.openSession({ sessionId: idOf(number), ...counted(1), expiresAtUnixMs: NEVER, ...more, ...session })
  for (let number = 0; number < count; number++) {
    yield* open(number)
    yield* rest(number)
  }
  const listings = Effect.map(fake.calls, (calls) => calls.filter(({ method }) => method === "ListSessions").length)
  return { alarms, fake, listings, open, rest }
})

const counted = (messageCount: number) => ({
  participantActivity: [{ participantId: "agent://a", lastMessageAtUnixMs: 1, messageCount }]
})

// docs/internals/runtime.md#idle-sessions
describe("quiet sessions", () => {
  test(
    "are compared with one listing in each idle time-out, and no observation is woken",
    Effect.gen(function* () {
      const { alarms, listings } = yield* resting(100)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* listings, 0)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* listings, 1)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(alarms, [])
      assert.strictEqual(yield* listings, 31)
    })
  )

  test(
    "are compared when they have been quiet for half of that time",
    Effect.gen(function* () {
      yield* TestClock.adjust("59 seconds")
      const { alarms, listings } = yield* resting(100)
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* listings, 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* listings, 1)
      assert.deepStrictEqual(alarms, [])
    })
  )

  test(
    "need one listing for all, whenever each became quiet",
    Effect.gen(function* () {
      const { alarms, listings, open, rest } = yield* resting(100)
      for (let number = 100; number < 200; number++) {
        yield* TestClock.adjust("1 second")
        yield* open(number)
        yield* rest(number)
      }
      yield* TestClock.adjust("1 hour")
      // At 2 minutes, and then every other.
      assert.strictEqual(yield* listings, 30)
      assert.deepStrictEqual(alarms, [])
    })
  )

  test(
    "that have changed wake their observations at the set time, and no others",
    Effect.gen(function* () {
      const { alarms, fake, open, rest } = yield* resting(100)
      const { suspended } = yield* Runs
      const changed = [
        ["more than the log has", counted(2)],
        ["not counted", { participantActivity: [] }],
        ["about to expire", { expiresAtUnixMs: 230_000 }],
        ["suspended", { state: "SUSPENDED" }],
        ["at its end", { state: "RESOLVED" }]
      ] satisfies ReadonlyArray<readonly [string, Partial<SessionSnapshot>]>
      for (const [position, [, session]] of changed.entries()) {
        yield* open(100 + position, session)
        yield* rest(100 + position)
      }
      yield* open(105)
      const at = yield* rest(105)
      suspended.add(runOf(105))
      yield* rest(106)
      // Not the run, but the session; and both, which is as it should be, however late it is.
      yield* open(107, { state: "SUSPENDED" })
      yield* rest(107, 2, true)
      yield* open(108, { state: "SUSPENDED", expiresAtUnixMs: 1 })
      yield* rest(108, 2, true)
      suspended.add(runOf(108))
      yield* fake.evict(idOf(3))
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(
        alarms.toSorted(([left], [right]) => left - right),
        [3, 100, 101, 102, 103, 104, 105, 106, 107].map((number) => [number, at])
      )
    })
  )

  test(
    "that are few are queried one by one, each at its own time",
    Effect.gen(function* () {
      const { alarms, listings } = yield* resting(20)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* listings, 0)
      assert.lengthOf(alarms, 20)
      assert.isTrue(alarms.every(([, at]) => at === TIMEOUT_MS))
    })
  )

  for (const reason of ["PERMISSION_DENIED", "UNAVAILABLE"] as const) {
    test(
      `of a runtime that answers ${reason} wake their observations`,
      Effect.gen(function* () {
        const { alarms, fake } = yield* resting(250)
        yield* fake.fail({ method: "ListSessions", times: 9 }, reason)
        yield* TestClock.adjust("121 seconds")
        assert.lengthOf(alarms, 250)
      })
    )
  }

  for (const outcome of ["fails", "dies"] as const) {
    test(
      `wake their observations when the read of their runs ${outcome}, and wait again`,
      Effect.gen(function* () {
        const { alarms, rest } = yield* resting(100)
        const runs = yield* Runs
        runs.reading = outcome
        yield* TestClock.adjust("2 minutes")
        assert.lengthOf(alarms, 100)
        runs.reading = "well"
        for (let number = 0; number < 100; number++) yield* rest(number)
        yield* TestClock.adjust("10 minutes")
        assert.lengthOf(alarms, 100)
      })
    )
  }

  test(
    "are what their observations have said last, and nothing after they have left",
    Effect.gen(function* () {
      const { alarms, fake, open, rest } = yield* resting(100)
      const quiet = yield* IdleChecks
      yield* open(1, counted(2))
      yield* rest(1, 3)
      yield* open(2, counted(2))
      quiet.remove(idOf(2), runOf(3))
      quiet.remove(idOf(4), runOf(4))
      yield* fake.evict(idOf(4))
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(
        alarms.map(([number]) => number),
        [2]
      )
    })
  )

  test(
    "do not delay an alarm before the next comparison, or beside another run of the session",
    Effect.gen(function* () {
      const { alarms } = yield* resting(100)
      const quiet = yield* IdleChecks
      const setAlarm = (at: number) => Effect.sync(() => void alarms.push([-1, at]))
      const soon = {
        runId: runOf(1),
        sessionId: idOf(1),
        at: 59_999,
        idleness: { received: 1, suspended: false },
        setAlarm
      }
      yield* quiet.add(soon)
      yield* quiet.add({ ...soon, runId: runOf(7_000), sessionId: idOf(2), at: 90_000 })
      assert.deepStrictEqual(alarms, [
        [-1, 59_999],
        [-1, 90_000]
      ])
      yield* TestClock.adjust("2 minutes")
      assert.lengthOf(alarms, 2)
    })
  )

  test(
    "are not compared every few milliseconds, however short the time-out is",
    Effect.gen(function* () {
      const { alarms, listings } = yield* resting(100, { timeoutMs: 10 })
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* listings, 0)
      assert.lengthOf(alarms, 100)
    }),
    10
  )
})
