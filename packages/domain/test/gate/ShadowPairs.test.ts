import { assert, describe, it } from "@effect/vitest"
import {
  expectedSide,
  mcNemar,
  type ShadowPair,
  shadowCheck,
  shadowName,
  shadowPair,
  shadowPlanText
} from "@runplane/domain"
import { commits, type Drafts, governed, opened, proposes, votes } from "../support/deliberations.ts"
import { draft } from "../support/events.ts"

const pairs = (counts: Readonly<Record<"both" | "participant" | "shadow" | "none" | "lacking", number>>) => {
  const of = (
    count: number,
    participant: boolean | undefined,
    shadow: boolean | undefined
  ): ReadonlyArray<ShadowPair> => Array.from({ length: count }, () => ({ runId: "r", participant, shadow }))
  return [
    ...of(counts.both, true, true),
    ...of(counts.participant, true, false),
    ...of(counts.shadow, false, true),
    ...of(counts.none, false, false),
    ...of(counts.lacking, true, undefined)
  ]
}
const none = { both: 0, participant: 0, shadow: 0, none: 0, lacking: 0 }

describe("a shadow and its participant over the same sessions", () => {
  it.each([
    ["the shadow is worse", { ...none, both: 10, participant: 8 }, "fail"],
    ["the shadow is better", { ...none, both: 10, shadow: 8 }, "pass"],
    ["may be chance", { ...none, both: 10, shadow: 5 }, "inconclusive"],
    ["may be chance", { ...none, both: 30 }, "inconclusive"]
  ] as const)("%s: %j", (word, counts, verdict) => {
    const check = shadowCheck("b~new", pairs(counts), 1)
    assert.strictEqual(check.verdict, verdict)
    assert.include(check.message, word)
  })

  it("names the figures, the test and the runs without a vote of both", () => {
    const check = shadowCheck("b~new", pairs({ both: 10, participant: 8, shadow: 1, none: 1, lacking: 2 }), 1)
    const p = mcNemar({ firstOnly: 8, secondOnly: 1 }).toFixed(3)
    assert.deepStrictEqual(check, {
      name: "shadow",
      verdict: "fail",
      message:
        `b~new is right in 11 of 20 runs, its participant in 18: 1 against 8 where they differ, p = ${p}, ` +
        "the shadow is worse; 2 runs without a vote of both"
    })
    // Each of three looks has a third of the level.
    assert.strictEqual(
      shadowCheck("b~new", pairs({ ...none, both: 10, participant: 8, shadow: 1 }), 3).verdict,
      "inconclusive"
    )
  })

  it("are not compared without a run in which both have voted", () => {
    const { message, verdict } = shadowCheck("b~new", pairs({ ...none, lacking: 3 }), 1)
    assert.strictEqual(verdict, "inconclusive")
    assert.strictEqual(
      message,
      "b~new and its participant have voted together in no run; 3 runs without a vote of both"
    )
  })
})

describe("the number of runs, from the first half", () => {
  const plan = { runs: 20, maxRuns: 80 }

  it("is named with the discordance that it follows from", () => {
    assert.match(
      shadowPlanText(pairs({ ...none, both: 8, participant: 2 }), plan),
      /^the participant and its shadow differ in 2 of 10 runs: to find a difference of 10 points in 80 of 100 gates needs \d+ runs, and --max-runs allows 80$/
    )
  })

  it("is smaller where both mostly agree", () => {
    const needed = (text: string) => Number(/needs (\d+) runs/.exec(text)?.[1])
    const rare = needed(shadowPlanText(pairs({ ...none, both: 90, participant: 10 }), plan))
    const often = needed(shadowPlanText(pairs({ ...none, both: 60, participant: 40 }), plan))
    assert.isBelow(rare, often)
  })

  it("is not known without a difference, or without a vote", () => {
    assert.match(
      shadowPlanText(pairs({ ...none, both: 10 }), plan),
      /differ in 0 of 10 runs: no number of runs follows/
    )
    assert.match(shadowPlanText(pairs({ ...none, lacking: 4 }), plan), /the needed runs are not known$/)
  })
})

describe("a pair of votes", () => {
  const shadowed = (vote: string) =>
    draft("artifact.created", {
      kind: "shadow.acts",
      shadow: {
        ...{ shadow: shadowName("b", "new"), as: "b", agent: "new", status: "acted" },
        acts: [{ type: "Vote", subject: "p1", vote }]
      }
    })
  const pairOf = (expected: boolean, positive: boolean, ...more: Drafts) => {
    const { by, run } = governed(
      opened(),
      proposes("a"),
      votes("a", "APPROVE"),
      votes("b", "REJECT"),
      commits(positive),
      ...more
    )
    return shadowPair(run, by, "b~new", expected)
  }

  it("is right for the outcome that the case expects, whatever the run decided", () => {
    for (const positive of [true, false]) {
      assert.deepInclude(pairOf(true, positive, shadowed("APPROVE")), { participant: false, shadow: true })
      assert.deepInclude(pairOf(false, positive, shadowed("APPROVE")), { participant: true, shadow: false })
    }
  })

  it("does not exist without the acts of the shadow, and lacks a vote that was not cast", () => {
    assert.isUndefined(pairOf(true, true))
    assert.deepInclude(pairOf(true, true, shadowed("ABSTAIN")), { participant: false, shadow: undefined })
  })

  it("needs a case that names the outcome", () => {
    assert.deepStrictEqual(
      [{ positive: true }, { positive: false }, { positive: null }, { action: "decision.selected" }].map(expectedSide),
      [true, false, undefined, undefined]
    )
  })
})
