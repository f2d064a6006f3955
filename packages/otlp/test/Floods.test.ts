import { assert, describe, it } from "@effect/vitest"
import { type Flood, floodsOf, giantsOf } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { OTLP_LIMITS, readTelemetry } from "../src/index.ts"

const ELEMENTS = 400_000
/** Parts that lead to nothing, of which a request of the test may have so many. */
const LIMITS = { ...OTLP_LIMITS, passed: 100_000 }
const GIANT_BYTES = 31_000_000
/** Milliseconds of this thread between two turns of others: a slice, and the garbage collector. */
const LONGEST_TURN_MS = 100
const LARGEST_HEAP = 100_000_000

/** The most milliseconds of this thread that an effect takes without giving it back. */
const withLongestTurn = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  let longest = 0
  let before = process.threadCpuUsage()
  const turns = Effect.forever(
    Effect.andThen(
      Effect.sync(() => {
        const { system, user } = process.threadCpuUsage(before)
        longest = Math.max(longest, (system + user) / 1_000)
        before = process.threadCpuUsage()
      }),
      Effect.yieldNow
    )
  )
  const fiber = yield* Effect.forkChild(turns)
  const result = yield* effect
  yield* Fiber.interrupt(fiber)
  return { result, longest }
})

const read = ({ encoding, signal }: Flood, body: Buffer) => readTelemetry(signal, encoding, body, LIMITS)

describe("a request", () => {
  for (const flood of floodsOf(ELEMENTS)) {
    it.live(`of many empty ${flood.name} is ${flood.becomes}, in short turns and little memory`, () =>
      Effect.gen(function* () {
        const body = flood.body()
        const heap = process.memoryUsage().heapUsed
        const { longest, result } = yield* withLongestTurn(Effect.result(read(flood, body)))
        assert.isBelow(longest, LONGEST_TURN_MS)
        assert.isBelow(process.memoryUsage().heapUsed - heap, LARGEST_HEAP)
        if (flood.becomes === "refused") {
          assert.isTrue(result._tag === "Failure" && result.failure._tag === "TooManyParts", JSON.stringify(result))
        } else {
          assert.isTrue(result._tag === "Success", JSON.stringify(result))
          const { dropped, telemetry } = result._tag === "Success" ? result.success : assert.fail()
          assert.strictEqual(dropped.values, 1)
          assert.lengthOf(telemetry, 1)
          assert.include(JSON.stringify(telemetry), "(cut")
        }
      })
    )
  }

  for (const giant of giantsOf(GIANT_BYTES)) {
    it.live(`with ${giant.name} of 31 MB reads its beginning alone`, () =>
      Effect.gen(function* () {
        const body = giant.body()
        const { longest, result } = yield* withLongestTurn(read(giant, body))
        assert.isBelow(longest, LONGEST_TURN_MS)
        const [span] = result.telemetry
        const text = JSON.stringify(span)
        assert.isBelow(text.length, OTLP_LIMITS.contentBytes + 1_000)
        if (giant.name.includes("name")) assert.deepStrictEqual(span?.attributes, {})
        else assert.include(text, `(cut, ${GIANT_BYTES} bytes)`)
        assert.strictEqual(result.dropped.values + result.dropped.attributes, 1)
      })
    )
  }
})
