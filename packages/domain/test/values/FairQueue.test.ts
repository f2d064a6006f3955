import { assert, describe, it } from "@effect/vitest"
import { makeFairQueue } from "../../src/index.ts"

/** A lane of one turn; a caller has the turn already, and the entries wait. */
const laneBehind = (holder: string, ...entries: ReadonlyArray<string>) => {
  const lane = makeFairQueue<string>(1)
  lane.enter(holder, holder)
  for (const entry of entries) assert.isFalse(lane.enter(entry.slice(0, 1), entry))
  return lane
}

/** Ends the turn of the holder, and then each turn in the order in which they come. */
const turnsAfter = (lane: ReturnType<typeof laneBehind>, holder: string) => {
  const turns: Array<string> = []
  for (let next = lane.end(holder); next !== undefined; next = lane.end(next.slice(0, 1))) turns.push(next)
  return turns
}

describe("a fair queue", () => {
  it("gives the turns that are free, and no more", () => {
    const lane = makeFairQueue<string>(2)
    assert.deepStrictEqual([lane.enter("a", "a1"), lane.enter("a", "a2"), lane.enter("b", "b1")], [true, true, false])
    assert.deepStrictEqual([lane.waiting(), lane.waitingOf("a"), lane.waitingOf("b")], [1, 0, 1])
    assert.strictEqual(lane.end("a"), "b1")
    assert.isUndefined(lane.end("a"))
    assert.isTrue(lane.enter("c", "c1"))
  })

  it("serves its callers in rotation, and the entries of each in their order", () => {
    const lane = laneBehind("a", "a1", "a2", "a3", "b1", "c1", "c2")
    assert.deepStrictEqual(turnsAfter(lane, "a"), ["b1", "c1", "a1", "c2", "a2", "a3"])
    assert.strictEqual(lane.waiting(), 0)
  })

  it("serves a new caller after the turn of a caller with 90 entries", () => {
    const lane = laneBehind("a", ...Array.from({ length: 90 }, (_, at) => `a${at}`))
    assert.strictEqual(lane.end("a"), "a0")
    lane.enter("b", "b1")
    assert.deepStrictEqual([lane.end("a"), lane.end("b")], ["b1", "a1"])
  })

  it("prefers the caller with the fewest turns in work", () => {
    const lane = makeFairQueue<string>(4)
    for (const caller of ["a", "a", "b", "c"]) lane.enter(caller, caller)
    lane.enter("a", "a1")
    lane.enter("b", "b1")
    assert.deepStrictEqual([lane.end("c"), lane.end("b")], ["b1", "a1"])
  })

  it("lets no caller overtake for ever with repeated entries", () => {
    const lane = laneBehind("a", "b1", "b2")
    assert.strictEqual(lane.end("a"), "b1")
    lane.enter("a", "a1")
    assert.strictEqual(lane.end("b"), "a1")
    lane.enter("c", "c1")
    assert.strictEqual(lane.end("a"), "b2")
  })

  it("gives turns to those that take them: in rotation, and each waiting entry once", () => {
    const lane = makeFairQueue<string>(2)
    for (const entry of ["a1", "a2", "a3", "a1", "b1"]) lane.add(entry.slice(0, 1), entry)
    assert.strictEqual(lane.waiting(), 4)
    assert.deepStrictEqual([lane.take()?.entry, lane.take()?.entry, lane.take()], ["a1", "b1", undefined])
    lane.leave("a")
    assert.deepStrictEqual(lane.take(), { caller: "a", entry: "a2" })
    lane.leave("b")
    lane.add("b", "b2")
    assert.deepStrictEqual(lane.take(), { caller: "b", entry: "b2" })
  })

  it("leaves turns for others beyond those of one caller", () => {
    const lane = makeFairQueue<string>(3, 2)
    assert.deepStrictEqual([lane.enter("a", "a1"), lane.enter("a", "a2"), lane.enter("a", "a3")], [true, true, false])
    assert.isUndefined(lane.take())
    assert.isTrue(lane.enter("b", "b1"))
    assert.isFalse(lane.enter("c", "c1"))
    assert.deepStrictEqual([lane.end("b"), lane.end("a"), lane.end("c")], ["c1", "a3", undefined])
    lane.add("a", "a4")
    assert.isUndefined(lane.take())
    lane.leave("a")
    assert.strictEqual(lane.take()?.entry, "a4")
  })

  it("forgets an entry that is removed before its turn", () => {
    const lane = laneBehind("a", "b1", "b2", "c1")
    lane.remove("b", "b1")
    lane.remove("b", "b1")
    lane.remove("d", "d1")
    assert.strictEqual(lane.waiting(), 2)
    assert.deepStrictEqual(turnsAfter(lane, "a"), ["b2", "c1"])
  })
})
