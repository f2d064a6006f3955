import { assert, describe, it } from "@effect/vitest"
import {
  eventTime,
  isDiscoveredRun,
  narrativeBegin,
  narrativeClock,
  narrativeTime,
  runDuration,
  shownBegin,
  spanTimes
} from "../../src/events/RunTimes.ts"
import { draft, stored } from "../support/events.ts"

/** An event that was received at a time. */
const event = (
  type: "session.bound" | "message.received" | "participant.seen" | "tool.called",
  ts: string,
  data = {}
) => stored({ ...draft(type, data), ts }, 1)

const at = (second: number) => new Date(Date.UTC(2026, 6, 1, 10, 0, 0) + second * 1_000).toISOString()

// docs/internals/runtime.md#discovery
describe("the times of a run", () => {
  const posted = { createdAt: at(10), startedAt: at(10.5), endedAt: at(14), metadata: {} }
  const discovered = { ...posted, startedAt: at(10), endedAt: at(10.1), metadata: { discoveredAt: at(9) } }

  it("begin with the creation of a posted run", () => {
    assert.strictEqual(narrativeBegin(posted), Date.parse(at(10)))
    assert.strictEqual(runDuration(posted), 3_500)
    assert.isFalse(isDiscoveredRun(posted))
  })

  it("of a page begin where the duration does", () => {
    assert.strictEqual(shownBegin(posted), Date.parse(at(10.5)))
    assert.strictEqual(Date.parse(posted.endedAt) - shownBegin(posted), runDuration(posted))
    assert.strictEqual(Date.parse(discovered.endedAt) - shownBegin(discovered), runDuration(discovered))
    assert.strictEqual(shownBegin({ createdAt: at(10), metadata: {} }), Date.parse(at(10)))
  })

  it("begin with the discovery of a session that was there before its run", () => {
    assert.strictEqual(narrativeBegin(discovered), Date.parse(at(9)))
    assert.strictEqual(runDuration(discovered), 1_100)
    assert.isTrue(isDiscoveredRun(discovered))
  })

  it("show an open session at the zero of the story", () => {
    const clock = narrativeClock(discovered)
    assert.strictEqual(clock(event("session.bound", at(10))), 0)
    assert.strictEqual(clock(event("message.received", at(9.4))), 400)
    assert.strictEqual(narrativeClock(posted)(event("session.bound", at(11))), 1_000)
  })

  it("are never negative", () => {
    assert.strictEqual(narrativeTime(narrativeBegin(posted), at(9.4)), 0)
    assert.strictEqual(narrativeTime(narrativeBegin(discovered), at(9.4)), 400)
    assert.strictEqual(runDuration({ ...posted, endedAt: at(10.4) }), 0)
  })

  it("run on until the end, and from the start", () => {
    const { endedAt, ...running } = discovered
    assert.strictEqual(runDuration(running, Date.parse(at(12))), 3_000)
    assert.isUndefined(runDuration(running))
    assert.isUndefined(runDuration({ createdAt: at(10), endedAt, metadata: {} }))
  })

  it.each([at(11), at(-60), "soon", 5, null])("ignore %j as the discovery", (discoveredAt) => {
    const run = { ...posted, metadata: { discoveredAt } }
    assert.strictEqual(narrativeBegin(run), Date.parse(at(10)))
    assert.strictEqual(runDuration(run), 3_500)
  })

  it("begin with the first span of an ingested run", () => {
    const ingested = { ...posted, metadata: { firstSpanAt: at(2) } }
    assert.strictEqual(narrativeBegin(ingested), Date.parse(at(2)))
    const times = { startedAt: at(3), endedAt: at(5) }
    assert.strictEqual(narrativeClock(ingested)(event("message.received", at(11), times)), 3_000)
    assert.strictEqual(narrativeBegin({ ...posted, metadata: { firstSpanAt: "soon" } }), Date.parse(at(10)))
  })
})

// docs/reference/ingest.md#from-spans-to-events
describe("the time of an event", () => {
  const times = { startedAt: at(3), endedAt: at(5) }

  it("is the end of its span, and the start for what begins with it", () => {
    const timeOf = (...given: Parameters<typeof event>) => eventTime(event(...given))
    assert.strictEqual(timeOf("message.received", at(9), { ...times, messageType: "AgentAnswered" }), at(5))
    assert.strictEqual(timeOf("message.received", at(9), { ...times, messageType: "AgentInvoked" }), at(3))
    assert.strictEqual(timeOf("message.received", at(9), { ...times, messageType: "Handoff" }), at(3))
    assert.strictEqual(timeOf("tool.called", at(9), { ...times, messageType: "ToolCall" }), at(3))
    assert.strictEqual(timeOf("participant.seen", at(9), times), at(3))
  })

  it("is the time of its reception without a span", () => {
    assert.strictEqual(eventTime(event("message.received", at(9), { startedAt: at(3) })), at(9))
    assert.isUndefined(spanTimes(event("message.received", at(9))))
  })
})
