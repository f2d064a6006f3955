import { assert } from "@effect/vitest"
import { ControlPlaneClient } from "@runplane/api"
import * as Effect from "effect/Effect"
import { eventsOf } from "../Account.ts"
import { ControlPlaneUnderTest } from "../ControlPlaneUnderTest.ts"
import { decision, progress, task } from "../Messages.ts"
import { RuntimeUnderTest } from "../RuntimeUnderTest.ts"
import { LEAD, OPS, openStage, RISK, type Stage, setStage } from "../Stage.ts"
import type { Scenario } from "./Scenario.ts"

const p1 = { proposalId: "p1" }
const proposed = [LEAD, decision.proposal({ ...p1, option: "deploy v2" })] as const
const approval = [RISK, decision.vote({ ...p1, vote: "APPROVE" })] as const

/** The types of the session's messages as the log has them. */
const messagesOf = (stage: Stage) =>
  Effect.map(eventsOf(stage.runId), (events) =>
    events
      .filter(({ type }) => type === "message.received")
      .map(({ recorded: { data } }) => String(data["messageType"]))
  )

/** What the control plane learns beside the messages, and when it comes late or loses its connection. */
export const observationScenarios: ReadonlyArray<Scenario> = [
  {
    name: "signals with token usage, and progress",
    play: Effect.gen(function* () {
      const stage = yield* openStage({ mode: "decision" })
      const { api } = yield* ControlPlaneClient
      const risk = yield* stage.as(RISK)
      yield* stage.say(proposed)
      yield* risk.signal("llm.call.completed", {
        model: "vendor1-4o-mini",
        provider: "vendor1",
        promptTokens: 120,
        completionTokens: 30,
        totalTokens: 150,
        latencyMs: 42
      })
      yield* risk.signal("observation.latency", { ms: 7 })
      yield* stage.say([RISK, progress({ progress: 0.5, message: "half" })])
      // Signals have no order with the session's messages: the end waits for their events.
      yield* stage.seen(({ type }) => type === "llm.call.completed")
      yield* stage.seen(({ data }) => JSON.stringify(data).includes("observation.latency"))
      yield* stage.seen(({ type }) => type === "progress.reported")
      yield* stage.say(approval)
      yield* stage.commit("decision.selected", true)
      yield* stage.followed
      const metrics = yield* api.runs.metrics({ params: { id: stage.runId } })
      assert.deepStrictEqual([metrics.totalTokens, metrics.signalCount], [150, 2])
      return stage.runId
    })
  },
  {
    name: "a run that is posted when its session has messages already",
    play: Effect.gen(function* () {
      const stage = yield* setStage({ mode: "decision" })
      yield* stage.start
      yield* stage.say(proposed)
      yield* stage.post
      yield* stage.seen(({ recorded: { data } }) => data["messageType"] === "Proposal")
      yield* stage.say(approval)
      yield* stage.commit("decision.selected", true)
      yield* stage.followed
      assert.deepStrictEqual(yield* messagesOf(stage), ["SessionStart", "Proposal", "Vote", "Commitment"])
      return stage.runId
    })
  },
  {
    name: "a run that is posted when its session has ended",
    play: Effect.gen(function* () {
      const stage = yield* setStage({ mode: "decision" })
      const { keepsHistory } = yield* RuntimeUnderTest
      yield* stage.start
      yield* stage.say(proposed, approval)
      yield* stage.commit("decision.selected", true)
      yield* stage.post
      yield* stage.followed
      const { api } = yield* ControlPlaneClient
      const { status } = yield* api.runs.get({ params: { id: stage.runId }, query: {} })
      assert.strictEqual(status, "completed")
      // A durable store has dropped the history by then: messages that were not received while the session was open are
      // missing, and the log says so.
      const messages = yield* messagesOf(stage)
      const isWhole = messages.join() === "SessionStart,Proposal,Vote,Commitment"
      if (keepsHistory) assert.isTrue(isWhole, messages.join())
      const events = yield* eventsOf(stage.runId)
      assert.strictEqual(
        events.some(({ recorded: { data } }) => data["status"] === "gap"),
        !isWhole
      )
      return keepsHistory ? stage.runId : undefined
    })
  }
]

/** Envelopes of the long session, its start and its commitment included. */
const LONG_SESSION = 5_000
const LONG_TTL_MS = 600_000
/** Sent at the same time, so that the session grows faster than its readers follow. */
const SENDERS = 16

const scope = { taskId: "t1" }

/** Cannot be played beside others: the connection of all is cut. */
export const reconnection: Scenario = {
  name: "a session whose observer loses the connection again and again",
  play: Effect.gen(function* () {
    const stage = yield* openStage({ mode: "decision" })
    const { link } = yield* ControlPlaneUnderTest
    const { keepsHistory } = yield* RuntimeUnderTest
    yield* stage.say(proposed)
    yield* stage.seen(({ recorded: { data } }) => data["messageType"] === "Proposal")
    yield* link.cut
    yield* stage.say([RISK, decision.evaluation({ ...p1, recommendation: "APPROVE", confidence: 0.9 })])
    yield* stage.seen(({ recorded: { data } }) => data["messageType"] === "Evaluation")
    yield* link.cut
    yield* stage.say(approval, [OPS, decision.vote({ ...p1, vote: "REJECT" })])
    // An ended session cannot be read where its history is dropped at once.
    if (keepsHistory) yield* link.cut
    else yield* stage.seen(({ recorded: { data } }) => data["messageType"] === "Vote" && data["sender"] === OPS)
    yield* stage.commit("decision.selected", true)
    yield* stage.followed
    assert.isNotEmpty(
      (yield* eventsOf(stage.runId)).filter(({ recorded: { data } }) => data["status"] === "reconnecting"),
      "the connection was lost"
    )
    return stage.runId
  })
}

/** Keeps the machine busy, so that it is played alone. */
export const longSession: Scenario = {
  name: "a session of 5,000 envelopes",
  play: Effect.gen(function* () {
    const stage = yield* openStage({ mode: "task", participants: [LEAD, RISK], ttlMs: LONG_TTL_MS })
    yield* stage.say([LEAD, task.request(scope)], [RISK, task.accept(scope)])
    const updates = LONG_SESSION - 5
    const update = [RISK, task.update({ ...scope, status: "working" })] as const
    yield* Effect.forEach(Array.from({ length: updates }), () => stage.say(update), {
      concurrency: SENDERS,
      discard: true
    })
    yield* stage.say([RISK, task.complete(scope)])
    yield* stage.commit("task.completed", true)
    const frames = yield* stage.followed
    const ids = frames.flatMap(({ recorded: { data }, type }) =>
      type === "message.received" ? [String(data["messageId"])] : []
    )
    assert.strictEqual(ids.length, LONG_SESSION, "every message is in the log")
    assert.strictEqual(new Set(ids).size, LONG_SESSION, "no message is in the log twice")
    assert.deepStrictEqual(
      frames.map(({ index }) => index),
      frames.map((_, position) => position + 1)
    )
    const { api } = yield* ControlPlaneClient
    const metrics = yield* api.runs.metrics({ params: { id: stage.runId } })
    assert.strictEqual(metrics.messageCount, LONG_SESSION)
    return undefined
  })
}
