import { create, fromBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import {
  CommitmentPayloadSchema,
  type Envelope,
  GetSessionRequestSchema,
  SessionLifecycleEvent_EventType as Lifecycle,
  SessionState,
  SignalPayloadSchema,
  WatchSessionsRequestSchema,
  WatchSignalsRequestSchema
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { Sandbox } from "../../src/Sandbox.ts"
import { connect, lead, observer, risk, subscribe, verdictOf } from "../support/Calls.ts"
import {
  commitmentPayload,
  encode,
  envelope,
  evaluation,
  proposal,
  SESSION,
  startPayload,
  vote
} from "../support/Envelopes.ts"

const T0 = Date.UTC(2026, 2, 1)

/** A raw event as an export bundle holds it. */
const raw = (offset: number, kind: string, payload: object) => ({
  id: `raw-${offset}`,
  seq: offset,
  ts: new Date(T0 + offset).toISOString(),
  kind,
  sourceName: "rust-runtime",
  payload
})

const framed = (offset: number, sender: string, sent: Envelope, rest: object = {}, ambient = false) =>
  raw(offset, "stream-envelope", {
    ambient,
    envelope: {
      macpVersion: sent.macpVersion,
      mode: sent.mode,
      messageType: sent.messageType,
      messageId: sent.messageId,
      sessionId: sent.sessionId,
      sender,
      timestampUnixMs: T0 + offset,
      payloadBase64: Buffer.from(sent.payload).toString("base64"),
      ...rest
    }
  })

const seen = (offset: number, state: string) =>
  raw(offset, "session-snapshot", { snapshot: { sessionId: SESSION, state } })

const asJson = (value: object) => ({
  payloadBase64: Buffer.from(JSON.stringify(value)).toString("base64"),
  redacted: true
})

const signal = encode(SignalPayloadSchema, { signalType: "llm.call.completed", correlationSessionId: SESSION })

const bundle = {
  run: { id: "run-1" },
  session: null,
  canonicalEvents: [],
  rawEvents: [
    raw(0, "stream-status", { status: "opened" }),
    framed(1, lead, envelope("SessionStart", "m1", startPayload())),
    seen(2, "OPEN"),
    framed(3, lead, envelope("Proposal", "m2", proposal())),
    framed(4, risk, envelope("Signal", "g1", signal, { mode: "", sessionId: "" }), {}, true),
    framed(
      5,
      risk,
      envelope("Evaluation", "m3", evaluation()),
      asJson({ proposalId: "p1", recommendation: "APPROVE", confidence: "[REDACTED]", reason: "sk is [REDACTED]" })
    ),
    seen(6, "SUSPENDED"),
    seen(7, "OPEN"),
    framed(8, risk, envelope("Vote", "m4", vote())),
    seen(9, "RESOLVED"),
    framed(
      10,
      lead,
      envelope("Commitment", "m5", commitmentPayload()),
      asJson({ commitmentId: "c1", action: "decision.selected", reason: "[REDACTED]", outcomePositive: true })
    )
  ]
}

describe("a recorded session", () => {
  it.live("is played to watchers and subscribers like a live one", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const client = yield* connect(sandbox.address)
      const watch = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
      const signals = client.watch("watchSignals", create(WatchSignalsRequestSchema), observer)
      const before = Date.now()
      // A call that is answered says that the watches before it on the same connection are open.
      yield* Effect.promise(() => verdictOf(client, envelope("Vote", "x", vote()), lead))
      const played = yield* sandbox.replayBundle(bundle, { speed: Number.POSITIVE_INFINITY })
      assert.deepStrictEqual(played, { sessionId: SESSION, envelopes: 5, signals: 1 })
      yield* Effect.promise(async () => {
        const events = await watch.frames.take(4)
        assert.deepStrictEqual(
          events.map(({ event }) => event?.eventType),
          [Lifecycle.CREATED, Lifecycle.SUSPENDED, Lifecycle.RESUMED, Lifecycle.RESOLVED]
        )
        assert.strictEqual((await signals.frames.next())?.envelope?.messageId, "g1")
        const stream = client.session(observer)
        stream.write(subscribe(SESSION))
        const frames = (await stream.frames.take(5)).flatMap(({ response }) =>
          response.case === "envelope" ? [response.value] : []
        )
        assert.deepStrictEqual(
          frames.map(({ messageId, sender }) => [messageId, sender]),
          [
            ["m1", lead],
            ["m2", lead],
            ["m3", risk],
            ["m4", risk],
            ["m5", lead]
          ]
        )
        assert.isTrue(frames.every(({ timestampUnixMs }) => Number(timestampUnixMs) >= before))
        const commitment = fromBinary(CommitmentPayloadSchema, frames[4]?.payload ?? new Uint8Array())
        assert.deepStrictEqual([commitment.action, commitment.reason], ["decision.selected", "[REDACTED]"])
        const get = create(GetSessionRequestSchema, { sessionId: SESSION })
        const { metadata } = await client.unary("getSession", get, observer)
        assert.deepStrictEqual([metadata?.state, metadata?.initiator], [SessionState.RESOLVED, lead])
        watch.cancel()
        signals.cancel()
        stream.cancel()
      })
    }).pipe(Effect.provide(Sandbox.layer({ port: 0, observers: [observer] })))
  )

  it.live("is played twice under two ids, signals included, and takes no messages", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const client = yield* connect(sandbox.address)
      const open = { rawEvents: bundle.rawEvents.slice(0, 4) }
      const other = "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a02"
      yield* sandbox.replayBundle(bundle, { speed: 1_000 })
      const again = yield* Effect.flip(sandbox.replayBundle(bundle))
      assert.strictEqual(again._tag, "SessionIdTaken")
      yield* sandbox.replayBundle(open, { sessionId: other })
      const late = envelope("Proposal", "m9", proposal("p9"), { sessionId: other })
      assert.strictEqual(yield* Effect.promise(() => verdictOf(client, late, lead)), "FORBIDDEN")
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )

  it.live("is refused when the bundle is none, or lacks its beginning", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      for (const broken of [{}, { rawEvents: [] }, { rawEvents: bundle.rawEvents.slice(2) }, "text"]) {
        const failure = yield* Effect.flip(sandbox.replayBundle(broken))
        assert.strictEqual(failure._tag, "BundleUnreadable")
      }
    }).pipe(Effect.provide(Sandbox.layer({ port: 0 })))
  )
})
