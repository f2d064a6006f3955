import { assert, describe, it } from "@effect/vitest"
import { BREAKER_HISTORY_ENTRIES, CircuitBreaker, RuntimeError, type RuntimeErrorReason } from "@runplane/runtime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"

const failing = (reason: RuntimeErrorReason) =>
  Effect.fail(new RuntimeError({ reason, method: "GetSession", message: reason }))

const make = Effect.gen(function* () {
  const breaker = yield* CircuitBreaker
  const call = <A>(effect: Effect.Effect<A, RuntimeError>) => breaker.guard("GetSession", effect)
  return {
    ...breaker,
    call,
    succeed: call(Effect.succeed("ok")),
    failWith: (reason: RuntimeErrorReason) => Effect.flip(call(failing(reason))),
    trip: Effect.gen(function* () {
      for (let i = 0; i < 5; i++) yield* Effect.flip(call(failing("UNAVAILABLE")))
    }),
    reasons: Effect.map(breaker.history, (history) => history.map(({ reason, state }) => `${state}: ${reason}`))
  }
})

describe("CircuitBreaker", () => {
  it.effect("opens after five consecutive failures and then refuses without calling", () =>
    Effect.gen(function* () {
      const { call, failWith, history, state, trip } = yield* make
      yield* trip
      assert.strictEqual(yield* state, "OPEN")
      let called = false
      const refused = yield* Effect.flip(
        call(
          Effect.sync(() => {
            called = true
          })
        )
      )
      assert.isFalse(called)
      assert.strictEqual(refused.reason, "CIRCUIT_BREAKER_OPEN")
      assert.isUndefined(refused.grpcCode)
      assert.strictEqual((yield* failWith("UNAVAILABLE")).reason, "CIRCUIT_BREAKER_OPEN")
      assert.deepStrictEqual(yield* history, [
        { state: "CLOSED", enteredAt: 0, reason: "initial" },
        { state: "OPEN", enteredAt: 0, reason: "5 consecutive failures" }
      ])
    }).pipe(Effect.provide(CircuitBreaker.layer()))
  )

  it.effect("counts failures from zero again after a success", () =>
    Effect.gen(function* () {
      const { counts, failWith, state, succeed } = yield* make
      for (let i = 0; i < 4; i++) yield* failWith("UNAVAILABLE")
      yield* succeed
      for (let i = 0; i < 4; i++) yield* failWith("DEADLINE_EXCEEDED")
      assert.strictEqual(yield* state, "CLOSED")
      assert.deepStrictEqual(yield* counts, { successes: 1, failures: 8 })
    }).pipe(Effect.provide(CircuitBreaker.layer()))
  )

  it.effect("takes answers about the request for neither failure nor success", () =>
    Effect.gen(function* () {
      const { counts, failWith, state } = yield* make
      const uncounted = [
        "NOT_FOUND",
        "PERMISSION_DENIED",
        "INVALID_ARGUMENT",
        "FAILED_PRECONDITION",
        "ALREADY_EXISTS"
      ] as const
      for (let i = 0; i < 4; i++) yield* failWith("UNAVAILABLE")
      for (const reason of uncounted) yield* failWith(reason)
      assert.strictEqual(yield* state, "CLOSED")
      assert.deepStrictEqual(yield* counts, { successes: 0, failures: 4 })
      yield* failWith("UNAUTHENTICATED")
      assert.strictEqual(yield* state, "OPEN")
    }).pipe(Effect.provide(CircuitBreaker.layer()))
  )

  it.effect("lets one probe through when its time is over and closes when that succeeds", () =>
    Effect.gen(function* () {
      const { call, reasons, state, succeed, trip } = yield* make
      yield* trip
      yield* TestClock.adjust(29_999)
      assert.strictEqual((yield* Effect.flip(succeed)).reason, "CIRCUIT_BREAKER_OPEN")
      yield* TestClock.adjust(251)
      const answer = yield* Deferred.make<string>()
      const probe = yield* Effect.forkChild(call(Deferred.await(answer)), { startImmediately: true })
      assert.strictEqual(yield* state, "HALF_OPEN")
      assert.strictEqual((yield* Effect.flip(succeed)).reason, "CIRCUIT_BREAKER_OPEN")
      yield* Deferred.succeed(answer, "back")
      assert.strictEqual(yield* Fiber.join(probe), "back")
      assert.strictEqual(yield* state, "CLOSED")
      assert.deepStrictEqual(yield* reasons, [
        "CLOSED: initial",
        "OPEN: 5 consecutive failures",
        "HALF_OPEN: reset timeout after 30250ms",
        "CLOSED: half-open probe succeeded"
      ])
    }).pipe(Effect.provide(CircuitBreaker.layer()))
  )

  it.effect("opens again at once for a full period when the probe fails, with the count going on", () =>
    Effect.gen(function* () {
      const { failWith, reasons, state, trip } = yield* make
      yield* trip
      yield* TestClock.adjust(30_000)
      yield* failWith("UNAVAILABLE")
      yield* TestClock.adjust(29_999)
      assert.strictEqual(yield* state, "OPEN")
      yield* TestClock.adjust(1)
      yield* failWith("UNAVAILABLE")
      assert.deepStrictEqual(yield* reasons, [
        "CLOSED: initial",
        "OPEN: 5 consecutive failures",
        "HALF_OPEN: reset timeout after 30000ms",
        "OPEN: 6 consecutive failures",
        "HALF_OPEN: reset timeout after 30000ms",
        "OPEN: 7 consecutive failures"
      ])
    }).pipe(Effect.provide(CircuitBreaker.layer()))
  )

  it.effect("releases the slot of a probe that was interrupted or not counted", () =>
    Effect.gen(function* () {
      const { call, failWith, state, succeed, trip } = yield* make
      yield* trip
      yield* TestClock.adjust(30_000)
      const probe = yield* Effect.forkChild(call(Effect.never), { startImmediately: true })
      yield* Fiber.interrupt(probe)
      assert.strictEqual((yield* failWith("NOT_FOUND")).reason, "NOT_FOUND")
      assert.strictEqual(yield* state, "HALF_OPEN")
      assert.strictEqual(yield* succeed, "ok")
      assert.strictEqual(yield* state, "CLOSED")
    }).pipe(Effect.provide(CircuitBreaker.layer()))
  )

  it.effect("ignores the outcome of calls that began before the circuit changed", () =>
    Effect.gen(function* () {
      const { call, state, trip } = yield* make
      const answer = yield* Deferred.make<string, RuntimeError>()
      const early = yield* Effect.forkChild(call(Deferred.await(answer)), { startImmediately: true })
      yield* trip
      yield* Deferred.succeed(answer, "late")
      yield* Fiber.join(early)
      assert.strictEqual(yield* state, "OPEN")
    }).pipe(Effect.provide(CircuitBreaker.layer()))
  )

  it.effect("closes by hand and leaves an entry only if it was not closed", () =>
    Effect.gen(function* () {
      const { reasons, reset, state, trip } = yield* make
      yield* reset
      yield* trip
      yield* reset
      yield* reset
      assert.strictEqual(yield* state, "CLOSED")
      assert.deepStrictEqual(yield* reasons, [
        "CLOSED: initial",
        "OPEN: 5 consecutive failures",
        "CLOSED: manual reset"
      ])
    }).pipe(Effect.provide(CircuitBreaker.layer()))
  )

  it.effect("keeps the newest 200 entries", () =>
    Effect.gen(function* () {
      const { failWith, history, reset } = yield* make
      for (let i = 0; i < 150; i++) {
        yield* failWith("UNAVAILABLE")
        yield* reset
      }
      const entries = yield* history
      assert.strictEqual(entries.length, BREAKER_HISTORY_ENTRIES)
      assert.strictEqual(entries.at(-1)?.reason, "manual reset")
    }).pipe(Effect.provide(CircuitBreaker.layer({ threshold: 1 })))
  )
})
