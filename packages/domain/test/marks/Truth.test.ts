import { assert, describe, it } from "@effect/vitest"
import { type TruthMark, truthOf } from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import { pick } from "../support/arbitraries.ts"

const mark = (value: TruthMark["value"], more: Partial<TruthMark> = {}): TruthMark => ({
  index: 9,
  value,
  source: "human",
  createdAt: "2026-07-02T00:00:00.000Z",
  ...more
})
const decision = { index: 9, action: "decision.selected" }

describe("the truth about a decision", () => {
  it.each([
    ["no mark", [], undefined],
    ["true", [mark(true)], true],
    ["false", [mark(false)], false],
    ["the decided action", [mark("Decision.Selected")], true],
    ["the decided action without what is before its dot", [mark(" selected ")], true],
    ["another action", [mark("decision.rejected")], false],
    ["a part of the action", [mark("select")], false],
    ["a number", [mark(1)], undefined],
    ["a mark on an earlier decision", [mark(true, { index: 5 })], undefined],
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
