import { assert, describe, it } from "@effect/vitest"
import { boundedLabel, MAX_LABEL_LENGTH } from "../../../src/platform/metrics/Metrics.ts"

describe("a bounded label", () => {
  it("keeps the first values and calls the rest other", () => {
    const label = boundedLabel(2)
    assert.deepStrictEqual(["a", "b", "c", "a", "d", "b"].map(label), ["a", "b", "other", "a", "other", "b"])
  })

  it("becomes other when its value is long or has control or format characters", () => {
    const label = boundedLabel(100)
    const longest = "a".repeat(MAX_LABEL_LENGTH)
    assert.deepStrictEqual([longest, "", "café, заявка"].map(label), [longest, "", "café, заявка"])
    const refused = [`${longest}a`, "a\nb", "a\u0000", "a\u0085b", "a\u2028b", "a\u202eb", "a\u200bb"]
    assert.deepStrictEqual(
      refused.map(label),
      refused.map(() => "other")
    )
  })

  it("keeps its room for printable values", () => {
    const label = boundedLabel(1)
    assert.deepStrictEqual(["a\nb", "a".repeat(100_000), "a"].map(label), ["other", "other", "a"])
  })
})
