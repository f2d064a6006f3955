import { assert, describe, it } from "@effect/vitest"
import type { Run } from "@runplane/api"
import { type ListedDecision, RunId } from "@runplane/domain"
import { changesIn } from "../../../src/view/overview/Changes.ts"
import {
  caseSearches,
  decidedNote,
  decidedRows,
  decidedRuns,
  decidedTitle,
  flipsOf
} from "../../../src/view/overview/Decided.ts"

let ids = 0
const runOf = (
  day: number,
  verdict: ListedDecision["verdict"],
  more: Partial<ListedDecision> = {},
  scenario = "a/b@1.0.0"
): Run => {
  const id = RunId.make(`00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`)
  const at = `2026-07-${String(day).padStart(2, "0")}T10:00:00.000Z`
  return {
    ...{ id, runId: id, status: "completed", mode: "live", modeName: "macp.mode.decision.v1", runtimeKind: "rust" },
    ...{ runtimeSessionId: id, traceId: "", lastEventSeq: 1, lastEventIndex: 1, tags: [], archivedAt: null },
    ...{ metadata: { scenarioRef: scenario }, createdAt: at, updatedAt: at, endedAt: at },
    decision: {
      ...{ verdict, word: "", counts: "2 for, 1 against, 3 of 3 voted", question: "Go?", case: "c1", asOfSeq: 1 },
      seats: [
        ["ana", "for", 1],
        ["bob", "against", 1]
      ],
      ...more
    }
  }
}

describe("what was decided", () => {
  it("is a row of runs for each scenario, the oldest first, those with flips on top", () => {
    const runs = [runOf(9, "for"), runOf(8, "against"), runOf(9, "denied"), runOf(8, "for", {}, "x/y@1.0.0")]
    const rows = decidedRows(decidedRuns(runs, new Set([runs[3]?.id ?? ""])))
    assert.deepStrictEqual(
      rows.map(({ runs: some, scenario, summary }) => [scenario, some.map(({ verdict }) => verdict), summary]),
      [
        ["x/y@1.0.0", ["for"], "1 approved"],
        ["a/b@1.0.0", ["against", "for", "denied"], "1 declined, 1 approved, 1 stopped by the policy"]
      ]
    )
    const [[first] = []] = rows.map((row) => row.runs)
    assert(first !== undefined)
    assert.strictEqual(
      decidedTitle(first),
      "Go?: Approved, other than in the week before (2 for, 1 against, 3 of 3 voted)"
    )
    assert.deepStrictEqual(
      [decidedNote(1, 1), decidedNote(200, 3_412)],
      ["1 decision", "the latest 200 of 3,412 decisions"]
    )
  })

  it("names a case that came out otherwise than most of its runs of the week before", () => {
    const before = [runOf(3, "for"), runOf(4, "against"), runOf(5, "for")]
    const now = [runOf(9, "for"), runOf(9, "against"), runOf(10, "against")]
    const [flip, ...others] = flipsOf(now, before)
    assert.deepStrictEqual(others, [])
    assert(flip !== undefined)
    assert.deepInclude(flip, {
      question: "Go?",
      run: now[2]?.id ?? "",
      earlier: before[2]?.id ?? "",
      isNow: { word: "Declined", tone: "bad", share: "2 of 3" },
      was: { word: "Approved", tone: "good", share: "2 of 3" },
      runs: [now[2]?.id ?? "", now[1]?.id ?? ""]
    })
  })

  it("says nothing without a repeat, and nothing of refusals", () => {
    assert.deepStrictEqual(flipsOf([runOf(9, "against")], []), [])
    assert.deepStrictEqual(flipsOf([runOf(9, "against")], [runOf(3, "for", { case: "c2" })]), [])
    assert.deepStrictEqual(flipsOf([runOf(9, "denied")], [runOf(3, "for")]), [])
    const { decision, ...run } = runOf(9, "against")
    assert(decision !== undefined)
    const { case: _, ...unknown } = decision
    assert.deepStrictEqual(flipsOf([{ ...run, decision: unknown }], [runOf(3, "for")]), [])
    assert.deepStrictEqual(flipsOf([runOf(9, "for")], [runOf(3, "for")]), [])
  })

  it("is searched by its cases, in searches that are short enough", () => {
    const runs = Array.from({ length: 90 }, (_, at) => runOf(9, "for", { case: String(at).padStart(32, "0") }))
    const searches = caseSearches([...runs, ...runs])
    assert.lengthOf(searches, 3)
    assert.isBelow(Math.max(...searches.map(({ length }) => length)), 1_800)
    assert.deepStrictEqual(caseSearches([]), [])
  })
})

describe("the changes in a time", () => {
  const span = { from: Date.parse("2026-07-08T00:00:00.000Z"), to: Date.parse("2026-07-11T00:00:00.000Z") }
  const at = (day: number) => Date.parse(`2026-07-${String(day).padStart(2, "0")}T10:00:00.000Z`)

  it("are policies, alerts and versions, the newest first, without those of another time", () => {
    const release = runOf(9, "for", {}, "a/b@2.0.0")
    const changes = changesIn(
      {
        policies: [
          { policyId: "p.old", registeredAtUnixMs: at(1) },
          { policyId: "p.new", registeredAtUnixMs: at(10) },
          { policyId: "built-in" }
        ],
        alerts: [{ id: "a1", ruleName: "Budget", startsAt: new Date(at(8)).toISOString() }],
        runs: [release, runOf(8, "for"), runOf(10, "for")]
      },
      span
    )
    assert.deepStrictEqual(
      changes.map(({ href, kind, text }) => [kind, text, href]),
      [
        ["policy", "Policy p.new registered", "/policies?id=p.new"],
        ["release", "First run of a/b 2.0.0, after 1.0.0", `/runs/${release.id}`],
        ["alert", "Alert Budget fired", "/alerts?id=a1"]
      ]
    )
  })

  it("are one line for policies that are registered together", () => {
    const policies = ["a", "b", "c"].map((policyId) => ({ policyId, registeredAtUnixMs: at(9) }))
    const [change, ...others] = changesIn({ policies, alerts: [], runs: [] }, span)
    assert.deepStrictEqual(others, [])
    assert.deepInclude(change, { text: "3 policies registered", href: "/policies" })
  })
})
