import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { ROOT } from "../support/DocumentBlocks.ts"

/** The numbers of the lines that the check refuses. */
const refusedIn = (lines: ReadonlyArray<string>): unknown => {
  const script = `import { ownLoops } from "./scripts/loops.mjs"
    console.log(JSON.stringify(ownLoops(${JSON.stringify(lines.join("\n"))}).map(({ number }) => number)))`
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: ROOT, encoding: "utf8" })
  return JSON.parse(stdout)
}

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

  it("finds nothing in the sources", () => {
    const script = `import { unguardedLoops } from "./scripts/loops.mjs"; console.log(JSON.stringify(unguardedLoops()))`
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: ROOT,
      encoding: "utf8"
    })
    assert.deepStrictEqual(JSON.parse(stdout), [])
  })
})
