import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { RunSpan } from "../../../src/view/run/Spans.ts"
import { parentsFrom, rowsOfTree, type TreeNode, treeOfSpans } from "../../../src/view/run/SpanTree.ts"

const NO_SUMS = { calls: 0, tokens: 0, costUsd: 0, guessedCostUsd: 0, callsWithoutUsage: 0 }

const span = (id: string, [start, end]: readonly [number, number], parentId?: string, over: Partial<RunSpan> = {}) =>
  ({
    id,
    parentId,
    spanId: id,
    name: id,
    kind: "other",
    who: "",
    start,
    end,
    error: undefined,
    index: undefined,
    events: 0,
    own: NO_SUMS,
    isReceived: true,
    uncounted: undefined,
    ...over
  }) satisfies RunSpan

const used = (tokens: number, costUsd: number) => ({ own: { ...NO_SUMS, calls: 1, tokens, costUsd } })

const idsOf = (rows: ReadonlyArray<TreeNode>) => rows.map(({ depth, span: { id } }) => `${"-".repeat(depth)}${id}`)
const all = (spans: ReadonlyArray<RunSpan>) => rowsOfTree(treeOfSpans(spans).roots, new Set())
const nodeOf = (spans: ReadonlyArray<RunSpan>, id: string) => {
  const found = all(spans).find((node) => node.span.id === id)
  return found ?? assert.fail(`no span ${id}`)
}

describe("the tree of spans", () => {
  it("has the spans of a parent by start, then the longer one, then the first in the log", () => {
    const spans = [
      span("late", [30, 40], "root"),
      span("short", [10, 12], "root", { index: 1 }),
      span("long", [10, 20], "root", { index: 5 }),
      span("twin", [10, 12], "root", { index: 3 }),
      span("root", [0, 100])
    ]
    assert.deepStrictEqual(idsOf(all(spans)), ["root", "-long", "-short", "-twin", "-late"])
  })

  it("puts a child below its parent although it begins before it", () => {
    const spans = [span("child", [4, 9], "parent"), span("parent", [5, 10])]
    assert.deepStrictEqual(idsOf(all(spans)), ["parent", "-child"])
    assert.deepInclude(nodeOf(spans, "parent"), { totalMs: 5, ownMs: 1 })
    assert.deepInclude(treeOfSpans(spans), { start: 4, end: 10 })
  })

  it("makes a root of a span whose parent is unknown, and keeps the spans below it", () => {
    const spans = [span("root", [0, 10]), span("orphan", [1, 5], "nowhere"), span("below", [2, 3], "orphan")]
    assert.deepStrictEqual(idsOf(all(spans)), ["root", "orphan", "-below"])
    assert.isTrue(nodeOf(spans, "orphan").isOrphan)
    assert.isFalse(nodeOf(spans, "root").isOrphan)
  })

  it("cuts a cycle at its earliest span, also when another span hangs below the cycle", () => {
    const spans = [
      span("tail", [0, 1], "b"),
      span("b", [3, 6], "a"),
      span("a", [2, 9], "c"),
      span("c", [4, 5], "b"),
      span("self", [1, 2], "self")
    ]
    assert.deepStrictEqual(idsOf(all(spans)), ["self", "a", "-b", "--tail", "--c"])
    assert.isTrue(nodeOf(spans, "a").isOrphan)
    assert.isFalse(nodeOf(spans, "self").isOrphan)
  })

  it("takes the first of two spans with one id", () => {
    assert.deepStrictEqual(idsOf(all([span("a", [0, 1]), span("a", [5, 6], "x")])), ["a"])
  })

  it("sums tokens and cost of a subtree, and says whether a span below failed", () => {
    const spans = [
      span("root", [0, 100]),
      span("agent", [0, 50], "root", used(1, 0.1)),
      span("call", [10, 20], "agent", { ...used(10, 0.2), error: "" }),
      span("other", [60, 70], "root", used(100, 0.0000004))
    ]
    assert.deepInclude(nodeOf(spans, "root").total, { calls: 3, tokens: 111, costUsd: 0.3000004 })
    assert.deepInclude(nodeOf(spans, "agent").total, { calls: 2, tokens: 11, costUsd: 0.3 })
    assert.strictEqual(nodeOf(spans, "agent").count, 2)
    assert.isTrue(nodeOf(spans, "root").hasFailedBelow)
    assert.isFalse(nodeOf(spans, "call").hasFailedBelow)
    assert.strictEqual(treeOfSpans(spans).failed, 1)
  })

  it("counts time in which several children run once, and none outside of the span", () => {
    const spans = [
      span("root", [0, 100]),
      span("one", [10, 40], "root"),
      span("two", [20, 30], "root"),
      span("three", [35, 60], "root"),
      span("after", [90, 500], "root")
    ]
    assert.deepInclude(nodeOf(spans, "root"), { totalMs: 100, ownMs: 40 })
  })

  it("leaves out what is below closed spans, and sorts the spans of each parent", () => {
    const tree = treeOfSpans([
      span("root", [0, 100]),
      span("cheap", [0, 50], "root", used(1, 0.1)),
      span("dear", [60, 70], "root", used(1, 0.2)),
      span("below", [61, 62], "dear")
    ])
    assert.deepStrictEqual(idsOf(rowsOfTree(tree.roots, new Set(["dear"]))), ["root", "-cheap", "-dear"])
    assert.deepStrictEqual(idsOf(rowsOfTree(tree.roots, new Set(), "cost")), ["root", "-dear", "--below", "-cheap"])
    assert.deepStrictEqual(idsOf(rowsOfTree(tree.roots, new Set(), "total")), ["root", "-cheap", "-dear", "--below"])
    assert.deepStrictEqual([...parentsFrom(tree, 1)], ["dear"])
  })

  it("holds a chain that is deeper than a stack", () => {
    const chain = Array.from({ length: 50_000 }, (_, at) =>
      span(`${at}`, [at, 100_000 - at], at === 0 ? undefined : `${at - 1}`, used(1, 0.001))
    )
    const rows = all(chain)
    assert.strictEqual(rows.length, chain.length)
    assert.strictEqual(rows.at(-1)?.depth, 49_999)
    assert.strictEqual(rows[0]?.total.tokens, 50_000)
  })

  const numbers = (min: number, max: number) => Schema.Int.check(Schema.isBetween({ minimum: min, maximum: max }))
  const anySpan = Schema.Struct({
    id: numbers(0, 12),
    parent: Schema.NullOr(numbers(0, 14)),
    start: numbers(0, 9),
    length: numbers(-2, 9)
  })
  it.prop(
    "has every span once, for any parents and times, with the sums of all in its roots",
    { given: Schema.Array(anySpan).check(Schema.isMaxLength(16)) },
    ({ given }) => {
      const spans = given.map(({ id, length, parent, start }) =>
        span(`${id}`, [start, start + length], parent === null ? undefined : `${parent}`, used(1, 0.01))
      )
      const tree = treeOfSpans(spans)
      const rows = rowsOfTree(tree.roots, new Set())
      const ids = rows.map((row) => row.span.id)
      assert.sameMembers(ids, [...new Set(spans.map(({ id }) => id))])
      assert.strictEqual(tree.total.tokens, ids.length)
      for (const { ownMs, totalMs } of rows) assert.isTrue(ownMs >= 0 && ownMs <= totalMs)
    }
  )
})
