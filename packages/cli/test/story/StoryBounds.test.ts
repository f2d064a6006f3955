import { assert, describe, it } from "@effect/vitest"
import type { CanonicalEvent } from "@runplane/domain"
import { makeStoryBounds } from "../../src/story/Story.ts"

const told = (types: ReadonlyArray<CanonicalEvent["type"]>) => {
  const bounds = makeStoryBounds()
  types.forEach((type, second) => {
    bounds.note({ type, ts: `2026-07-01T10:00:0${second}.000Z` })
  })
  return bounds.get()
}

describe("the bounds of a story", () => {
  it("end with the run: what agents say after that is no part of it", () => {
    const story = ["run.created", "message.received", "run.completed"] as const
    assert.deepStrictEqual(told(story), { begunAt: "2026-07-01T10:00:00.000Z", events: 3 })
    assert.deepStrictEqual(told([...story, "message.received", "signal.emitted"]), told(story))
  })

  it("hold all events of a run that goes on", () => {
    assert.strictEqual(told(["run.created", "run.suspended", "run.resumed", "message.received"]).events, 4)
  })
})
