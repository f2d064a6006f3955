import { assert, describe, it } from "@effect/vitest"
import { Run, runQueryFields, type StabilityAnswer } from "@runplane/api"
import { parseQuery } from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { gateIdOf, gateSearch, scenarioSearch } from "../../../src/view/gates/GateLinks.ts"
import {
  casesOf,
  GROUPINGS,
  type Grouping,
  groupRows,
  groupSearch,
  outcomeBars,
  progressText,
  recentGates
} from "../../../src/view/gates/Gates.ts"

/** The n-th run of a gate, a minute after the one before. */
const run = (nth: number, status: Run["status"], gateId: string, gate?: Readonly<Record<string, unknown>>): Run =>
  Schema.decodeUnknownSync(Run)({
    id: `82fd0968-6181-4782-a13c-c7033c2834f${nth}`,
    runId: `82fd0968-6181-4782-a13c-c7033c2834f${nth}`,
    status,
    mode: "sandbox",
    runtimeKind: "rust",
    runtimeSessionId: "82fd0968-6181-4782-a13c-c7033c2834f3",
    traceId: "034924b97a84f4ff73d9698a36a5eba1",
    lastEventSeq: 98,
    lastEventIndex: 98,
    tags: ["nightly", `gate:${gateId}`],
    metadata: gate === undefined ? {} : { gate },
    createdAt: `2026-07-01T10:0${nth}:00.000Z`,
    updatedAt: "2026-07-01T11:00:00.000Z",
    archivedAt: null
  })

const isValid = (q: string) => Result.isSuccess(parseQuery(q, runQueryFields))

describe("the runs of a gate", () => {
  it("are grouped by case, in the order of their first runs", () => {
    const newestFirst = [
      run(4, "running", "a1", { case: "two", seed: 2 }),
      run(3, "completed", "a1", { case: "one", seed: "x", variant: "model=m" }),
      run(2, "failed", "a1", { case: "two", seed: 1 }),
      run(1, "completed", "a1", { case: "one" }),
      run(0, "completed", "a1")
    ]
    const cases = casesOf(newestFirst)
    assert.deepStrictEqual(
      cases.map(({ ended, hasVariants, name, total }) => [name, ended, total, hasVariants]),
      [
        ["one", 2, 2, true],
        ["two", 1, 2, false]
      ]
    )
    assert.deepStrictEqual(
      cases[1]?.runs.map(({ seed }) => seed),
      ["1", "2"]
    )
    assert.deepStrictEqual(cases.map(progressText), ["2 runs", "1 of 2 runs ended"])
  })

  it("are found by tag, case and scenario, whatever the names are", () => {
    for (const name of ["healthy replica", 'a "quoted" \\ name', "-x", "ü..1"]) {
      assert.isTrue(isValid(gateSearch("1a3623e6", name)), name)
      assert.isTrue(isValid(scenarioSearch(name)), name)
    }
    assert.strictEqual(gateIdOf(run(1, "running", "1a3623e6")), "1a3623e6")
    assert.isUndefined(gateIdOf({ tags: ["nightly"] }))
  })
})

describe("recent gates", () => {
  it("are the gates of the newest runs; the last one may be cut", () => {
    const newest = [
      run(5, "running", "b", { case: "one" }),
      run(4, "completed", "b", { case: "two" }),
      run(3, "completed", "a", { case: "one" })
    ]
    assert.deepStrictEqual(
      recentGates(newest, true).map(({ at, cases, ended, id, isCut, total }) => [id, cases, ended, total, at, isCut]),
      [
        ["b", ["two", "one"], 1, 2, "2026-07-01T10:04:00.000Z", false],
        ["a", ["one"], 1, 1, "2026-07-01T10:03:00.000Z", true]
      ]
    )
    assert.isFalse(recentGates(newest, false).some(({ isCut }) => isCut))
  })
})

describe("outcomes as bars", () => {
  it("have their share, its interval, and both in words", () => {
    const [first, second] = outcomeBars({
      n: 20,
      outcomes: [
        { action: "decision.selected", positive: true, count: 17, share: 0.85 },
        { action: "none", positive: null, count: 3, share: 0.15 }
      ]
    })
    assert.deepInclude(first, {
      text: "Approved",
      countText: "17 of 20 runs, 85 %",
      intervalText: "95 % interval 64 % to 95 %",
      rate: 0.85
    })
    assert.strictEqual(second?.text, "none")
  })
})

describe("groups of stability", () => {
  const figures = {
    n: 1,
    excluded: { byReason: {} },
    outcomes: [],
    agreement: { rate: 1, low: 0.2, high: 1, method: "wilson", confidence: 0.95 },
    mindChanges: 0,
    cost: { p50: 0, p95: 0 },
    durationMs: { p50: 0, p95: 0 }
  } as const

  it("have the value of their property", () => {
    const answer: StabilityAnswer = {
      ...figures,
      flips: [],
      isLimited: false,
      by: [{ week: "2026-07-06", ...figures }]
    }
    assert.deepStrictEqual(
      groupRows(answer, "week").map(({ value }) => value),
      ["2026-07-06"]
    )
  })

  it("lead to their runs by a valid search", () => {
    const days = groupSearch("tags:a OR tags:b", "week", "2026-12-28")
    assert.strictEqual(days, "(tags:a OR tags:b) createdAt:>=2026-12-28 createdAt:<2027-01-04")
    assert.strictEqual(groupSearch("", "policyVersion", ""), "-has:policyVersion")
    for (const grouping of Object.keys(GROUPINGS) as ReadonlyArray<Grouping>) {
      for (const value of ["2026-07-06", "", 'a "b" c']) {
        const search = groupSearch("tags:a", grouping, value)
        assert.isTrue(search === undefined || isValid(search), `${grouping} ${value}`)
      }
    }
    assert.isUndefined(groupSearch("", "model", "m1"))
  })
})
