import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import { GetSessionRequestSchema, InitializeRequestSchema, SessionState, SignalPayloadSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { SHADOW_LIMITS } from "../../src/shadow/ShadowLimits.ts"
import { makeShadowRuntime, type ShadowRuntimeOptions } from "../../src/shadow/ShadowRuntime.ts"
import { connect, failure, lead, risk, send, subscribe, verdictOf } from "../support/Calls.ts"
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

const TOKEN = "token-of-the-shadow"
const start = () => envelope("SessionStart", "m1", startPayload(), { sender: lead, timestampUnixMs: 1n })

const opened = Effect.fnUntraced(function* (rest: Partial<ShadowRuntimeOptions> = {}) {
  const shadow = yield* makeShadowRuntime({ participant: risk, token: TOKEN, ...rest })
  yield* shadow.open(start(), undefined)
  yield* shadow.relay(envelope("Proposal", "m2", proposal(), { sender: lead }))
  return { shadow, client: yield* connect(shadow.address) }
})

const sessionOf = create(GetSessionRequestSchema, { sessionId: SESSION })

describe("the runtime of a shadow", () => {
  it.live("shows the session to the shadow, and takes its messages by the rules of the mode", () =>
    Effect.gen(function* () {
      const { client, shadow } = yield* opened()
      yield* Effect.promise(async () => {
        const stream = client.session(TOKEN)
        stream.write(subscribe(SESSION))
        assert.strictEqual((await stream.frames.take(2)).length, 2)
        assert.strictEqual(
          await verdictOf(client, envelope("Vote", "x0", vote("APPROVE", "p9")), TOKEN),
          "INVALID_ENVELOPE"
        )
        assert.strictEqual(await verdictOf(client, envelope("Evaluation", "x1", evaluation()), TOKEN), "ok")
        assert.strictEqual(await verdictOf(client, envelope("Vote", "x2", vote()), TOKEN), "ok")
        assert.strictEqual(await verdictOf(client, envelope("Vote", "x2", vote()), TOKEN), "duplicate")
        assert.strictEqual(await verdictOf(client, envelope("Vote", "x3", vote()), TOKEN), "INVALID_ENVELOPE")
      })
      const messages = yield* shadow.messages
      assert.deepStrictEqual(
        messages.map(({ envelope: { messageId, sender }, refusal, shown }) => [
          messageId,
          sender,
          shown,
          refusal?.code
        ]),
        [
          ["x0", "", 2, "INVALID_ENVELOPE"],
          ["x1", risk, 2, undefined],
          ["x2", risk, 2, undefined],
          ["x3", "", 2, "INVALID_ENVELOPE"]
        ]
      )
    })
  )

  it.live("lets a late shadow evaluate after the votes of others, and not after its own", () =>
    Effect.gen(function* () {
      const { client, shadow } = yield* opened()
      yield* shadow.relay(envelope("Evaluation", "m3", evaluation(), { sender: risk }))
      yield* shadow.relay(envelope("Vote", "m4", vote(), { sender: lead }))
      yield* Effect.promise(async () => {
        assert.strictEqual(await verdictOf(client, envelope("Evaluation", "x1", evaluation()), TOKEN), "ok")
        assert.strictEqual(await verdictOf(client, envelope("Vote", "x2", vote()), TOKEN), "ok")
        const late = envelope("Evaluation", "x3", evaluation())
        assert.strictEqual(await verdictOf(client, late, TOKEN), "INVALID_ENVELOPE")
      })
    })
  )

  it.live("refuses every other credential, another name, and a session of its own", () =>
    Effect.gen(function* () {
      const { client } = yield* opened()
      yield* Effect.promise(async () => {
        assert.strictEqual(await failure(client.unary("getSession", sessionOf, risk)), status.UNAUTHENTICATED)
        const other = envelope("Vote", "x1", vote(), { sender: lead })
        assert.strictEqual(await verdictOf(client, other, TOKEN), "UNAUTHENTICATED")
        const own = envelope("SessionStart", "x2", startPayload(), { sessionId: "another-session-of-its-own" })
        assert.strictEqual(await verdictOf(client, own, TOKEN), "FORBIDDEN")
      })
    })
  )

  it.live("ends for the shadow by the commitment, whose policy the votes here may not meet", () =>
    Effect.gen(function* () {
      const { client, shadow } = yield* opened()
      yield* shadow.relay(envelope("Vote", "m3", vote(), { sender: risk }))
      yield* shadow.relay(envelope("Commitment", "m4", commitmentPayload(), { sender: lead }))
      assert.isFalse(yield* shadow.hasEnded)
      assert.strictEqual(
        yield* Effect.promise(() => verdictOf(client, envelope("Vote", "x", vote("REJECT")), TOKEN)),
        "ok"
      )
      assert.isTrue(yield* shadow.hasEnded)
      const { metadata } = yield* Effect.promise(() => client.unary("getSession", sessionOf, TOKEN))
      assert.strictEqual(metadata?.state, SessionState.RESOLVED)
      const stream = client.session(TOKEN)
      stream.write(subscribe(SESSION))
      const frames = yield* Effect.promise(() => stream.frames.take(5))
      const shown = frames.map(({ response }) => (response.case === "envelope" ? response.value.messageId : "error"))
      assert.deepStrictEqual(shown, ["m1", "m2", "x", "m3", "m4"])
    })
  )

  it.live("ends without the vote of the participant once it is waited for no longer", () =>
    Effect.gen(function* () {
      const { client, shadow } = yield* opened()
      yield* shadow.relay(envelope("Vote", "m3", vote(), { sender: risk }))
      yield* shadow.relay(envelope("Commitment", "m4", commitmentPayload(), { sender: lead }))
      yield* shadow.endNow
      assert.isTrue(yield* shadow.hasEnded)
      assert.strictEqual(
        yield* Effect.promise(() => verdictOf(client, envelope("Vote", "x", vote()), TOKEN)),
        "SESSION_NOT_OPEN"
      )
    })
  )

  it.live("suspends, resumes and cancels as the real session does", () =>
    Effect.gen(function* () {
      const { client, shadow } = yield* opened()
      const stateOf = Effect.map(
        Effect.promise(() => client.unary("getSession", sessionOf, TOKEN)),
        ({ metadata }) => metadata?.state
      )
      yield* shadow.change("SUSPENDED")
      assert.strictEqual(yield* stateOf, SessionState.SUSPENDED)
      yield* shadow.change("RESUMED")
      assert.strictEqual(yield* stateOf, SessionState.OPEN)
      yield* shadow.change("CANCELLED")
      assert.strictEqual(yield* stateOf, SessionState.CANCELLED)
      assert.isTrue(yield* shadow.hasEnded)
    })
  )

  it.live("refuses a session of a mode that is not known here", () =>
    Effect.gen(function* () {
      const shadow = yield* makeShadowRuntime({ participant: risk, token: TOKEN })
      const unknown = envelope("SessionStart", "m1", startPayload(), { sender: lead, mode: "ext.unknown.v1" })
      const { message } = yield* Effect.flip(shadow.open(unknown, undefined))
      assert.include(message, "MODE_NOT_SUPPORTED")
    })
  )

  const flood = (
    name: string,
    limits: Partial<typeof SHADOW_LIMITS>,
    calls: (client: Effect.Success<ReturnType<typeof opened>>["client"], nth: number) => Promise<unknown>,
    bound: string
  ) =>
    it.live(`stops above its bound of ${name}`, () =>
      Effect.gen(function* () {
        const { client, shadow } = yield* opened({ limits: { ...SHADOW_LIMITS, ...limits } })
        const flooding = Effect.promise(async () => {
          // The calls after the stop fail: only the bound counts.
          for (let nth = 0; nth < 10_000; nth += 1)
            if ((await failure(calls(client, nth))) === status.UNAVAILABLE) return
        })
        yield* Effect.forkScoped(flooding)
        assert.strictEqual(yield* Effect.timeout(shadow.exceeded, "60 seconds"), bound)
        assert.isAtMost((yield* shadow.messages).length, SHADOW_LIMITS.messages)
      })
    )

  flood(
    "messages",
    { messages: 5 },
    (client, nth) => send(client, envelope("Vote", `x${nth}`, vote("APPROVE", "p9")), TOKEN),
    "more than 5 messages"
  )
  flood(
    "signals",
    { signals: 5 },
    (client, nth) => {
      const payload = encode(SignalPayloadSchema, { signalType: "noise", correlationSessionId: SESSION })
      return send(client, envelope("Signal", `s${nth}`, payload, { mode: "", sessionId: "" }), TOKEN)
    },
    "more than 5 signals"
  )
  flood(
    "calls, without a credential too",
    { steps: 20 },
    (client) => client.unary("initialize", create(InitializeRequestSchema, { supportedProtocolVersions: ["1.0"] })),
    "more than 20 calls in 10 s"
  )
  flood(
    "bytes",
    { bytes: 200_000 },
    (client, nth) => send(client, envelope("Vote", `x${nth}`, new Uint8Array(100_000)), TOKEN),
    "more than 200000 bytes"
  )
})
