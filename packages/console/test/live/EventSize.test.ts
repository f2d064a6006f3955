import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { inBounds, isShortened, shorten, sizeOf } from "../../src/live/EventSize.ts"
import { DECISION, eventsOf, said } from "../support.ts"

const LARGEST_SHORT_EVENT = 64 * 1024

const nested = (depth: number): unknown => {
  let value: unknown = "at the bottom"
  for (let level = 0; level < depth; level++) value = { within: value }
  return value
}

/** Hostile payloads, each about a megabyte. */
const HOSTILE: Readonly<Record<string, unknown>> = {
  "a long text": "x".repeat(1_000_000),
  "long texts beside each other": Array.from({ length: 500 }, () => "y".repeat(2_000)),
  "many members": Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`member ${at}`, at])),
  "long names": Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}${"n".repeat(20_000)}`, at])),
  "long lists": Array.from({ length: 100_000 }, (_, at) => at),
  "much nesting": nested(100_000),
  "lists of lists": Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => ["a", 1])),
  "half a character": "\u{1f600}".repeat(300_000),
  "a member called __proto__": JSON.parse(`{"__proto__":${JSON.stringify("p".repeat(1_000_000))}}`)
}

describe("an event that is shortened", () => {
  for (const [title, payload] of Object.entries(HOSTILE)) {
    it(`is small: ${title}`, () => {
      const [event] = eventsOf([
        said("proposal.updated", "Vote", "ana", { proposalId: "p1", vote: "APPROVE", payload })
      ])
      assert.isDefined(event)
      if (event === undefined) return
      assert.isAbove(sizeOf(event.recorded), 500_000)
      const short = inBounds(event)
      assert.isTrue(isShortened(short))
      assert.isBelow(sizeOf(short.recorded), LARGEST_SHORT_EVENT)
      // Its position, its type and its message type stay.
      assert.strictEqual(short.type, "proposal.updated")
      assert.deepStrictEqual([short.id, short.seq, short.index], [event.id, event.seq, event.index])
      if (short.type === "proposal.updated") assert.strictEqual(short.data.messageType, "Vote")
      assert.notInclude(JSON.stringify(short.recorded), "\\ud83d…")
    })
  }

  it("leaves small ones as they are", () => {
    for (const event of eventsOf(DECISION)) {
      assert.strictEqual(inBounds(event), event)
      assert.deepStrictEqual(shorten(event).recorded, event.recorded)
    }
  })

  it.prop("takes any JSON", [Schema.Json], ([payload]) => {
    const [event] = eventsOf([said("progress.reported", "Progress", "ana", { payload })])
    if (event === undefined) return
    const short = shorten(event)
    assert.isAtMost(sizeOf(short.recorded), sizeOf(event.recorded) + 2)
    assert.strictEqual(short.type, event.type)
  })
})
