import { assert, describe, it } from "@effect/vitest"
import { ownLoops } from "../../src/loops/Loops.ts"

/** The numbers of the lines that the check refuses. */
const refusedIn = (lines: ReadonlyArray<string>) => ownLoops(lines.join("\n")).map(({ number }) => number)

describe("the check of loops", () => {
  it("refuses every way to repeat and to fork in the background but the helper", () => {
    const refused = [
      "yield* Effect.forkScoped(Effect.repeat(poll, every))",
      "poll.pipe(Effect.forever)",
      "Effect.retry(Schedule.spaced(1_000))",
      "const ticks = Stream.tick(1_000)",
      "setInterval(() => poll(), 1_000)",
      "poll.pipe(Effect.forkScoped)",
      "yield* Effect.forkDetach(poll)",
      "yield* Effect.forkScoped(",
      "  poll"
    ]
    assert.deepStrictEqual(refusedIn(refused), [1, 2, 3, 4, 5, 6, 7, 8])
  })

  it("accepts the helper, and what ends by a condition", () => {
    const accepted = [
      'yield* Effect.forkScoped(forever("name", round))',
      "yield* Effect.forkScoped(",
      '  forever("name", round)',
      "Effect.repeat(read, { until: isDone })",
      "// Effect.forever is refused",
      " * Effect.forever is refused"
    ]
    assert.deepStrictEqual(refusedIn(accepted), [])
  })
})
