import { assert, describe, it } from "@effect/vitest"
import { laneDensity } from "../../../src/view/run/Lanes.ts"

describe("lanes", () => {
  it("counts the events of each lane and part, and none of other lanes", () => {
    const counts = laneDensity([0, 1, 0, undefined], [0, 1, 0.1, 0.5], 2)
    assert.deepStrictEqual(
      [...counts],
      [
        [0, [2, 0]],
        [1, [0, 1]]
      ]
    )
  })
})
