import { assert, describe, it } from "@effect/vitest"
import { longestLifeMs } from "../../src/people/LaunchedSeats.ts"
import { compiledLaunch } from "../fixtures/Compiled.ts"

describe("the longest life of a session", () => {
  const one = { assign: ["person:ana"] }

  it("is its time, without a seat that suspends it", () => {
    assert.strictEqual(longestLifeMs(compiledLaunch()), 60_000)
    assert.strictEqual(longestLifeMs({ ...compiledLaunch(), people: { one } }), 60_000)
  })

  it("has the longest suspension beside it, so that agents are not stopped while people are waited for", () => {
    const people = { one, two: { ...one, wait: "suspend" } } as const
    assert.strictEqual(longestLifeMs({ ...compiledLaunch(), people }), 65_000)
    const { initiator: _, ...without } = compiledLaunch()
    assert.strictEqual(longestLifeMs({ ...without, people }), 60_000 + 7 * 86_400_000)
  })
})
