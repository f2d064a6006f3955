import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as TestConsole from "effect/testing/TestConsole"
import { printSilences, SILENCE_MS } from "../../src/narrative/Silences.ts"

// docs/reference/cli.md#story
describe("the silence of a watched run", () => {
  it.effect("is explained once for each reason, and not while events come", () =>
    Effect.gen(function* () {
      let events = 1
      let reason: string | Error | undefined = "1 of 3 has not voted: py-lead"
      const read = Effect.suspend(() => (reason instanceof Error ? Effect.fail(reason) : Effect.succeed(reason)))
      const printing = yield* Effect.forkChild(printSilences(read, () => events))
      const linesAfter = (ms: number) => Effect.andThen(TestClock.adjust(ms), TestConsole.errorLines)

      assert.deepStrictEqual(yield* linesAfter(SILENCE_MS - 1), [])
      events += 1
      assert.deepStrictEqual(yield* linesAfter(1), [])
      const first = ["the run waits: 1 of 3 has not voted: py-lead"]
      assert.deepStrictEqual(yield* linesAfter(SILENCE_MS), first)
      assert.deepStrictEqual(yield* linesAfter(5 * SILENCE_MS), first)
      reason = "all 3 have voted; no commitment is on record yet"
      const second = [...first, "the run waits: all 3 have voted; no commitment is on record yet"]
      assert.deepStrictEqual(yield* linesAfter(SILENCE_MS), second)
      reason = undefined
      assert.deepStrictEqual(yield* linesAfter(SILENCE_MS), second)
      reason = new Error("no answer\u001b[31m")
      const third = yield* linesAfter(SILENCE_MS)
      assert.match(String(third.at(-1)), /^what the run waits for is not known: no answer/)
      assert.notInclude(String(third.at(-1)), "\u001b")
      yield* Fiber.interrupt(printing)
    })
  )
})
