import { assert, describe, it } from "@effect/vitest"
import { type CorrectValue, correctValue, decisionNames, type TruthMark, truthOf } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import { pick } from "../support/arbitraries.ts"
import { opened, proposes, recordOf, says } from "../support/deliberations.ts"
import { derived } from "../support/events.ts"

/** The last event: a decision with this action. */
const commits = (action: string, more: Readonly<Record<string, string | boolean>> = {}) =>
  derived("decision.finalized", "Commitment", "lead", { action, ...more })

const decision = recordOf(opened(), proposes(), commits("decision.selected", { outcome_positive: true }))
const index = decision.commitment?.index ?? 0

const mark = (value: TruthMark["value"], more: Partial<TruthMark> = {}): TruthMark => ({
  index,
  value,
  source: "human",
  createdAt: "2026-07-02T00:00:00.000Z",
  ...more
})
describe("the truth about a decision", () => {
  it.each([
    ["no mark", [], undefined],
    ["true", [mark(true)], true],
    ["false", [mark(false)], false],
    ["the decided action", [mark("Decision.Selected")], true],
    ["the decided action without what is before its dot", [mark(" selected ")], true],
    ["another action", [mark("decision.rejected")], false],
    ["a part of the action, which names nothing", [mark("select")], undefined],
    ["a text that says nothing, before a judge who does", [mark("?"), mark(false, { source: "judge" })], false],
    ["a stored text of a flag", [mark("True"), mark(false, { source: "judge" })], true],
    ["a number", [mark(1)], undefined],
    ["a mark on an earlier decision", [mark(true, { index: index - 1 })], undefined],
    ["a mark that names no event", [mark(true, { index: undefined })], true],
    ["the later of two", [mark(true), mark(false, { createdAt: "2026-07-03T00:00:00.000Z" })], false],
    [
      "a person before a later judge",
      [mark(true), mark(false, { source: "judge", createdAt: "2026-07-03T00:00:00.000Z" })],
      true
    ],
    ["a judge alone", [mark(false, { source: "judge" })], false],
    ["a system before a judge", [mark(false, { source: "judge" }), mark(true, { source: "api" })], true]
  ] as const)("is that of %s", (_, marks, truth) => {
    assert.strictEqual(truthOf(marks, decision), truth)
  })

  const marks = Arbitrary.array(
    Arbitrary.map(
      Arbitrary.all({
        value: pick<TruthMark["value"]>([true, false, "decision.selected", "hold"]),
        source: pick<TruthMark["source"]>(["human", "judge", "rule", "api"]),
        day: pick([1, 2, 3, 4, 5, 6, 7, 8, 9])
      }),
      ({ day, source, value }) => mark(value, { source, createdAt: `2026-07-0${day}T00:00:00.000Z` })
    ),
    { maxLength: 8 }
  )

  it.prop("does not depend on judges where another source has a mark", [marks], ([given]) => {
    const others = given.filter(({ source }) => source !== "judge")
    if (others.length > 0) assert.strictEqual(truthOf(given, decision), truthOf(others, decision))
    else assert.strictEqual(truthOf(given, decision) === undefined, given.length === 0)
  })
})

describe("a value of correct", () => {
  const two = [opened(), proposes("a", "p1"), proposes("b", "p2")]
  const selected = commits("decision.selected", { outcome_positive: true })
  const chosen = commits("decision.selected", { outcome_positive: true, proposalId: "p2" })
  const declined = commits("decision.rejected", { outcome_positive: false })
  const runs = {
    "one option": recordOf(opened(), proposes(), selected),
    "one option, declined": recordOf(opened(), proposes(), declined),
    "two options, the second chosen": recordOf(...two, chosen),
    "two options, none named": recordOf(...two, selected),
    "two options, declined": recordOf(...two, declined),
    "an option as its action": recordOf(...two, commits("option of p2")),
    step_up: recordOf(opened(), proposes(), commits("step_up")),
    "step_up, a yes": recordOf(opened(), proposes(), commits("step_up", { outcome_positive: true })),
    "the option yes": recordOf(
      opened(),
      says("a", "Proposal", { option: "Yes" }),
      says("b", "Proposal", { option: "no" }, "p2"),
      chosen
    ),
    "the option decline": recordOf(opened(), says("a", "Proposal", { option: "decline" }), selected),
    "the action hold": recordOf(opened(), proposes(), commits("hold", { outcome_positive: false })),
    "an approved quorum": recordOf(opened({ mode: "quorum" }), commits("quorum.approved"))
  }
  const OUTPUTS = ["go", "hold", "no_go"]
  const read = (run: keyof typeof runs, value: TruthMark["value"], outputs: ReadonlyArray<string> = []) => {
    const { commitment, ...record } = runs[run]
    if (commitment === undefined) return assert.fail("no decision")
    const stored: CorrectValue = correctValue(value, decisionNames(record, commitment, outputs))
    if ("problem" in stored) return stored.problem
    return truthOf([mark(stored.value, { index: commitment.index, outputs })], { ...record, commitment })
  }

  it.each(["true", "True", " TRUE ", "yes", "Yes", "correct", "Correct", "right"])("may be the flag %j", (text) => {
    assert.isTrue(read("one option", text))
    assert.isTrue(read("one option, declined", text))
  })
  it.each(["false", "False", "no", "NO", "wrong", "incorrect"])("may be the flag %j of a wrong decision", (text) => {
    assert.isFalse(read("one option", text))
    assert.isFalse(read("one option, declined", text))
  })

  it.each<readonly [keyof typeof runs, string, boolean]>([
    ["one option", "decision.selected", true],
    ["one option", "Selected", true],
    ["one option", "option of p1", true],
    ["one option", " Option-of  P1", true],
    ["one option", "p1", true],
    ["one option", "approve", true],
    ["one option", "rejected", false],
    ["one option", "no_go", false],
    ["one option", "go", true],
    ["one option, declined", "option of p1", false],
    ["one option, declined", "decision.rejected", true],
    ["one option, declined", "no_go", true],
    ["one option, declined", "approved", false],
    ["two options, the second chosen", "option of p2", true],
    ["two options, the second chosen", "option of p1", false],
    ["two options, the second chosen", "p1", false],
    ["two options, declined", "option of p1", false],
    ["two options, declined", "option of p2", false],
    ["an option as its action", "option of p2", true],
    ["an option as its action", "option of p1", false],
    ["step_up", "step-up", true],
    ["step_up", "approve", false],
    ["step_up", "reject", false],
    ["the option decline", "decline", true],
    ["the option decline", "approve", false],
    ["the action hold", "hold", true],
    ["the action hold", "no_go", false],
    ["an approved quorum", "approved", true],
    ["an approved quorum", "blocked", false]
  ])("of a run with %s may be the name %j, which is %s", (run, text, isRight) => {
    assert.strictEqual(read(run, text), isRight)
  })

  it.each<readonly [keyof typeof runs, string, boolean]>([
    ["one option", "go", true],
    ["one option", "No Go", false],
    ["one option", "hold", false],
    ["one option, declined", "go", false],
    ["the action hold", "no_go", false],
    ["the action hold", "hold", true]
  ])("of a run with %s may be the output %j of its scenario, which is %s", (run, text, isRight) => {
    assert.strictEqual(read(run, text, OUTPUTS), isRight)
  })

  it.each<readonly [keyof typeof runs, TruthMark["value"], string]>([
    [
      "one option",
      "looks good",
      "true, false, or an action, option or output of the run (decision.selected, option of p1): looks good"
    ],
    ["one option", "sel", "true, false, or an action"],
    ["one option", "not sure", "true, false, or an action"],
    ["one option", "no comment", "true, false, or an action"],
    ["one option", 1, "true, false, or the text of an action"],
    [
      "two options, none named",
      "option of p1",
      "true or false, because the decision decision.selected cannot be compared with option of p1"
    ],
    ["step_up, a yes", "approve", "true or false, because the decision step_up cannot be compared with approve"],
    ["the option yes", "Yes", "true or false, because Yes is an option of the run too"],
    ["the option yes", "no", "true or false, because no is an option of the run too"]
  ])("of a run with %s must not be %j", (run, value, problem) => {
    const found = read(run, value)
    assert.include(found, `value of correct must be ${problem}`)
  })

  it("that names an output which the decision does not state must be a flag", () => {
    const outputs = ["ship", "hold_back", "not_taken"]
    assert.include(read("an approved quorum", "ship", outputs), "cannot be compared with ship")
    assert.isFalse(read("an approved quorum", "not taken", outputs))
  })

  it("lists a bounded part of many long names", () => {
    const many = Array.from({ length: 200 }, (_, at) =>
      says("a", "Proposal", { option: "x".repeat(900) + at }, `q${at}`)
    )
    const { commitment, ...record } = recordOf(opened(), many, selected)
    if (commitment === undefined) return assert.fail("no decision")
    const found = correctValue("other", decisionNames(record, commitment))
    assert.isBelow("problem" in found ? found.problem.length : Number.POSITIVE_INFINITY, 1_000)
  })
})
