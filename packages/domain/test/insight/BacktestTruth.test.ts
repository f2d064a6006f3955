import { assert, describe, it } from "@effect/vitest"
import { addBacktestTruth, type Backtested, emptyBacktestTruth, MAX_TRUTH_EXAMPLES } from "@runplane/domain"

const flipped = (to: "negative" | "none"): Backtested => ({
  kind: "flipped",
  runId: "r",
  from: "positive",
  to,
  reasons: [],
  rules: []
})
const unchanged: Backtested = { kind: "unchanged" }
const one = (result: Backtested, truth: boolean | undefined) => addBacktestTruth(emptyBacktestTruth, "r", result, truth)

describe("the truth of a backtest", () => {
  it.each([
    ["an unchanged right outcome", unchanged, true, { judged: 1, right: 1, rightUnderPolicy: 1, gained: [], lost: [] }],
    [
      "an unchanged wrong outcome",
      unchanged,
      false,
      { judged: 1, right: 0, rightUnderPolicy: 0, gained: [], lost: [] }
    ],
    [
      "a turned wrong outcome",
      flipped("negative"),
      false,
      { judged: 1, right: 0, rightUnderPolicy: 1, gained: ["r"], lost: [] }
    ],
    [
      "a turned right outcome",
      flipped("negative"),
      true,
      { judged: 1, right: 1, rightUnderPolicy: 0, gained: [], lost: ["r"] }
    ],
    [
      "a wrong outcome without decision",
      flipped("none"),
      false,
      { judged: 1, right: 0, rightUnderPolicy: 0, gained: [], lost: [] }
    ],
    [
      "a right outcome without decision",
      flipped("none"),
      true,
      { judged: 1, right: 1, rightUnderPolicy: 0, gained: [], lost: ["r"] }
    ],
    ["an unknown truth", unchanged, undefined, emptyBacktestTruth],
    ["a run that is left out", { kind: "skipped", reason: "another mode" }, true, emptyBacktestTruth]
  ] as const)("counts %s", (_, result, truth, expected) => {
    assert.deepStrictEqual(one(result, truth), expected)
  })

  it("names the first examples and counts all", () => {
    const many = Array.from({ length: 50 }, (_, at) => `r${at}`).reduce(
      (so, runId) => addBacktestTruth(so, runId, flipped("negative"), false),
      emptyBacktestTruth
    )
    assert.strictEqual(many.rightUnderPolicy, 50)
    assert.lengthOf(many.gained, MAX_TRUTH_EXAMPLES)
  })
})
