import { assert, describe, it } from "@effect/vitest"
import { RunDigest } from "../../src/live/RunDigest.ts"
import { eventsOf } from "../support.ts"

const timesOf = (runtimeKind: string) => {
  const span = { startedAt: "2026-07-01T09:00:00.000Z", endedAt: "2026-07-01T09:00:02.000Z" }
  const digest = new RunDigest()
  const events = eventsOf([
    { type: "run.created", data: { runtimeKind } },
    { type: "run.started" },
    { type: "message.received", data: { messageType: "AgentInvoked", ...span } },
    { type: "artifact.created" },
    { type: "message.received", data: { messageType: "AgentAnswered", ...span } }
  ])
  for (const event of events) digest.add(event)
  return digest.times.map((time) => new Date(time).toISOString().slice(11, 21))
}

describe("the times of a run", () => {
  it("are those of the spans of an ingested run, also for the events between them", () => {
    assert.deepStrictEqual(timesOf("otlp"), ["09:00:00.0", "09:00:00.0", "09:00:00.0", "09:00:00.0", "09:00:02.0"])
  })

  it("are those of the reception of other events", () => {
    assert.deepStrictEqual(timesOf("rust"), ["10:00:00.0", "10:00:00.1", "09:00:00.0", "10:00:00.3", "09:00:02.0"])
  })
})
