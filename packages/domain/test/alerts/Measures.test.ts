import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import {
  ADMISSION_MEASURES,
  ALERT_MEASURES,
  AlertPer,
  amountText,
  BUDGET_MEASURES,
  type CanonicalEvent,
  MARK_MEASURES,
  MEASURE_KINDS,
  markOfMeasure,
  measureKind,
  measureOf,
  measuresOfMark,
  measureTitle,
  noMemory,
  type RunMemory,
  remember
} from "../../src/index.ts"
import { type Drawn, drawn, eventOf } from "./RuleHistories.ts"

const documented = readFileSync(new URL("../../../../docs/reference/alerts.md", import.meta.url), "utf8")
const ofMeasures = documented.split("\n## ").find((section) => section.startsWith("Measures\n")) ?? ""
/** The rows of the table of measures in the reference, without marks of Markdown. */
const rows = Array.from(ofMeasures.matchAll(/^\| `(\S+)` +\| (.+?) +\|$/gm), ([, name = "", words = ""]) => [
  name,
  words.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", "")
])

const START = Date.UTC(2026, 9, 24, 20)
const eventsOf = (log: ReadonlyArray<Drawn>): ReadonlyArray<CanonicalEvent> => {
  let at = START
  return log.map((one, number) => {
    at += one[2]
    return eventOf(one, at, number + 1)
  })
}

describe("the table of measures", () => {
  it("is the table of the reference", () => {
    const named = (kind: string) => (measureOf(kind).from === "marks" ? `${kind}:<name>` : kind)
    assert.deepStrictEqual(
      rows,
      MEASURE_KINDS.map((kind) => [named(kind), measureOf(kind).words])
    )
  })

  it("has measures of events, and those of marks with the name of the mark", () => {
    assert.deepStrictEqual([...ALERT_MEASURES, ...MARK_MEASURES], MEASURE_KINDS)
    for (const kind of ALERT_MEASURES)
      assert.deepStrictEqual([measureKind(kind), markOfMeasure(kind)], [kind, undefined])
    assert.strictEqual(measureTitle("costUsd"), "cost")
    for (const measure of measuresOfMark("quality")) {
      assert.strictEqual(measureTitle(measure), "mean mark quality")
      assert.strictEqual(markOfMeasure(measure), "quality")
      assert.strictEqual(measureOf(measure).from, "marks")
    }
  })

  it("has budgets of sums that calls change", () => {
    for (const kind of BUDGET_MEASURES) assert.include(measureOf(kind), { from: "calls", fold: "add" })
    // Admission reserves dollars.
    for (const kind of ADMISSION_MEASURES) assert.strictEqual(measureOf(kind).unit, "dollars")
  })

  it.each(MEASURE_KINDS)("has a row that fits together: %s", (kind) => {
    const {
      clock,
      firesBelow,
      fold,
      needsForecast,
      needsMemory,
      per,
      unit,
      usualMinRuns = 1,
      value,
      words
    } = measureOf(kind)
    assert.match(words, /^[a-z].*[^.]$/)
    const { sentence, title } = measureOf(kind)
    for (const text of [title, sentence.before]) assert.match(text, /^[a-z][a-z ]*[a-z]$/)
    // A threshold is reached, or the value falls below it.
    if (firesBelow) assert.match(sentence.before, /less than$|below$/)
    else assert.match(sentence.after, /or more|or longer/)
    assert.match(amountText(kind, 0.5), { dollars: /^\$/, milliseconds: / s$/, share: / %$/, number: /^0\.5$/ }[unit])
    for (const key of per) assert.include(AlertPer.literals, key)
    // The clock of a run begins with its first events, and has one value.
    assert.strictEqual(clock !== undefined, unit === "milliseconds")
    if (clock !== undefined) assert.deepStrictEqual([...per, needsMemory], ["run", true])
    // The last value of a window is not that of its last minute.
    if (fold === "set") assert.deepStrictEqual(per, ["run"])
    if (needsForecast === true) assert.isTrue(needsMemory)
    // A rate needs values, and is at most 1.
    const one = { value: 1, n: 1, most: 1 }
    assert.strictEqual(
      value(one, 1) !== undefined && value(one, 2) === undefined,
      unit === "share" || kind === "markBelow"
    )
    if (unit === "share") assert.strictEqual(value({ value: 3, n: 3, most: 3 }, 1), 1)
    else assert.strictEqual(usualMinRuns, 1)
  })

  it.prop(
    "says which measures need the memory of a run",
    [drawn],
    ([log]) => {
      const memories = new Map<string, RunMemory>()
      for (const event of eventsOf(log)) {
        const memory = memories.get(event.runId) ?? noMemory()
        memories.set(event.runId, memory)
        const [known, unknown] = [remember(memory, event), remember(noMemory(), event)]
        for (const kind of MEASURE_KINDS) {
          const { change, needsMemory } = measureOf(kind)
          if (!needsMemory) assert.deepStrictEqual(change(event, unknown, false), change(event, known, false), kind)
        }
      }
    },
    { arbitrary: { runs: 200, size: 60 } }
  )

  it.prop(
    "says which measures count at the time of a call",
    [drawn],
    ([log]) => {
      for (const event of eventsOf(log)) {
        const facts = remember(noMemory(), event)
        const isCall = event.type === "llm.call.completed" || event.type === "tool.called"
        for (const kind of MEASURE_KINDS) {
          const { change, from } = measureOf(kind)
          if (!isCall && from !== "events") assert.deepStrictEqual(change(event, facts, true), [], kind)
        }
      }
    },
    { arbitrary: { runs: 200, size: 60 } }
  )
})
