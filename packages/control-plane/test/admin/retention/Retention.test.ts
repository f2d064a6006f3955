import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import * as TestClock from "effect/testing/TestClock"
import {
  FIRST_SWEEP_DELAY_MS,
  Retention,
  retentionSettings,
  sweepForever
} from "../../../src/admin/retention/Retention.ts"
import { Metrics } from "../../../src/platform/metrics/Metrics.ts"

const nothing = { runs: 0, events: 0, waiting: 0, expired: [] }
const broken = new SqlError({ reason: new UnknownError({ cause: new Error("no database") }) })

/** A service whose sweeps are counted; the second one fails. */
const startSweeps = Effect.gen(function* () {
  const sweeps = yield* Queue.unbounded<number>()
  let count = 0
  const sweep = Effect.suspend(() => {
    count += 1
    Queue.offerUnsafe(sweeps, count)
    return count === 2 ? Effect.fail(broken) : Effect.succeed(nothing)
  })
  yield* Effect.forkScoped(sweepForever(24).pipe(Effect.provideService(Retention, Retention.of({ sweep }))), {
    startImmediately: true
  })
  return sweeps
})

// docs/reference/admin.md#retention
describe("the retention sweeps", () => {
  it.effect("begin ten seconds after the start, come again every interval, and outlive a failure", () =>
    Effect.gen(function* () {
      const sweeps = yield* startSweeps
      yield* TestClock.adjust(FIRST_SWEEP_DELAY_MS - 1)
      assert.strictEqual(Queue.sizeUnsafe(sweeps), 0)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Queue.take(sweeps), 1)
      yield* TestClock.adjust("23 hours")
      assert.strictEqual(Queue.sizeUnsafe(sweeps), 0)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* Queue.take(sweeps), 2)
      yield* TestClock.adjust("24 hours")
      assert.strictEqual(yield* Queue.take(sweeps), 3)
    }).pipe(Effect.provide(Metrics.layer))
  )
})

describe("the settings of retention", () => {
  const read = (env: Readonly<Record<string, string>>) =>
    retentionSettings.pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))

  it.effect("have the documented defaults", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read({ DATA_RETENTION_TTL_DAYS: "" }), {
        enabled: false,
        ttlDays: 30,
        intervalHours: 24,
        batchSize: 500,
        onlyFiled: false
      })
    })
  )

  for (const name of ["DATA_RETENTION_TTL_DAYS", "DATA_RETENTION_INTERVAL_HOURS", "DATA_RETENTION_BATCH_SIZE"]) {
    for (const value of ["0", "-1", "9O", "1.5"]) {
      it.effect(`refuse ${name}=${value}`, () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(read({ [name]: value }))
          assert.include(String(error), `${name} must be a whole number of at least 1, got "${value}"`)
        })
      )
    }
  }
})
