import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/testing/TestClock"
import { CliFailure, EXIT_CODES } from "../../src/CliFailure.ts"
import { lossOf } from "../../src/gate/LiveTrial.ts"

const failure = (code: CliFailure["code"]) => new CliFailure({ reason: "no answer", code })

/** The exit of a gate's watch after two minutes of answers that depend on the number of the check. */
const watched = Effect.fnUntraced(function* (answer: (check: number) => Effect.Effect<void, CliFailure>) {
  let checks = 0
  const watch = yield* Effect.forkChild(lossOf(Effect.suspend(() => answer(++checks))))
  yield* TestClock.adjust("2 minutes")
  return watch.pollUnsafe()
})

describe("the watch of the control plane", () => {
  it.effect("ends the gate as unreachable when it is away", () =>
    Effect.gen(function* () {
      for (const code of [EXIT_CODES.unreachable, EXIT_CODES.failed]) {
        const exit = yield* watched((check) => (check < 3 ? Effect.void : Effect.fail(failure(code))))
        assert.deepStrictEqual(exit, Exit.fail(failure(EXIT_CODES.unreachable)))
      }
    })
  )

  it.effect("goes on after a restart, and while the control plane refuses the check", () =>
    Effect.gen(function* () {
      const restarted = yield* watched((check) =>
        check % 10 === 0 ? Effect.void : Effect.fail(failure(EXIT_CODES.unreachable))
      )
      assert.isUndefined(restarted)
      assert.isUndefined(yield* watched(() => Effect.fail(failure(EXIT_CODES.refused))))
    })
  )
})
