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
  it("takes events in their order, each once, and tells when some are missing", () => {
    const log = new RunLog("run-1")
    const [first, second, third] = long
    assert.isDefined(first && second && third)
    if (first === undefined || second === undefined || third === undefined) return
    assert.strictEqual(log.append(first), "taken")
    assert.strictEqual(log.append(third), "gap")
    assert.strictEqual(log.append(second), "taken")
    assert.strictEqual(log.append(second), "known")
    assert.strictEqual(log.append(third), "taken")
    assert.strictEqual(log.count, 3)
    assert.strictEqual(log.lastSeq, third.seq)
  })

  it("ends in the state that the service folds", () => {
    assert.deepStrictEqual(whole.stateAt(long.length), projectAll("run-1", long))
    assert.deepStrictEqual(whole.stateAt(10 ** 9), projectAll("run-1", long))
    assert.strictEqual(whole.stateAt(0).timeline.totalEvents, 0)
  })

  it.prop(
    "has the state of every place, in whatever order they are visited",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 900 })))],
    ([places]) => {
      for (const place of places.slice(0, 12)) {
        assert.deepStrictEqual(whole.stateAt(place), projectAll("run-1", long.slice(0, place)))
      }
    },
    { arbitrary: { runs: 15 } }
  )

  it("forgets nothing that it kept when more comes in", () => {
    const log = new RunLog("run-1")
    for (const event of long.slice(0, 600)) log.append(event)
    const before = log.stateAt(300)
    for (const event of long.slice(600)) log.append(event)
    assert.deepStrictEqual(log.stateAt(300), before)
  })
})

/** Room for the events of a log, bytes: not for all of those here. */
const ROOM = 700_000

describe("a run that is too large for the browser", () => {
  const fat = eventsOf(
    Array.from({ length: 60 }, (_, at) =>
      said("progress.reported", "Progress", "ana", { percentage: at, message: `${at} ${"much ".repeat(2_000)}` })
    )
  )

  it("has its large events shortened, the oldest first, and the same state", () => {
    const log = new RunLog("run-1", undefined, ROOM)
    for (const event of fat) log.append(event)
    assert.isTrue(log.isShortened)
    assert.deepStrictEqual([log.start, log.count], [0, fat.length])
    assert.isBelow(sizeOf(log.events.map(({ recorded }) => recorded)), ROOM)
    const [first, last] = [log.event(1), log.event(fat.length)]
    assert.isTrue(first !== undefined && isShortened(first))
    assert.isTrue(last !== undefined && !isShortened(last))
    assert.strictEqual(first?.type, "progress.reported")
    assert.deepStrictEqual(log.stateAt(fat.length), projectAll("run-1", fat))
  })

  it("drops its oldest events once there is nothing to shorten, and goes on from there", () => {
    const log = new RunLog("run-1", undefined, ROOM)
    for (const event of long) log.append(event)
    assert.isAbove(log.start, 0)
    assert.strictEqual(log.count, long.length)
    assert.isFalse(log.isShortened)
    assert.isBelow(sizeOf(log.events.map(({ recorded }) => recorded)), ROOM)
    assert.isUndefined(log.event(log.start))
    assert.strictEqual(log.event(log.start + 1)?.index, log.start + 1)
    assert.deepStrictEqual(log.upTo(log.start), [])
    assert.deepStrictEqual(log.upTo(long.length), long.slice(log.start))
    for (const place of [log.start, log.start + 1, log.start + 260, long.length - 1, long.length]) {
      assert.deepStrictEqual(log.stateAt(place), projectAll("run-1", long.slice(0, place)))
    }
    // Where each event stands is known for good.
    assert.deepStrictEqual(
      log.digest.seqs,
      long.map(({ seq }) => seq)
    )
    assert.deepStrictEqual(log.digest.marks, whole.digest.marks)
    assert.deepStrictEqual(log.digest.phases, whole.digest.phases)
  })

  it("is shown from any event on, given the state before it", () => {
    const index = 310
    const state = whole.stateAt(index)
    const log = new RunLog("run-1", { index, seq: long[index - 1]?.seq ?? 0, state })
    for (const event of long.slice(index)) assert.strictEqual(log.append(event), "taken")
    assert.strictEqual(log.stateAt(index).timeline.totalEvents, index)
    for (const place of [311, 500, 700, long.length]) assert.deepStrictEqual(log.stateAt(place), whole.stateAt(place))
  })

  it.prop(
    "stays within its room, with the state of every place that is here",
    [Schema.Int.check(Schema.isBetween({ minimum: 50_000, maximum: 900_000 })), Schema.Int],
    ([room, place]) => {
      const log = new RunLog("run-1", undefined, room)
      for (const event of long) log.append(event)
      // The newest are never dropped.
      assert.isBelow(sizeOf(log.upTo(long.length - 500).map(({ recorded }) => recorded)), room)
      const at = log.start + (Math.abs(place) % (log.count - log.start + 1))
      assert.deepStrictEqual(log.stateAt(at), whole.stateAt(at))
    },
    { arbitrary: { runs: 20 } }
  )
})
