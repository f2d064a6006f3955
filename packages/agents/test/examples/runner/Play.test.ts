import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { AckSchema, type Envelope, EnvelopeSchema, SessionState } from "@runplane/runtime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { AgentClient } from "../../../src/client/AgentClient.ts"
import { type AgentFailure, MessageRefused } from "../../../src/client/AgentFailure.ts"
import { Bootstrap } from "../../../src/client/Bootstrap.ts"
import { Decision } from "../../../src/examples/runner/Messages.ts"
import { play } from "../../../src/examples/runner/Play.ts"
import { hasSaid } from "../../../src/examples/runner/Session.ts"
import {
  act,
  cancel,
  commit,
  done,
  open,
  progress,
  type Strategy,
  say,
  signal,
  wait,
  waitFor
} from "../../../src/examples/runner/Strategy.ts"
import { balanced, balancedHints, bootstrapFor, degraded } from "../../support/Bridge.ts"

const SELF = "incident-commander"
const bootstrap = bootstrapFor(SELF, {
  runtimeUrl: "127.0.0.1:1",
  sessionId: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a31",
  policyVersion: balanced.policyId,
  hints: balancedHints,
  incident: degraded
})

const refused = (messageType: string, code: string) =>
  new MessageRefused({ messageType, code, detail: "no", reasons: [], denials: [] })

/**
 * A runtime that accepts everything but what `refusal` names, and shows what was accepted only when it is `delivered`.
 */
const stage = Effect.fnUntraced(function* (
  refusal: (messageType: string) => AgentFailure | undefined = () => undefined
) {
  const log: Array<string> = []
  const accepted: Array<Envelope> = []
  const stream = yield* Queue.make<Envelope>()
  const end = yield* Deferred.make<SessionState>()
  const ack = create(AckSchema, { ok: true })
  const answer = (messageType: string, logged = messageType) => {
    const failure = refusal(messageType)
    if (failure !== undefined) return Effect.fail(failure)
    log.push(logged)
    return Effect.succeed(ack)
  }
  const accept = (messageType: string) =>
    Effect.map(answer(messageType), () => {
      const messageId = `m${accepted.length}`
      accepted.push(create(EnvelopeSchema, { messageType, messageId, sender: SELF }))
      return create(AckSchema, { ok: true, messageId })
    })
  const client = AgentClient.of({
    start: () => accept("SessionStart"),
    send: (messageType) => accept(messageType),
    commit: ({ action }) => answer("Commitment", `Commitment ${action}`),
    signal: (signalType) => answer("Signal", `Signal ${signalType}`),
    progress: (fraction) => answer("Progress", `Progress ${fraction}`),
    cancelSession: (reason) => answer("SessionCancel", `SessionCancel ${reason}`),
    envelopes: Stream.fromQueue(stream),
    ended: Deferred.await(end)
  })
  return {
    log,
    end: Deferred.succeed(end, SessionState.CANCELLED),
    deliver: Effect.suspend(() => Queue.offerAll(stream, accepted.splice(0))),
    play: (strategy: Strategy) =>
      play(strategy).pipe(
        Effect.provideService(AgentClient, client),
        Effect.provideService(Bootstrap, bootstrap),
        Effect.forkChild
      )
  }
})

const proposal = say(Decision.Proposal, { proposalId: "p", option: "go" })
const outcome = { commitmentId: "c", action: "decision.selected", positive: true, scope: "s", reason: "all agree" }

describe("playing a strategy", () => {
  it.effect("performs the actions of a turn in order, and calls the strategy again when the session shows them", () =>
    Effect.gen(function* () {
      const { deliver, log, play } = yield* stage()
      const turns: Array<number> = []
      const fiber = yield* play(({ session }) => {
        turns.push(session.length)
        return session.length === 0 ? act(open, signal("hello", {}), proposal, progress(0.5, "half")) : done
      })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(log, ["SessionStart", "Signal hello", "Proposal", "Progress 0.5"])
      assert.deepStrictEqual(turns, [0])
      yield* deliver
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(turns, [0, 2])
    })
  )

  it.effect("says when a wait has taken too long, once", () =>
    Effect.gen(function* () {
      const { end, log, play } = yield* stage()
      let asked = 0
      const fiber = yield* play(({ overdue }) => {
        asked += 1
        return overdue ? wait : waitFor(5_000)
      })
      yield* TestClock.adjust("4999 millis")
      assert.strictEqual(asked, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(asked, 2)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(asked, 2)
      yield* end
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(log, [])
    })
  )

  it.effect("counts a wait from the agent's last turn, also while other agents send messages", () =>
    Effect.gen(function* () {
      const { deliver, log, play } = yield* stage()
      const fiber = yield* play(({ overdue, session }) => {
        if (!hasSaid(session, SELF, Decision.Proposal)) return act(proposal)
        return overdue ? act(cancel("too late")) : waitFor(5_000)
      })
      yield* TestClock.adjust("1 millis")
      yield* deliver
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(log, ["Proposal", "SessionCancel too late"])
    })
  )

  it.effect("cancels the session when the policy refuses its commitment, saying why", () =>
    Effect.gen(function* () {
      const { log, play } = yield* stage((type) => (type === "Commitment" ? refused(type, "POLICY_DENIED") : undefined))
      yield* Fiber.join(yield* play(() => act(commit(outcome), signal("bye", {}))))
      assert.deepStrictEqual(log, ["SessionCancel all agree; Commitment refused with POLICY_DENIED (no)", "Signal bye"])
    })
  )

  it.effect("ends without a failure when the session has ended before its message", () =>
    Effect.gen(function* () {
      const { play } = yield* stage((type) => (type === "Proposal" ? refused(type, "SESSION_NOT_OPEN") : undefined))
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(yield* play(() => act(proposal)))))
    })
  )

  it.effect("fails when the runtime refuses anything else", () =>
    Effect.gen(function* () {
      const { play } = yield* stage((type) => (type === "Proposal" ? refused(type, "FORBIDDEN") : undefined))
      const failure = yield* Effect.flip(Fiber.join(yield* play(() => act(proposal))))
      assert.strictEqual(failure.message, "Proposal refused with FORBIDDEN (no)")
    })
  )

  it.effect("fails with the reason when the strategy is unable to play", () =>
    Effect.gen(function* () {
      const { play } = yield* stage()
      const failure = yield* Effect.flip(Fiber.join(yield* play(() => ({ _tag: "Unable", reason: "no idea" }))))
      assert.strictEqual(failure.message, "no idea")
    })
  )

  it.effect("refuses a strategy whose turns say nothing, which would never end", () =>
    Effect.gen(function* () {
      const { play } = yield* stage()
      const exit = yield* Fiber.await(yield* play(() => act(progress(0.5, "half"))))
      assert.isTrue(Exit.hasDies(exit))
    })
  )
})
