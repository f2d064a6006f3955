import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { around, pick, spread } from "../../../src/examples/runner/Seed.ts"

describe("a seed", () => {
  it.prop("chooses within bounds, and the same each time", [Schema.String], ([seed]) => {
    assert.include(["a", "b", "c"], pick(seed, ["a", "b", "c"]))
    assert.strictEqual(pick(seed, ["a", "b", "c"]), pick(seed, ["a", "b", "c"]))
    const number = spread(seed, 3, 9)
    assert.isTrue(Number.isInteger(number) && number >= 3 && number <= 9)
    const confidence = around(seed, 0.99, 3)
    assert.isTrue(confidence >= 0.96 && confidence <= 1)
  })

  it("reaches every choice", () => {
    const chosen = new Set(Array.from({ length: 50 }, (_, n) => pick(`seed ${n}`, ["a", "b", "c"])))
    assert.sameMembers([...chosen], ["a", "b", "c"])
  })
})
