import { assert, describe, it } from "@effect/vitest"
import type { EventDraft, RunStatus } from "@runplane/domain"
import {
  at,
  bound,
  created,
  derived,
  draft,
  end,
  fold,
  given,
  RUN_ID,
  received,
  running,
  started,
  stateChanged
} from "../support/events.ts"

const resolvedStates = ["RESOLVED", "EXPIRED", "CANCELLED"]

describe("run", () => {
  const statuses: ReadonlyArray<readonly [string, ReadonlyArray<EventDraft>, RunStatus]> = [
    ["run.created", [created], "queued"],
    ["run.started", [created, started], "starting"],
    ["session.bound", [created, started, bound], "binding_session"],
    ["an OPEN session", running, "running"],
    ["a watched stream", [created, bound, draft("session.stream.opened", { status: "opened" })], "running"],
    ["a SUSPENDED session", [...running, stateChanged("SUSPENDED")], "suspended"],
    ["run.suspended", [...running, draft("run.suspended", {})], "suspended"],
    ["run.resumed", [...running, draft("run.suspended", {}), draft("run.resumed", {})], "running"],
    ["an OPEN session after a suspension", [...running, stateChanged("SUSPENDED"), stateChanged("OPEN")], "running"],
    ["a RESOLVED session", [...running, stateChanged("RESOLVED")], "completed"],
    ["an EXPIRED session", [...running, stateChanged("EXPIRED")], "failed"],
    ["a CANCELLED session", [...running, stateChanged("CANCELLED")], "cancelled"],
    ["a session state with the runtime's prefix", [...running, stateChanged("SESSION_STATE_RESOLVED")], "completed"],
    ["run.completed", [...running, end("run.completed")], "completed"],
    ["run.failed", [...running, end("run.failed")], "failed"],
    ["run.cancelled", [...running, end("run.cancelled")], "cancelled"],
    [
      "the record, whatever the session said",
      [...running, stateChanged("RESOLVED"), end("run.cancelled")],
      "cancelled"
    ],
    ["a Commitment alone", [...running, derived("decision.finalized", "Commitment", "a", {})], "running"],
    [
      "a reconnecting stream",
      [created, bound, draft("session.stream.opened", { status: "reconnecting" })],
      "binding_session"
    ]
  ]
  it.each(statuses)("has after %s the status of the last event", (_, events, status) => {
    assert.strictEqual(fold(events).run.status, status)
  })

  it("never leaves a terminal status for one that is not", () => {
    for (const state of resolvedStates) {
      const ended = given(...running, stateChanged(state))
      const status = ended.when().run.status
      for (const late of [
        created,
        started,
        bound,
        stateChanged("OPEN"),
        stateChanged("SUSPENDED"),
        end("run.resumed")
      ]) {
        assert.strictEqual(ended.when(late).run.status, status)
      }
      for (const other of resolvedStates) assert.strictEqual(ended.when(stateChanged(other)).run.status, status)
    }
  })

  it("collects identity and times", () => {
    assert.deepStrictEqual(given(...running).when(end("run.completed")).run, {
      runId: RUN_ID,
      status: "completed",
      modeName: "macp.mode.decision.v1",
      runtimeSessionId: "session-1",
      traceId: "trace-1",
      startedAt: "2026-07-01T09:59:00.000Z",
      initiator: "lead",
      contextId: "ctx",
      extensionKeys: ["x"],
      endedAt: "2026-07-01T11:00:00.000Z"
    })
  })

  it("ends at the time of the session's end until the record has its own", () => {
    assert.strictEqual(given(...running).when(stateChanged("RESOLVED")).run.endedAt, at(5))
    const both = given(...running).when(stateChanged("RESOLVED"), end("run.completed"))
    assert.strictEqual(both.run.endedAt, "2026-07-01T11:00:00.000Z")
  })

  it("takes the intent from the first SessionStart that states one", () => {
    const startedWith = (...intents: ReadonlyArray<string>) =>
      fold(intents.map((intent) => received("SessionStart", "lead", { intent }))).run
    assert.strictEqual(startedWith("", "pick a plan", "pick another").intent, "pick a plan")
    assert.notProperty(startedWith(""), "intent")
  })

  it("takes maxSuspendMs from the SessionStart, when it is more than 0", () => {
    const start = (maxSuspendMs: number) => fold([received("SessionStart", "lead", { maxSuspendMs })]).run
    assert.strictEqual(start(5000).maxSuspendMs, 5000)
    assert.notProperty(start(0), "maxSuspendMs")
  })

  it("remembers a gap in the history", () => {
    assert.strictEqual(given().when(draft("session.stream.opened", { status: "gap" })).run.historyGap, true)
    assert.notProperty(given().when(draft("session.stream.opened", { status: "opened" })).run, "historyGap")
  })
})
