import { assert, describe, it } from "@effect/vitest"
import { boundedLabel } from "../../../src/react/metrics/BoundedLabel.ts"

describe("a bounded label", () => {
  it("keeps the first values and calls the rest other", () => {
    const label = boundedLabel(2)
    assert.deepStrictEqual(["a", "b", "c", "a", "d", "b"].map(label), ["a", "b", "other", "a", "other", "b"])
  })
})
