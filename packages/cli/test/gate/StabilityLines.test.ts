import { assert, describe, it } from "@effect/vitest"
import type { StabilityAnswer } from "@runplane/api"
import { reportLines } from "../../src/gate/GateReport.ts"
import { stabilityLines } from "../../src/gate/StabilityLines.ts"

const plain = { bold: (text: string) => text, dim: (text: string) => text }

const figures = {
  n: 20,
  excluded: { byReason: { failed: 2 } },
  outcomes: [
    { action: "decision.selected", positive: true, count: 13, share: 0.65 },
    { action: "\u001b[31mnone", positive: null, count: 7, share: 0.35 }
  ],
  agreement: { rate: 0.65, low: 0.43, high: 0.82, method: "wilson", confidence: 0.95 },
  mindChanges: 1,
  cost: { p50: 0.0074, p95: 0.01 },
  durationMs: { p50: 2_900, p95: 4_100 }
} as const

const flips = [{ key: "k", count: 7, text: "risk voted REJECT after the vote", exampleLeft: "l", exampleRight: "r" }]

describe("the lines of a stability", () => {
  it("have the outcomes as bars, the causes in words, and the groups", () => {
    const answer: StabilityAnswer = {
      ...figures,
      flips,
      isLimited: true,
      by: [
        { day: "2026-07-08", ...figures },
        { day: "", ...figures, n: 0, outcomes: [] }
      ]
    }
    const lines = stabilityLines(answer, "day", plain)
    assert.deepStrictEqual(lines.slice(0, 5), [
      "20 counted runs, the latest ones",
      "  █████████████░░░░░░░   13  decision.selected (positive)",
      "  ███████░░░░░░░░░░░░░    7  [31mnone",
      "  not counted: 2 failed",
      "  7 of 20 parted where risk voted REJECT after the vote"
    ])
    assert.include(lines, "  agreement      65 %, between 43 % and 82 %")
    const [day, none] = lines.slice(-2)
    assert.match(day ?? "", /20 {2}2026-07-08 {2}65 %, between 43 % and 82 %, mostly decision\.selected \(positive\)$/)
    assert.match(none ?? "", / 0 {2}none {2}no counted run$/)
  })

  it("have no figures without a counted run", () => {
    const answer: StabilityAnswer = { ...figures, n: 0, outcomes: [], flips: [], isLimited: false }
    assert.deepStrictEqual(stabilityLines(answer, undefined, plain), ["0 counted runs", "  not counted: 2 failed"])
  })
})

describe("the lines of a gate", () => {
  it("end with the verdict and the page of the gate", () => {
    const page = "http://127.0.0.1:3001/console/gates/1a3623e6"
    const lines = reportLines({ gate: "1a3623e6", page, verdict: "pass", spentUsd: 0.5, cases: [] }, plain)
    assert.deepStrictEqual(lines, ["PASS  gate 1a3623e6, $0.5000", page])
  })
})
