import { create } from "@bufbuild/protobuf"
import { assert, describe, layer } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import {
  CancelSessionRequestSchema,
  SessionLifecycleEvent_EventType as Lifecycle,
  ProgressPayloadSchema,
  SessionState,
  type StreamSessionResponse,
  SuspendSessionRequestSchema,
  WatchSessionsRequestSchema,
  WatchSignalsRequestSchema
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { Sandbox } from "../../src/Sandbox.ts"
import { connect, lead, observer, risk, send, submit, subscribe } from "../support/Calls.ts"
import { commitmentPayload, encode, envelope, evaluation, proposal, startPayload, vote } from "../support/Envelopes.ts"
import type { ForeignClient } from "../support/ForeignClient.ts"

let counter = 0
/** A session id that no other test uses. */
const freshSession = () => {
  counter += 1
  return `stream-session-test-${String(counter).padStart(4, "0")}`
}

const ids = (frames: ReadonlyArray<StreamSessionResponse>) =>
  frames.map(({ response }) =>
    response.case === "envelope" ? response.value.messageId : `error ${response.value?.code}`
  )

const begin = async (client: ForeignClient, messages = 0): Promise<string> => {
  const sessionId = freshSession()
  await send(client, envelope("SessionStart", "m1", startPayload(), { sessionId }), lead)
  for (let index = 0; index < messages; index += 1) {
    await send(client, envelope("Proposal", `m${index + 2}`, proposal(`p${index + 1}`), { sessionId }), lead)
  }
  return sessionId
}

const withClient = (test: (client: ForeignClient, other: ForeignClient) => Promise<void>) =>
  Effect.gen(function* () {
    const { address } = yield* Sandbox
    const client = yield* connect(address)
    const other = yield* connect(address)
    yield* Effect.promise(() => test(client, other))
  })

layer(Sandbox.layer({ port: 0 }), { excludeTestServices: true })("StreamSession", (it) => {
  describe("passive subscription", () => {
    it.effect("replays and continues live without a gap or a repetition", () =>
      withClient(async (client) => {
        const sessionId = await begin(client, 50)
        const stream = client.session(risk)
        // Sent while the replay is on its way.
        const sending = Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            send(client, envelope("Proposal", `x${index}`, proposal(`x${index}`), { sessionId }), lead)
          )
        )
        stream.write(subscribe(sessionId))
        const frames = await stream.frames.take(101)
        await sending
        assert.strictEqual(new Set(ids(frames)).size, 101)
        assert.deepStrictEqual(ids(frames).slice(0, 3), ["m1", "m2", "m3"])
        stream.cancel()
      })
    )

    it.effect("starts after the ordinal it is given, and beyond the end just goes live", () =>
      withClient(async (client) => {
        const sessionId = await begin(client, 3)
        const middle = client.session(observer)
        middle.write(subscribe(sessionId, 2n))
        assert.deepStrictEqual(ids(await middle.frames.take(2)), ["m3", "m4"])
        const beyond = client.session(observer)
        beyond.write(subscribe(sessionId, 99n))
        // A second subscription on the same stream replays again from its own ordinal.
        middle.write(subscribe(sessionId, 3n))
        assert.deepStrictEqual(ids(await middle.frames.take(1)), ["m4"])
        await send(client, envelope("Vote", "live", vote(), { sessionId }), risk)
        assert.deepStrictEqual(ids(await beyond.frames.take(1)), ["live"])
        assert.deepStrictEqual(ids(await middle.frames.take(1)), ["live"])
        beyond.cancel()
        middle.cancel()
      })
    )

    it.effect("ends with NOT_FOUND for an unknown session and with UNAUTHENTICATED without a credential", () =>
      withClient(async (client) => {
        const unknown = client.session(observer)
        unknown.write(subscribe("no-such-session-no-such-session"))
        assert.strictEqual((await unknown.frames.status).code, status.NOT_FOUND)
        const anonymous = client.session()
        assert.strictEqual((await anonymous.frames.status).code, status.UNAUTHENTICATED)
      })
    )

    it.effect("refuses a stranger inline and stays open", () =>
      withClient(async (client) => {
        const sessionId = await begin(client)
        const stream = client.session("agent://stranger")
        stream.write(subscribe(sessionId))
        const frame = await stream.frames.next()
        assert(frame?.response.case === "error")
        assert.isTrue(frame.response.value.code.startsWith("FORBIDDEN:"))
        assert.strictEqual(frame.response.value.sessionId, sessionId)
        stream.halfClose()
        assert.strictEqual((await stream.frames.status).code, status.OK)
      })
    )

    it.effect("replaces a missing client time on replay only", () =>
      withClient(async (client) => {
        const sessionId = await begin(client)
        const live = client.session(observer)
        live.write(subscribe(sessionId, 1n))
        await send(client, envelope("Proposal", "m2", proposal(), { sessionId }), lead)
        const replay = client.session(observer)
        replay.write(subscribe(sessionId, 1n))
        const [lived, replayed] = await Promise.all([live.frames.next(), replay.frames.next()])
        const timeOf = (frame: StreamSessionResponse | undefined) =>
          frame?.response.case === "envelope" ? frame.response.value.timestampUnixMs : -1n
        // The live frame may itself be a replay when the subscription arrived after the message.
        assert.isTrue(timeOf(replayed) > 0n)
        assert.isTrue(timeOf(lived) === 0n || timeOf(lived) === timeOf(replayed))
        live.cancel()
        replay.cancel()
      })
    )
  })

  describe("submission", () => {
    it.effect("gives the sender its own envelopes back and joins the live session", () =>
      withClient(async (client) => {
        const sessionId = freshSession()
        const stream = client.session(lead)
        stream.write(submit(envelope("SessionStart", "m1", startPayload(), { sessionId })))
        stream.write(submit(envelope("Proposal", "m2", proposal(), { sessionId })))
        assert.deepStrictEqual(ids(await stream.frames.take(2)), ["m1", "m2"])
        await send(client, envelope("Evaluation", "m3", evaluation(), { sessionId }), risk)
        const late = client.session(risk)
        late.write(submit(envelope("Vote", "m4", vote(), { sessionId })))
        assert.deepStrictEqual(ids(await stream.frames.take(2)), ["m3", "m4"])
        assert.deepStrictEqual(ids(await late.frames.take(1)), ["m4"])
        late.cancel()
        stream.cancel()
      })
    )

    it.effect("reports a refusal of the kernel inline, and stays open", () =>
      withClient(async (client) => {
        const sessionId = await begin(client)
        const stream = client.session(lead)
        stream.write(submit(envelope("Vote", "m2", vote(), { sessionId })))
        stream.write(submit(envelope("Proposal", "m3", proposal(), { sessionId })))
        assert.deepStrictEqual(ids(await stream.frames.take(2)), ["error INVALID_ENVELOPE", "m3"])
        stream.cancel()
      })
    )

    const endings: ReadonlyArray<
      readonly [string, (sessionId: string) => ReadonlyArray<Parameters<typeof submit>[0] | "empty">, number]
    > = [
      ["an empty frame", () => ["empty"], status.INVALID_ARGUMENT],
      [
        "an ambient message",
        () => [envelope("Signal", "s", new Uint8Array(), { mode: "", sessionId: "" })],
        status.INVALID_ARGUMENT
      ],
      [
        "another session",
        (sessionId) => [
          envelope("Proposal", "m2", proposal(), { sessionId }),
          envelope("Vote", "m3", vote(), { sessionId: freshSession() })
        ],
        status.INVALID_ARGUMENT
      ],
      [
        "another mode than the session's",
        (sessionId) => [envelope("Vote", "m2", vote(), { sessionId, mode: "macp.mode.task.v1" })],
        status.INVALID_ARGUMENT
      ],
      [
        "a foreign sender",
        (sessionId) => [envelope("Proposal", "m2", proposal(), { sessionId, sender: risk })],
        status.UNAUTHENTICATED
      ],
      [
        "an existing session",
        (sessionId) => [envelope("SessionStart", "other", startPayload(), { sessionId })],
        status.ALREADY_EXISTS
      ],
      [
        "a malformed session id",
        () => [envelope("SessionStart", "m1", startPayload(), { sessionId: "short" })],
        status.INVALID_ARGUMENT
      ]
    ]
    for (const [name, frames, code] of endings) {
      it.effect(`ends on ${name}`, () =>
        withClient(async (client) => {
          const sessionId = await begin(client)
          const stream = client.session(lead)
          for (const frame of frames(sessionId)) stream.write(frame === "empty" ? subscribe("") : submit(frame))
          assert.strictEqual((await stream.frames.status).code, code)
        })
      )
    }

    it.effect("sends a Progress of the session to WatchSignals and not back", () =>
      withClient(async (client) => {
        const sessionId = await begin(client)
        const signals = client.watch("watchSignals", create(WatchSignalsRequestSchema), observer)
        const stream = client.session(lead)
        stream.write(submit(envelope("Proposal", "m2", proposal(), { sessionId })))
        await stream.frames.take(1)
        const progress = encode(ProgressPayloadSchema, { progress: 0.5 })
        stream.write(submit(envelope("Progress", "g1", progress, { sessionId })))
        assert.strictEqual((await signals.frames.next())?.envelope?.messageId, "g1")
        stream.write(submit(envelope("Proposal", "m3", proposal("p3"), { sessionId })))
        assert.deepStrictEqual(ids(await stream.frames.take(1)), ["m3"])
        signals.cancel()
        stream.cancel()
      })
    )
  })

  it.effect("shows cancellation and suspension on WatchSessions only", () =>
    withClient(async (client) => {
      const sessionId = await begin(client)
      const stream = client.session(observer)
      stream.write(subscribe(sessionId, 1n))
      const watch = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
      const nextOf = async (): Promise<number | undefined> => {
        for (;;) {
          const frame = await watch.frames.next()
          if (frame?.event?.session?.sessionId === sessionId) return frame.event.eventType
        }
      }
      assert.strictEqual(await nextOf(), Lifecycle.CREATED)
      await client.unary("suspendSession", create(SuspendSessionRequestSchema, { sessionId, reason: "wait" }), lead)
      await client.unary("cancelSession", create(CancelSessionRequestSchema, { sessionId, reason: "stop" }), lead)
      assert.deepStrictEqual([await nextOf(), await nextOf()], [Lifecycle.SUSPENDED, Lifecycle.CANCELLED])
      stream.halfClose()
      assert.strictEqual((await stream.frames.status).code, status.OK)
      assert.strictEqual(stream.frames.unread, 0)
      watch.cancel()
    })
  )

  it.effect("reports every session to a new watcher, also those that have ended", () =>
    withClient(async (client) => {
      const [open, ended] = [await begin(client), await begin(client)]
      await client.unary(
        "cancelSession",
        create(CancelSessionRequestSchema, { sessionId: ended, reason: "stop" }),
        lead
      )
      const watch = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
      const states = new Map<string, SessionState | undefined>()
      while (!(states.has(open) && states.has(ended))) {
        const event = (await watch.frames.next())?.event
        assert(event !== undefined)
        assert.strictEqual(event.eventType, Lifecycle.CREATED)
        assert.strictEqual(event.observedAtUnixMs, event.session?.startedAtUnixMs)
        states.set(event?.session?.sessionId ?? "", event?.session?.state)
      }
      assert.deepStrictEqual([states.get(open), states.get(ended)], [SessionState.OPEN, SessionState.CANCELLED])
      watch.cancel()
    })
  )
})

layer(Sandbox.layer({ port: 0, compactOnTerminal: true, release: "0.7.6" }), { excludeTestServices: true })(
  "a compacting runtime of older releases",
  (it) => {
    it.effect("refuses a late subscriber inline, and serves the earlier one", () =>
      withClient(async (client) => {
        const sessionId = await begin(client, 1)
        const early = client.session(observer)
        early.write(subscribe(sessionId))
        await early.frames.take(2)
        await send(client, envelope("Commitment", "c", commitmentPayload(), { sessionId }), lead)
        assert.deepStrictEqual(ids(await early.frames.take(1)), ["c"])
        const late = client.session(observer)
        late.write(subscribe(sessionId))
        const frame = await late.frames.next()
        assert(frame?.response.case === "error")
        assert.isTrue(frame.response.value.code.startsWith("session history before ordinal 3 was compacted"))
        early.cancel()
        late.cancel()
      })
    )
  }
)

layer(Sandbox.layer({ port: 0, compactOnTerminal: true, annotateStream: true }), { excludeTestServices: true })(
  "a runtime that annotates its sessions",
  (it) => {
    it.effect("writes annotations into the session and ends a compacted resume", () =>
      withClient(async (client) => {
        const sessionId = await begin(client)
        const stream = client.session(observer)
        stream.write(subscribe(sessionId, 1n))
        await client.unary("suspendSession", create(SuspendSessionRequestSchema, { sessionId, reason: "wait" }), lead)
        await client.unary("cancelSession", create(CancelSessionRequestSchema, { sessionId, reason: "stop" }), lead)
        const frames = await stream.frames.take(2)
        assert.deepStrictEqual(
          frames.map(({ response }) => (response.case === "envelope" ? response.value.messageType : "")),
          ["SessionSuspend", "SessionCancel"]
        )
        const late = client.session(observer)
        late.write(subscribe(sessionId))
        const ending = await late.frames.status
        assert.strictEqual(ending.code, status.FAILED_PRECONDITION)
        assert.include(ending.details, "session history before ordinal")
        assert.deepStrictEqual(ending.metadata.get("macp-error-code"), ["HISTORY_UNAVAILABLE"])
        stream.cancel()
      })
    )
  }
)

layer(Sandbox.layer({ port: 0, sessionBuffer: 4, signalBuffer: 4 }), { excludeTestServices: true })(
  "a slow receiver",
  (it) => {
    it.effect("ends with RESOURCE_EXHAUSTED and can resume from the last ordinal", () =>
      withClient(async (client, slow) => {
        const sessionId = await begin(client)
        const stream = slow.session(observer)
        stream.write(subscribe(sessionId))
        await stream.frames.take(1)
        stream.pause()
        // Far more than the reader and the windows of HTTP/2 hold, so that the server has to wait for the reader.
        const padding = "x".repeat(100_000)
        for (let index = 0; index < 60; index += 1) {
          await send(client, envelope("Proposal", `b${index}`, proposal(`b${index}`, padding), { sessionId }), lead)
        }
        stream.resume()
        const ending = await stream.frames.status
        assert.strictEqual(ending.code, status.RESOURCE_EXHAUSTED)
        const seen = 1 + stream.frames.unread
        const resumed = client.session(observer)
        resumed.write(subscribe(sessionId, BigInt(seen)))
        assert.strictEqual((await resumed.frames.take(61 - seen)).length, 61 - seen)
        resumed.cancel()
      })
    )
  }
)
