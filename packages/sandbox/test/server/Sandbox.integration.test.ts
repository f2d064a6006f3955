import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import {
  GetSessionRequestSchema,
  SessionLifecycleEvent_EventType as Lifecycle,
  SessionState,
  SignalPayloadSchema,
  WatchSessionsRequestSchema,
  WatchSignalsRequestSchema
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { Sandbox } from "../../src/Sandbox.ts"
import { connect, lead, observer, risk, send, subscribe } from "../support/Calls.ts"
import {
  commitmentPayload,
  DECISION,
  encode,
  envelope,
  evaluation,
  proposal,
  SESSION,
  startPayload,
  vote
} from "../support/Envelopes.ts"

describe("a foreign client on a real port", () => {
  it.live("goes through the worked example row by row", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const client = yield* connect(sandbox.address)
      yield* Effect.promise(async () => {
        const watch = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
        const signals = client.watch("watchSignals", create(WatchSignalsRequestSchema), observer)
        const stream = client.session(observer)
        const now = BigInt(Date.now())

        const start = await send(client, envelope("SessionStart", "m1", startPayload(), { timestampUnixMs: now }), lead)
        assert.deepStrictEqual([start.ok, start.sessionState], [true, SessionState.OPEN])
        const created = await watch.frames.next()
        assert.strictEqual(created?.event?.eventType, Lifecycle.CREATED)
        assert.strictEqual(created?.event?.session?.policyVersion, "policy.default")
        assert.strictEqual(created?.event?.session?.initiator, lead)
        assert.strictEqual(created?.event?.session?.expiresAtUnixMs, now + 60_000n)
        assert.deepStrictEqual(created?.event?.session?.participantActivity, [])

        stream.write(subscribe(SESSION))
        const first = await stream.frames.next()
        assert(first?.response.case === "envelope")
        assert.strictEqual(first.response.value.messageType, "SessionStart")
        assert.strictEqual(first.response.value.sender, lead)
        assert.strictEqual(first.response.value.timestampUnixMs, now)

        assert.isTrue((await send(client, envelope("Proposal", "m2", proposal()), lead)).ok)
        const signal = encode(SignalPayloadSchema, {
          signalType: "llm.call.completed",
          data: new TextEncoder().encode("{}"),
          correlationSessionId: SESSION
        })
        const ambient = { mode: "", sessionId: "" }
        const signalAck = await send(client, envelope("Signal", "m3", signal, ambient), risk)
        assert.deepStrictEqual([signalAck.ok, signalAck.sessionState], [true, SessionState.OPEN])
        const received = await signals.frames.next()
        assert.deepStrictEqual([received?.envelope?.messageId, received?.envelope?.sender], ["m3", risk])

        assert.isTrue((await send(client, envelope("Evaluation", "m4", evaluation()), risk)).ok)
        assert.isTrue((await send(client, envelope("Vote", "m5", vote("APPROVE")), risk)).ok)
        const late = await send(client, envelope("Evaluation", "m6", evaluation()), risk)
        assert.deepStrictEqual(
          [late.ok, late.error?.code, late.error?.message, late.sessionState],
          [false, "INVALID_ENVELOPE", "InvalidPayload", SessionState.UNSPECIFIED]
        )
        assert.isTrue((await send(client, envelope("Vote", "m7", vote()), lead)).ok)
        const done = await send(client, envelope("Commitment", "m8", commitmentPayload()), lead)
        assert.deepStrictEqual([done.ok, done.sessionState], [true, SessionState.RESOLVED])
        const again = await send(client, envelope("Commitment", "m8", commitmentPayload()), lead)
        assert.deepStrictEqual([again.ok, again.duplicate, again.sessionState], [true, true, SessionState.RESOLVED])
        const closed = await send(client, envelope("Vote", "m9", vote()), risk)
        assert.deepStrictEqual([closed.ok, closed.error?.code], [false, "SESSION_NOT_OPEN"])

        const frames = await stream.frames.take(5)
        assert.deepStrictEqual(
          frames.map(({ response }) => (response.case === "envelope" ? response.value.messageId : response.case)),
          ["m2", "m4", "m5", "m7", "m8"]
        )
        const resolved = await watch.frames.next()
        assert.strictEqual(resolved?.event?.eventType, Lifecycle.RESOLVED)
        assert.deepStrictEqual(
          resolved?.event?.session?.participantActivity.map(({ messageCount, participantId }) => [
            participantId,
            messageCount
          ]),
          [
            [lead, 3],
            [risk, 2]
          ]
        )

        // The stream stays open and silent until the client half-closes it.
        stream.halfClose()
        assert.strictEqual((await stream.frames.status).code, status.OK)
        const resumed = client.session(observer)
        resumed.write(subscribe(SESSION, 4n))
        assert.strictEqual((await resumed.frames.take(2)).length, 2)
        const { metadata } = await client.unary(
          "getSession",
          create(GetSessionRequestSchema, { sessionId: SESSION }),
          observer
        )
        assert.strictEqual(metadata?.state, SessionState.RESOLVED)
        assert.strictEqual(metadata?.mode, DECISION)
        resumed.cancel()
        watch.cancel()
        signals.cancel()
      })
      assert.strictEqual((yield* sandbox.acceptedHistory(SESSION)).length, 6)
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )
})
