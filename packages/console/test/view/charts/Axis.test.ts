import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { distinctLabels, roundTicks, spacedTicks } from "../../../src/view/charts/Axis.ts"

describe("an axis", () => {
  it("repeats no label: another form, or none", () => {
    const minute = (ms: number) => `${Math.round(ms / 60_000)} min`
    assert.deepStrictEqual(distinctLabels([60_000, 61_000, 62_000], [minute, () => "more"]), ["1 min", "more", ""])
  })

  it.prop(
    "has round ticks from 0 to at most the largest value",
    [Schema.Finite.check(Schema.isBetween({ minimum: 1e-9, maximum: 1e15 }))],
    ([most]) => {
      const ticks = roundTicks(most, 4)
      assert.strictEqual(ticks[0], 0)
      assert.isAtMost(ticks.length, 5)
      assert.isAtMost(ticks.at(-1) ?? 0, most * 1.000001)
    }
  )

  it("has ticks with space between them, in the order of their positions", () => {
    assert.deepStrictEqual(spacedTicks([0.5, 0, 0.05, 1], 0.1), [1, 0, 3])
  })
})
