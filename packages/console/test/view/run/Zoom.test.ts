import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { laneEventsOf } from "../../../src/view/run/Lanes.ts"
import { timeScale } from "../../../src/view/run/Strip.ts"
import { brushed, moved, rangeOf, rangeText, zoomedIn, zoomedOut } from "../../../src/view/run/Zoom.ts"
import { eventsOf } from "../../support.ts"

const indices = [3, 5, 8, 13, 21, 34, 55, 89]
const count = indices.length

describe("a part of a timeline", () => {
  it("is read from an address, and is the whole when that does not fit", () => {
    assert.deepStrictEqual(rangeOf("5-30", indices), { first: 1, last: 4 })
    for (const text of ["", "5", "30-5", "90-95", "14-20", "x-y"]) {
      assert.deepStrictEqual(rangeOf(text, indices), { first: 0, last: 7 }, text)
    }
    assert.strictEqual(rangeText({ first: 1, last: 4 }, indices), "5-21")
    assert.strictEqual(rangeText({ first: 0, last: 7 }, indices), "")
  })

  it("is made smaller, larger and moved, and stays within the whole", () => {
    assert.deepStrictEqual(zoomedIn({ first: 0, last: 7 }, count), { first: 2, last: 5 })
    assert.deepStrictEqual(zoomedOut({ first: 2, last: 5 }, count), { first: 0, last: 7 })
    assert.deepStrictEqual(moved({ first: 4, last: 7 }, count, 1), { first: 4, last: 7 })
    assert.deepStrictEqual(moved({ first: 4, last: 7 }, count, -1), { first: 2, last: 5 })
  })

  it("is the part between two positions, in either direction of the drag", () => {
    const positions = [0, 0.1, 0.5, 0.6, 1]
    assert.deepStrictEqual(brushed(positions, 0.65, 0.05), { first: 1, last: 3 })
    assert.isUndefined(brushed(positions, 0.2, 0.3))
  })

  it.prop(
    "has at least two of the things that there are",
    [Schema.Array(Schema.Literals(["in", "out", "back", "on"]))],
    ([steps]) => {
      let range = { first: 0, last: count - 1 }
      for (const step of steps) {
        if (step === "in") range = zoomedIn(range, count)
        else if (step === "out") range = zoomedOut(range, count)
        else range = moved(range, count, step === "on" ? 1 : -1)
        assert.isTrue(range.first >= 0 && range.last < count && range.last > range.first)
        assert.deepStrictEqual(rangeOf(rangeText(range, indices), indices), range)
      }
    }
  )
})

describe("the bars of a timeline", () => {
  it("begin where their call began, between the events around it", () => {
    const { positionAt, positions } = timeScale([0, 100, 400])
    assert.deepStrictEqual([positionAt(0), positionAt(100), positionAt(400)], [...positions])
    assert.strictEqual(positionAt(250), ((positions[1] ?? 0) + (positions[2] ?? 0)) / 2)
    assert.deepStrictEqual([positionAt(-5), positionAt(900)], [0, 1])
  })

  it("last from the call of a tool to its answer", () => {
    const subject = { kind: "tool", id: "call-1" }
    const data = { sender: "ana", messageType: "ToolCall", messageId: "m" }
    const [call, answer] = laneEventsOf(
      eventsOf([
        { type: "tool.called", subject, data, after: 0 },
        { type: "tool.completed", subject, data, after: 700 }
      ])
    )
    assert.deepStrictEqual([call?.kind, call?.lastedMs, answer?.lastedMs], ["tool", undefined, 700])
  })
})
