import { assert, describe, it } from "@effect/vitest"
import { type MarkAgreement, pairWithPeople } from "@runplane/api"
import { MAX_QUERY_LENGTH, type Mark, type MarkDefinition } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { listQuery, markOrders, runParams, sortOfText, sortText } from "../../../src/pages/runs/RunQuery.ts"
import { calibrationText, curveOf } from "../../../src/view/agents/Reliability.ts"
import { markColumn, markNameOf, searchesOf, valuesOf, withMarkNames } from "../../../src/view/marks/MarkColumns.ts"
import {
  assignMarks,
  choicesOf,
  commentsOf,
  isBlind,
  isSameTarget,
  kappaText,
  markText,
  stepsOf,
  unblinded,
  valueText,
  valueTone
} from "../../../src/view/marks/Marks.ts"
import { suggestionsAt } from "../../../src/view/query/QueryCompletion.ts"
import { readParams, writeParams } from "../../../src/view/query/UrlState.ts"
import {
  changed,
  dropped,
  given,
  isOfSubject,
  lastGiven,
  nextUnreviewed,
  reviewedRuns,
  targetOfText,
  targetText,
  unstored
} from "../../../src/view/review/Review.ts"
import { narrativeOf } from "../../../src/view/run/Narrative.ts"
import { narrativeRows } from "../../../src/view/run/NarrativeRows.ts"
import { DECISION, eventsOf } from "../../support.ts"

const definition = (over: Partial<MarkDefinition>): MarkDefinition => ({
  name: "quality",
  kind: "number",
  reserved: false,
  ...over
})
const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const CORRECT = definition({ name: "correct", kind: "flag", better: "true", reserved: true })

const mark = (over: Partial<Mark>): Mark => ({
  id: "mark-1",
  runId: "run-1",
  target: { kind: "run" },
  name: "quality",
  value: 1,
  source: "human",
  author: "ann",
  createdAt: "2026-07-01T10:00:00.000Z",
  ...over
})

const values = (of: MarkDefinition, actions: ReadonlyArray<string> = []) =>
  choicesOf(of, actions).map(({ value }) => value)

describe("the values of a mark", () => {
  it("have the keys 1 to 9 in the order of the definition", () => {
    assert.deepStrictEqual(choicesOf(definition({ kind: "flag" })), [
      { key: "1", value: true },
      { key: "2", value: false }
    ])
    const categories = Array.from({ length: 11 }, (_, at) => `c${at + 1}`)
    const choices = choicesOf(definition({ kind: "category", categories }))
    assert.deepStrictEqual(choices[8], { key: "9", value: "c9" })
    assert.deepStrictEqual(choices[9], { key: undefined, value: "c10" })
    assert.deepStrictEqual(choicesOf(undefined), [])
  })

  it("of `correct` are followed by the actions that would have been right", () => {
    assert.deepStrictEqual(values(CORRECT, ["wait", "roll_back"]), [true, false, "wait", "roll_back"])
  })

  it("of a number are steps of its range", () => {
    assert.deepStrictEqual(stepsOf(1, 5), [1, 2, 3, 4, 5])
    assert.deepStrictEqual(stepsOf(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1])
    assert.deepStrictEqual(stepsOf(0, 100), [0, 20, 40, 60, 80, 100])
    assert.deepStrictEqual(stepsOf(3, 3), [3])
    assert.deepStrictEqual(values(definition({})), [])
  })

  it.prop(
    "of any range are at most nine, in order, from its least to its greatest",
    [between(-1_000, 1_000), between(1, 100_000)],
    ([low, length]) => {
      const [min, max] = [low / 8, (low + length) / 8]
      const steps = stepsOf(min, max)
      assert.isAtMost(steps.length, 9)
      assert.closeTo(steps[0] ?? Number.NaN, min, 1e-6)
      assert.closeTo(steps.at(-1) ?? Number.NaN, max, 1e-6)
      assert.isTrue(steps.every((step, at) => at === 0 || step > (steps[at - 1] ?? step)))
    }
  )

  it("are said in words, with the colour of a better or a worse one", () => {
    assert.strictEqual(valueText("correct", true), "right")
    assert.strictEqual(valueText("correct", false), "wrong")
    assert.strictEqual(valueText("correct", "wait"), "right would be wait")
    assert.strictEqual(valueText("quality", 0.123456), "0.123")
    assert.strictEqual(valueText("correct", "Yes"), "right")
    assert.strictEqual(valueTone("correct", "wait", CORRECT), "calm")
    assert.strictEqual(valueTone("correct", "False", CORRECT), "bad")
    assert.strictEqual(valueTone("correct", true, CORRECT), "good")
    assert.strictEqual(valueTone("quality", 0.9, definition({ min: 0, max: 1, better: "higher" })), "good")
    assert.strictEqual(valueTone("quality", 0.9, definition({ min: 0, max: 1, better: "lower" })), "bad")
    assert.strictEqual(valueTone("quality", 0.9, definition({ min: 0, max: 1 })), "calm")
    const tone = definition({ kind: "category", categories: ["kind", "plain", "rude"], better: "first" })
    assert.deepStrictEqual(
      ["kind", "plain", "rude", "unheard-of"].map((category) => valueTone("quality", category, tone)),
      ["good", "calm", "bad", "calm"]
    )
  })
})

describe("the marks of a run", () => {
  it("are placed at the run, its participants and its events", () => {
    const placed = assignMarks([
      mark({ id: "run" }),
      mark({ id: "decision", target: { kind: "decision" }, index: 40 }),
      mark({ id: "ana", target: { kind: "participant", id: "ana" } }),
      mark({ id: "event", target: { kind: "event", id: "e" }, index: 7 }),
      mark({ id: "call", target: { kind: "llmCall", id: "c" }, index: 7 })
    ])
    const ids = (marks: ReadonlyArray<Mark> | undefined) => marks?.map(({ id }) => id)
    assert.deepStrictEqual(ids(placed.ofRun), ["run", "decision"])
    assert.deepStrictEqual(ids(placed.byParticipant.get("ana")), ["ana"])
    assert.deepStrictEqual(ids(placed.byIndex.get(7)), ["event", "call"])
    assert.deepStrictEqual(placed.indexes, [7, 40])
  })

  it("of others are hidden from a blind reviewer until there is an own one of the name", () => {
    const others = [mark({ author: "bob" }), mark({ source: "judge", judge: { name: "tone" } })]
    assert.deepStrictEqual(unblinded(others, "ann", "quality"), [])
    const otherName = mark({ name: "tone" })
    assert.deepStrictEqual(unblinded([...others, otherName], "ann", "quality"), [otherName])
    const deleted = mark({ deletedAt: "2026-07-01T10:00:00.000Z" })
    assert.deepStrictEqual(unblinded([...others, deleted], "ann", "quality"), [deleted])
    const all = [...others, mark({})]
    assert.deepStrictEqual(unblinded(all, "ann", "quality"), all)
  })

  it("of others on another target are hidden from a blind reviewer until there is an own one there", () => {
    const onAna = mark({ author: "bob", target: { kind: "participant", id: "ana" } })
    const onRun = mark({ author: "bob" })
    const own = mark({})
    assert.deepStrictEqual(unblinded([onAna, onRun, own], "ann", "quality"), [onRun, own])
  })

  it("make a review blind where a judge has marked, unless the reviewer chose", () => {
    const judged = mark({ source: "judge", judge: { name: "strict" } })
    assert.isTrue(isBlind(undefined, [judged]))
    assert.isFalse(isBlind(undefined, [mark({}), mark({ source: "api" })]))
    assert.isFalse(isBlind(undefined, [{ ...judged, replacedBy: "m2" }]))
    assert.isFalse(isBlind(false, [judged]))
    assert.isTrue(isBlind(true, []))
  })

  it("have one target for a decision with and without its id", () => {
    assert.isTrue(isSameTarget({ kind: "decision" }, { kind: "decision", id: "e1" }))
    assert.isFalse(isSameTarget({ kind: "decision", id: "e1" }, { kind: "decision", id: "e2" }))
    assert.isFalse(isSameTarget({ kind: "run" }, { kind: "decision" }))
  })
})

describe("a judge", () => {
  const agreement: MarkAgreement = {
    name: "quality",
    pairs: [
      {
        left: "human",
        right: "judge:tone",
        n: 40,
        agreed: 25,
        categories: [true, false],
        confusion: [
          [20, 5],
          [10, 5]
        ],
        kappa: { value: 0.21, low: 0.1, high: 0.4 },
        unreliable: true
      }
    ]
  }

  it("is as reliable as its agreement with people, and unknown without common targets", () => {
    const found = pairWithPeople(agreement, "tone")
    assert.deepInclude(found, { kappa: { value: 0.21, low: 0.1, high: 0.4 }, n: 40, unreliable: true })
    assert(found)
    assert.strictEqual(kappaText(found), "κ 0.21, n 40")
    assert.strictEqual(kappaText({ n: 3 }), "κ unknown, n 3")
    assert.isUndefined(pairWithPeople(agreement, "other"))
    assert.isUndefined(pairWithPeople(undefined, "tone"))
  })
})

describe("the narrative with marks", () => {
  const items = narrativeOf(eventsOf(DECISION))
  const said = (rows: ReturnType<typeof narrativeRows>) =>
    rows.map(
      (row) => `${row.kind === "left out" ? `-${row.count}` : row.kind === "event" ? "event" : "item"} ${row.index}`
    )

  it("has the latest items, and a marked one far back at its index", () => {
    assert.deepStrictEqual(said(narrativeRows(items, [], 2, 12)), [`-${items.length - 2} 2`, "item 11", "item 12"])
    assert.deepStrictEqual(said(narrativeRows(items, [5], 2, 12)), ["-2 2", "item 5", "-5 6", "item 11", "item 12"])
  })

  it("has a marked event that is not an item, and none behind the shown index", () => {
    assert.deepStrictEqual(said(narrativeRows(items, [4, 11], 2, 10)), [
      "-2 2",
      "event 4",
      `-${items.length - 4} 5`,
      "item 11",
      "item 12"
    ])
  })

  it.prop("loses no item", [Schema.Array(between(1, 12)), between(1, 14)], ([given, most]) => {
    const marked = [...new Set(given)].toSorted((one, other) => one - other)
    const rows = narrativeRows(items, marked, most, 12)
    const counts = rows.map((row) => (row.kind === "left out" ? row.count : row.kind === "item" ? 1 : 0))
    assert.strictEqual(
      counts.reduce((sum, count) => sum + count, 0),
      items.length
    )
    const shown = new Set(rows.flatMap((row) => (row.kind === "left out" ? [] : [row.index])))
    assert.isTrue(marked.slice(-most).every((index) => shown.has(index)))
  })
})

describe("a review queue", () => {
  const one = {
    key: "k1",
    runId: "r1",
    title: "one",
    by: "ann",
    mark: { target: { kind: "run" }, name: "q", value: 1, source: "human" }
  } as const

  it("keeps a mark that failed until it is stored or dropped", () => {
    const begun = given([], one)
    assert.deepStrictEqual(
      unstored(begun).map(({ state }) => state),
      ["storing"]
    )
    const failed = changed(begun, "k1", { state: "failed", problem: "no answer" })
    assert.deepStrictEqual(
      unstored(failed).map(({ problem }) => problem),
      ["no answer"]
    )
    assert.strictEqual(reviewedRuns([], failed, "q").size, 0)
    const stored = changed(failed, "k1", { state: "stored", id: "m1", problem: undefined })
    assert.deepStrictEqual(unstored(stored), [])
    assert.deepStrictEqual([...reviewedRuns(["r0"], stored, "q")], ["r0", "r1"])
    assert.strictEqual(reviewedRuns([], stored, "other").size, 0)
    assert.deepStrictEqual(dropped(stored, "k1"), [])
  })

  it("undoes the last mark that is not being removed", () => {
    const two = given(given([], one), { ...one, key: "k2" })
    assert.strictEqual(lastGiven(two)?.key, "k2")
    assert.strictEqual(lastGiven(changed(two, "k2", { isRemoving: true }))?.key, "k1")
    assert.isUndefined(lastGiven([]))
  })

  it("replaces a mark of the same run, target and name", () => {
    const [first] = given([], one)
    assert.isDefined(first)
    assert.isTrue(isOfSubject(first, "r1", { name: "q", target: { kind: "run" } }))
    assert.isFalse(isOfSubject(first, "r2", { name: "q", target: { kind: "run" } }))
    assert.isFalse(isOfSubject(first, "r1", { name: "q", target: { kind: "decision" } }))
  })

  it("continues with the next run without a mark, and ends when all have one", () => {
    const runs = ["a", "b", "c"]
    assert.strictEqual(nextUnreviewed(runs, 0, new Set(["b"])), 2)
    assert.strictEqual(nextUnreviewed(runs, 2, new Set(["c"])), 0)
    assert.strictEqual(nextUnreviewed(runs, 0, new Set(["b", "c"])), 0)
    assert.isUndefined(nextUnreviewed(runs, 1, new Set(runs)))
    assert.isUndefined(nextUnreviewed([], 0, new Set()))
  })

  it("has its target in the address", () => {
    for (const target of [{ kind: "run" }, { kind: "decision" }, { kind: "participant", id: "a:b" }] as const) {
      assert.deepStrictEqual(targetOfText(targetText(target)), target)
    }
    assert.isUndefined(targetOfText("participant"))
    assert.isUndefined(targetOfText("nothing:1"))
    assert.isUndefined(targetOfText(""))
  })
})

describe("a reliability curve", () => {
  const bins = [
    { low: 0.8, high: 0.9, n: 30, confidence: 0.85, right: 0.7 },
    { low: 0.5, high: 0.6, n: 10, confidence: 0.55, right: 0.5 }
  ]

  it("has a point for each bin by confidence, whose area is its votes", () => {
    const [first, second] = curveOf(bins)
    assert.deepInclude(first, { x: 0.55, y: 0.5, n: 10 })
    assert.closeTo(((second?.radius ?? 0) / (first?.radius ?? 1)) ** 2, 3, 1e-9)
    assert.deepStrictEqual(curveOf([]), [])
  })

  it("is said in a sentence", () => {
    assert.strictEqual(
      calibrationText(bins),
      "States 78 % on average and is right in 65 %: overconfident by 13 points."
    )
    assert.match(calibrationText([{ low: 0.8, high: 0.9, n: 5, confidence: 0.8, right: 0.8 }]) ?? "", /well calibrated/)
    assert.isUndefined(calibrationText([]))
  })
})

describe("the marks of the listed runs", () => {
  const ids = Array.from({ length: 100 }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`)

  it("are found by searches that are short enough, which name every run once", () => {
    const searches = searchesOf(["correct", "a".repeat(64)], ids)
    assert.isTrue(searches.every((search) => search.length <= MAX_QUERY_LENGTH))
    for (const id of ids)
      assert.lengthOf(
        searches.filter((search) => search.includes(id)),
        2
      )
    assert.deepStrictEqual(searchesOf(["correct"], []), [])
  })

  it("have columns of their names", () => {
    assert.strictEqual(markNameOf(markColumn("quality")), "quality")
    assert.isUndefined(markNameOf("mark.1"))
    assert.isUndefined(markNameOf("status"))
  })

  it("are counted by value, the most frequent first", () => {
    const marks = [mark({ value: false }), mark({ value: true }), mark({ value: true })]
    assert.deepStrictEqual(valuesOf(marks), [
      { value: true, count: 2 },
      { value: false, count: 1 }
    ])
  })

  it("sort the list, both ways, as saved views do", () => {
    const filters = readParams(runParams, "?sort=mark.tone-of+asc&columns=decision,mark.quality")
    assert.deepInclude(listQuery(filters, new Date(0), ""), { sortBy: "mark.tone-of", sortOrder: "asc" })
    assert.deepStrictEqual(
      markOrders(filters).map(([order]) => order),
      ["mark.quality desc", "mark.quality asc", "mark.tone-of desc", "mark.tone-of asc"]
    )
    assert.strictEqual(writeParams(runParams, "", { sort: "mark.quality desc" }), "?sort=mark.quality+desc")
    assert.strictEqual(sortOfText(sortText("mark.quality desc")), "mark.quality desc")
    for (const sort of ["mark.1 asc", "mark.quality", "mark.quality up"]) {
      assert.strictEqual(readParams(runParams, `?sort=${sort}`).sort, "newest")
    }
  })

  it("have their names and values completed", () => {
    const tone = definition({ name: "tone-of", kind: "category", categories: ["kind", "very rude"], better: "first" })
    const fields = withMarkNames(
      [{ name: "mark", description: "A mark", dotted: true }],
      [CORRECT, definition({}), tone]
    )
    const inserts = (text: string) => suggestionsAt(text, text.length, fields).options.map(({ insert }) => insert)
    assert.deepStrictEqual(inserts("mark."), ["mark.correct:", "mark.quality:", "mark.tone-of:", "mark."])
    assert.deepStrictEqual(inserts("mark.correct:"), ["true", "false"])
    assert.deepStrictEqual(inserts("mark.tone-of:"), ["kind", '"very rude"'])
    assert.deepStrictEqual(inserts("-mark.tone-of:(kind,ve"), ['"very rude"'])
    assert.strictEqual(fields[2]?.description, "Marks tone-of, first is better")
    assert.deepStrictEqual(inserts("mark.quality:"), [])
    assert.include(inserts("has:mark.cor"), "mark.correct")
  })
})

describe("a comment", () => {
  it("is shown by its own text, and comments follow each other by time", () => {
    const comment = (id: string, createdAt: string) =>
      mark({ id, createdAt, name: "comment", value: true, comment: id })
    const first = comment("a", "2026-07-01T10:00:00.000Z")
    const second = comment("b", "2026-07-01T11:00:00.000Z")
    assert.deepStrictEqual(commentsOf([second, mark({}), first]), [first, second])
    assert.deepStrictEqual([markText(first), markText(mark({ value: 0.5 }))], ["a", "0.5"])
    const { value, comment: text, ...erased } = first
    assert.strictEqual(markText(erased), "deleted")
  })
})
