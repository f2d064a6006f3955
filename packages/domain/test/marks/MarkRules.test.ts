import { assert, describe, it } from "@effect/vitest"
import {
  definitionProblem,
  type MarkDefinition,
  type MarkTarget,
  raterOf,
  reservedDefinitions,
  targetProblem,
  valueProblem
} from "@runplane/domain"

const defined = (over: Omit<MarkDefinition, "name" | "reserved">): MarkDefinition => ({
  name: "quality",
  reserved: false,
  ...over
})

describe("the value of a mark", () => {
  const [correct, comment] = reservedDefinitions
  it.each([
    ["any number without a definition", undefined, 7],
    ["any text without a definition", undefined, "fine"],
    ["a number in the range", defined({ kind: "number", min: 0, max: 1 }), 1],
    ["a number without a range", defined({ kind: "number" }), -3],
    ["a flag", defined({ kind: "flag" }), false],
    ["a category of the list", defined({ kind: "category", categories: ["good", "bad"] }), "bad"],
    ["a flag for correct", correct, false],
    ["the text of an action for correct", correct, "rollback"],
    ["true for a comment", comment, true]
  ])("may be %s", (_, definition, value) => {
    assert.isUndefined(valueProblem(definition, value))
  })

  it.each([
    ["a number above the range", defined({ kind: "number", min: 0, max: 1 }), 1.5, "from 0 to 1"],
    ["a number under the minimum", defined({ kind: "number", min: 0 }), -1, "a number of at least 0"],
    ["a number above the maximum", defined({ kind: "number", max: 5 }), 6, "a number of at most 5"],
    ["a text for a number", defined({ kind: "number" }), "1", "value of quality must be a number"],
    ["a number for a flag", defined({ kind: "flag" }), 1, "must be true or false"],
    [
      "an unknown category",
      defined({ kind: "category", categories: ["good", "bad"] }),
      "Good",
      "must be one of the following values: good, bad"
    ],
    ["a flag for a category", defined({ kind: "category", categories: ["true"] }), true, "following values: true"],
    ["a number for correct", correct, 1, "value of correct must be true, false, or the text of an action"],
    ["false for a comment", comment, false, "value of comment must be true"]
  ])("must not be %s", (_, definition, value, problem) => {
    assert.include(valueProblem(definition, value), problem)
    assert.match(valueProblem(definition, value) ?? "", /^value /)
  })
})

describe("a definition", () => {
  it.each<[Parameters<typeof definitionProblem>[0]]>([
    [{ kind: "number", min: 0, max: 0, better: "lower" }],
    [{ kind: "flag", better: "false" }],
    [{ kind: "category", categories: ["a"], better: "first" }]
  ])("may be %j", (definition) => {
    assert.isUndefined(definitionProblem(definition))
  })

  it.each<[Parameters<typeof definitionProblem>[0], string]>([
    [{ kind: "flag", min: 0 }, "min and max are for numbers, not a flag"],
    [{ kind: "number", min: 2, max: 1 }, "min must not be larger than max"],
    [{ kind: "category" }, "categories must list the values of a category"],
    [{ kind: "number", categories: ["a"] }, "categories are for a category, not a number"],
    [{ kind: "flag", better: "higher" }, "better of a flag must be one of the following values: true, false"]
  ])("must not be %j", (definition, problem) => {
    assert.strictEqual(definitionProblem(definition), problem)
  })
})

describe("the target of a mark", () => {
  it.each<[string, MarkTarget]>([
    ["quality", { kind: "run" }],
    ["quality", { kind: "participant", id: "a" }],
    ["quality", { kind: "event", id: "e" }],
    ["quality", { kind: "llmCall", id: "e" }],
    ["correct", { kind: "decision" }],
    ["correct", { kind: "decision", id: "e" }]
  ])("of %s may be %j", (name, target) => {
    assert.isUndefined(targetProblem(name, target))
  })

  it.each<[string, MarkTarget, string]>([
    ["quality", { kind: "run", id: "r" }, "target.id must be absent for a run"],
    ["quality", { kind: "participant" }, "target.id must be the id of a participant"],
    ["quality", { kind: "event" }, "target.id must be the id of an event"],
    ["quality", { kind: "llmCall" }, "target.id must be the id of an event llm.call.completed"],
    ["correct", { kind: "run" }, "target.kind of correct must be decision"]
  ])("of %s must not be %j", (name, target, problem) => {
    assert.strictEqual(targetProblem(name, target), problem)
  })
})

describe("the rater of a mark", () => {
  it("is its judge, else its author", () => {
    assert.strictEqual(raterOf({ author: "key:1" }), "key:1")
    assert.strictEqual(raterOf({ author: "key:1", judge: { name: "strict" } }), "judge:strict")
  })
})
