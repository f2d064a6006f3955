import { assert, describe, it } from "@effect/vitest"
import { projectAll } from "@runplane/domain"
import * as Schema from "effect/Schema"
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
