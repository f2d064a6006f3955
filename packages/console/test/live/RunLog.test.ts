import { assert, describe, it } from "@effect/vitest"
import { projectAll } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { isShortened, sizeOf } from "../../src/live/EventSize.ts"
import { RunLog } from "../../src/live/RunLog.ts"
import { DECISION, eventsOf, said } from "../support.ts"

/** Long enough for several checkpoints. */
const long = eventsOf(
  Array.from({ length: 900 }, (_, at) =>
    at < DECISION.length - 1
      ? (DECISION[at] ?? said("signal.emitted", "Signal", "ana", {}))
      : said("progress.reported", "Progress", at % 2 === 0 ? "ana" : "bob", { percentage: at % 100, message: `${at}` })
  )
)

const whole = new RunLog("run-1")
for (const event of long) whole.append(event)

describe("the log of a run in the browser", () => {
  it("appends events in order, each once, and reports a gap", () => {
    const log = new RunLog("run-1")
    const [first, second, third] = long
    assert.isDefined(first && second && third)
    if (first === undefined || second === undefined || third === undefined) return
    assert.strictEqual(log.append(first), "appended")
    assert.strictEqual(log.append(third), "gap")
    assert.strictEqual(log.append(second), "appended")
    assert.strictEqual(log.append(second), "known")
    assert.strictEqual(log.append(third), "appended")
    assert.strictEqual(log.count, 3)
    assert.strictEqual(log.lastSeq, third.seq)
  })

  it("ends in the state that the service folds", () => {
    assert.deepStrictEqual(whole.stateAt(long.length), projectAll("run-1", long))
    assert.deepStrictEqual(whole.stateAt(10 ** 9), projectAll("run-1", long))
    assert.strictEqual(whole.stateAt(0).timeline.totalEvents, 0)
  })

  it.prop(
    "has the state at every index, visited in any order",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 900 })))],
    ([indexes]) => {
      for (const index of indexes.slice(0, 12)) {
        assert.deepStrictEqual(whole.stateAt(index), projectAll("run-1", long.slice(0, index)))
      }
    },
    { arbitrary: { runs: 15 } }
  )

  it("keeps its states when more events are appended", () => {
    const log = new RunLog("run-1")
    for (const event of long.slice(0, 600)) log.append(event)
    const before = log.stateAt(300)
    for (const event of long.slice(600)) log.append(event)
    assert.deepStrictEqual(log.stateAt(300), before)
  })
})

/** Capacity of a log in bytes, less than the size of its events. */
const CAPACITY = 700_000

describe("a run that is too large for the browser", () => {
  const fat = eventsOf(
    Array.from({ length: 60 }, (_, at) =>
      said("progress.reported", "Progress", "ana", { percentage: at, message: `${at} ${"much ".repeat(2_000)}` })
    )
  )

  it("has its large events shortened, the oldest first, and the same state", () => {
    const log = new RunLog("run-1", undefined, CAPACITY)
    for (const event of fat) log.append(event)
    assert.isTrue(log.isShortened)
    assert.deepStrictEqual([log.start, log.count], [0, fat.length])
    assert.isBelow(sizeOf(log.events.map(({ recorded }) => recorded)), CAPACITY)
    const [first, last] = [log.event(1), log.event(fat.length)]
    assert.isTrue(first !== undefined && isShortened(first))
    assert.isTrue(last !== undefined && !isShortened(last))
    assert.strictEqual(first?.type, "progress.reported")
    assert.deepStrictEqual(log.stateAt(fat.length), projectAll("run-1", fat))
  })

  it("drops its oldest events when it cannot shorten more", () => {
    const log = new RunLog("run-1", undefined, CAPACITY)
    for (const event of long) log.append(event)
    assert.isAbove(log.start, 0)
    assert.strictEqual(log.count, long.length)
    assert.isFalse(log.isShortened)
    assert.isBelow(sizeOf(log.events.map(({ recorded }) => recorded)), CAPACITY)
    assert.isUndefined(log.event(log.start))
    assert.strictEqual(log.event(log.start + 1)?.index, log.start + 1)
    assert.deepStrictEqual(log.upTo(log.start), [])
    assert.deepStrictEqual(log.upTo(long.length), long.slice(log.start))
    for (const index of [log.start, log.start + 1, log.start + 260, long.length - 1, long.length]) {
      assert.deepStrictEqual(log.stateAt(index), projectAll("run-1", long.slice(0, index)))
    }
    // The digest keeps every event.
    assert.deepStrictEqual(
      log.digest.seqs,
      long.map(({ seq }) => seq)
    )
    assert.deepStrictEqual(log.digest.keyEvents, whole.digest.keyEvents)
    assert.deepStrictEqual(log.digest.phases, whole.digest.phases)
  })

  it("is shown from any event on, given the state before it", () => {
    const index = 310
    const state = whole.stateAt(index)
    const log = new RunLog("run-1", { index, seq: long[index - 1]?.seq ?? 0, state })
    for (const event of long.slice(index)) assert.strictEqual(log.append(event), "appended")
    assert.strictEqual(log.stateAt(index).timeline.totalEvents, index)
    for (const at of [311, 500, 700, long.length]) assert.deepStrictEqual(log.stateAt(at), whole.stateAt(at))
  })

  it.prop(
    "stays within its capacity, with the state at every index in memory",
    [Schema.Int.check(Schema.isBetween({ minimum: 50_000, maximum: 900_000 })), Schema.Int],
    ([capacity, index]) => {
      const log = new RunLog("run-1", undefined, capacity)
      for (const event of long) log.append(event)
      // The newest events are never dropped.
      assert.isBelow(sizeOf(log.upTo(long.length - 500).map(({ recorded }) => recorded)), capacity)
      const at = log.start + (Math.abs(index) % (log.count - log.start + 1))
      assert.deepStrictEqual(log.stateAt(at), whole.stateAt(at))
    },
    { arbitrary: { runs: 20 } }
  )
})
