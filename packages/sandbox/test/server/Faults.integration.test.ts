import { create, toBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { status } from "@grpc/grpc-js"
import {
  SessionLifecycleEvent_EventType as Lifecycle,
  StreamSessionResponseSchema,
  WatchSessionsRequestSchema,
  WatchSignalsRequestSchema
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { SandboxFaults } from "../../src/faults/SandboxFaults.ts"
import { Sandbox } from "../../src/Sandbox.ts"
import { connect, lead, observer, send, subscribe, verdictOf } from "../support/Calls.ts"
import { commitmentPayload, envelope, proposal, SESSION, startPayload } from "../support/Envelopes.ts"
import type { ForeignClient } from "../support/ForeignClient.ts"

const start = (client: ForeignClient) => send(client, envelope("SessionStart", "m1", startPayload()), lead)
const propose = (client: ForeignClient, n: number) =>
  send(client, envelope("Proposal", `m${n}`, proposal(`p${n}`)), lead)
const commit = (client: ForeignClient) => verdictOf(client, envelope("Commitment", "c1", commitmentPayload()), lead)

/** A sandbox, its faults, a client, and a session with one proposal. */
const scene = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const faults = yield* SandboxFaults
  const client = yield* connect(sandbox.address)
  yield* Effect.promise(() => start(client))
  yield* Effect.promise(() => propose(client, 2))
  return { sandbox, faults, client }
})

const ids = async (client: ForeignClient, count: number, after = 0n) => {
  const stream = client.session(observer)
  stream.write(subscribe(SESSION, after))
  const frames = await stream.frames.take(count)
  stream.cancel()
  return frames.map(({ response }) => (response.case === "envelope" ? response.value.messageId : response.value?.code))
}

const sandbox = Sandbox.layer({ port: 0, observers: [observer] })

describe("a fault", () => {
  it.live("drops and doubles frames for the receiver while the session stays sound", () =>
    Effect.gen(function* () {
      const { client, faults, sandbox } = yield* scene
      yield* faults.inject({ kind: "drop", messageType: "SessionStart", times: 1 })
      yield* faults.inject({ kind: "duplicate", messageType: "Proposal", times: 1 })
      assert.deepStrictEqual(yield* Effect.promise(() => ids(client, 2)), ["m2", "m2"])
      assert.deepStrictEqual(yield* faults.active, [])
      assert.deepStrictEqual(yield* Effect.promise(() => ids(client, 2)), ["m1", "m2"])
      assert.lengthOf(yield* sandbox.acceptedHistory(SESSION), 2)
    }).pipe(Effect.provide(sandbox))
  )

  it.live("cuts a stream after some frames, and the resumed one continues after them", () =>
    Effect.gen(function* () {
      const { client, faults } = yield* scene
      yield* faults.inject({ kind: "cut", afterFrames: 1, times: 1 })
      yield* Effect.promise(async () => {
        const stream = client.session(observer)
        stream.write(subscribe(SESSION))
        assert.lengthOf(await stream.frames.take(2), 1)
        assert.strictEqual((await stream.frames.status).code, status.UNAVAILABLE)
        assert.deepStrictEqual(await ids(client, 1, 1n), ["m2"])
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("cuts a stream that is only waiting", () =>
    Effect.gen(function* () {
      const { client, faults } = yield* scene
      const stream = client.session(observer)
      const watch = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
      const signals = client.watch("watchSignals", create(WatchSignalsRequestSchema), observer)
      stream.write(subscribe(SESSION))
      yield* Effect.promise(() => stream.frames.take(2))
      yield* Effect.promise(() => watch.frames.take(1))
      yield* faults.inject({ kind: "cut", afterFrames: 0, status: "aborted" })
      yield* faults.inject({ kind: "cut", stream: "lifecycle", afterFrames: 0, status: "internal" })
      yield* faults.inject({ kind: "cut", stream: "signals", afterFrames: 0 })
      const ends = [stream.frames.status, watch.frames.status, signals.frames.status]
      const codes = yield* Effect.promise(() => Promise.all(ends))
      assert.deepStrictEqual(
        codes.map(({ code }) => code),
        [status.ABORTED, status.INTERNAL, status.UNAVAILABLE]
      )
    }).pipe(Effect.provide(sandbox))
  )

  it.live("refuses subscriptions", () =>
    Effect.gen(function* () {
      const { client, faults } = yield* scene
      yield* faults.inject({ kind: "refuse", status: "resource_exhausted", times: 1 })
      yield* faults.inject({ kind: "refuse", stream: "lifecycle", times: 1 })
      yield* Effect.promise(async () => {
        const stream = client.session(observer)
        stream.write(subscribe(SESSION))
        assert.strictEqual((await stream.frames.status).code, status.RESOURCE_EXHAUSTED)
        const watch = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
        assert.strictEqual((await watch.frames.status).code, status.UNAVAILABLE)
        assert.deepStrictEqual(await ids(client, 2), ["m1", "m2"])
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("reports the end before the Commitment frame arrives", () =>
    Effect.gen(function* () {
      const { client, faults } = yield* scene
      yield* faults.inject({ kind: "resolve-early", delayMs: 60 })
      yield* Effect.promise(async () => {
        const order: Array<string> = []
        const watch = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
        await watch.frames.take(1)
        const stream = client.session(observer)
        stream.write(subscribe(SESSION, 2n))
        const reported = watch.frames.next().then((frame) => {
          order.push(frame?.event?.eventType === Lifecycle.RESOLVED ? "RESOLVED" : "another event")
        })
        const ended = stream.frames.next().then((frame) => {
          order.push(frame?.response.case === "envelope" ? frame.response.value.messageType : "")
        })
        assert.strictEqual(await commit(client), "ok")
        await Promise.all([reported, ended])
        assert.deepStrictEqual(order, ["RESOLVED", "Commitment"])
        stream.cancel()
        watch.cancel()
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("chooses life-cycle events and signals by their type", () =>
    Effect.gen(function* () {
      const { client, faults } = yield* scene
      yield* faults.inject({ kind: "drop", stream: "lifecycle", messageType: "CREATED", times: 1 })
      yield* faults.inject({ kind: "duplicate", stream: "signals", messageType: "Signal", times: 1 })
      yield* Effect.promise(async () => {
        const watch = client.watch("watchSessions", create(WatchSessionsRequestSchema), observer)
        const signals = client.watch("watchSignals", create(WatchSignalsRequestSchema), observer)
        // Both watches are open once their first frames are awaited by another call on the same connection.
        await ids(client, 2)
        const ambient = { mode: "", sessionId: "" }
        await send(client, envelope("Signal", "g1", new Uint8Array(), ambient), lead)
        const received = await signals.frames.take(2)
        assert.deepStrictEqual(
          received.map((frame) => frame.envelope?.messageId),
          ["g1", "g1"]
        )
        await commit(client)
        assert.strictEqual((await watch.frames.next())?.event?.eventType, Lifecycle.RESOLVED)
        watch.cancel()
        signals.cancel()
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("makes a frame larger without touching its contents", () =>
    Effect.gen(function* () {
      const { client, faults } = yield* scene
      yield* faults.inject({ kind: "oversize", bytes: 300_000, messageType: "SessionStart" })
      yield* Effect.promise(async () => {
        const stream = client.session(observer)
        stream.write(subscribe(SESSION))
        const [large, normal] = await stream.frames.take(2)
        assert(large !== undefined && normal !== undefined)
        assert.isAbove(toBinary(StreamSessionResponseSchema, large).length, 300_000)
        assert.isBelow(toBinary(StreamSessionResponseSchema, normal).length, 1_000)
        assert(large.response.case === "envelope")
        assert.strictEqual(large.response.value.messageId, "m1")
        stream.cancel()
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("sends a frame larger than its receiver takes, and the connection serves other calls at once", () =>
    Effect.gen(function* () {
      const { client, faults } = yield* scene
      yield* faults.inject({ kind: "oversize", bytes: 20_000_000, messageType: "SessionStart", times: 3 })
      for (const _ of [1, 2, 3]) {
        const stream = client.session(observer)
        stream.write(subscribe(SESSION))
        const { code, details } = yield* Effect.promise(() => stream.frames.status)
        assert.strictEqual(code, status.RESOURCE_EXHAUSTED)
        assert.match(details, /larger than max/)
      }
      assert.deepStrictEqual(yield* Effect.promise(() => ids(client, 2)), ["m1", "m2"])
    }).pipe(Effect.provide(sandbox))
  )

  it.live("compacts the history of an open session for later subscribers only", () =>
    Effect.gen(function* () {
      const { client, faults } = yield* scene
      const early = client.session(observer)
      early.write(subscribe(SESSION))
      yield* Effect.promise(() => early.frames.take(2))
      yield* faults.compactHistory(SESSION)
      yield* Effect.promise(async () => {
        await propose(client, 3)
        assert.lengthOf(await early.frames.take(1), 1)
        const late = client.session(observer)
        late.write(subscribe(SESSION))
        assert.match((await late.frames.status).details, /^session history before ordinal 2/)
        assert.deepStrictEqual(await ids(client, 1, 2n), ["m3"])
        early.cancel()
      })
    }).pipe(Effect.provide(sandbox))
  )

  it.live("cuts all connections, and new ones are served", () =>
    Effect.gen(function* () {
      const { client, sandbox } = yield* scene
      const stream = client.session(observer)
      stream.write(subscribe(SESSION))
      yield* Effect.promise(() => stream.frames.take(2))
      yield* sandbox.disconnect
      assert.notStrictEqual((yield* Effect.promise(() => stream.frames.status)).code, status.OK)
      const other = yield* connect(sandbox.address)
      assert.deepStrictEqual(yield* Effect.promise(() => ids(other, 2)), ["m1", "m2"])
    }).pipe(Effect.provide(sandbox))
  )
})

describe("a policy denial that escapes as a status", () => {
  const escaping = Sandbox.layer({ port: 0, denialsAsStatus: true, observers: [observer] })

  it.live("carries its reasons in the trailer, on Send and on StreamSession", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      yield* sandbox.registerPolicy({
        policyId: "policy.test.unanimous",
        mode: "*",
        description: "",
        rules: JSON.stringify({ voting: { algorithm: "unanimous" }, commitment: { require_vote_quorum: true } }),
        schemaVersion: 1
      })
      const client = yield* connect(sandbox.address)
      yield* Effect.promise(async () => {
        const bound = startPayload({ policyVersion: "policy.test.unanimous" })
        await send(client, envelope("SessionStart", "m1", bound), lead)
        await propose(client, 2)
        const refused = commitmentPayload({ policyVersion: "" })
        const failure = await send(client, envelope("Commitment", "c1", refused), lead).then(
          () => undefined,
          (error: { code: number; metadata: { get: (key: string) => Array<Buffer> } }) => error
        )
        assert.strictEqual(failure?.code, status.FAILED_PRECONDITION)
        assert.deepStrictEqual(reasonsOf(failure?.metadata.get("macp-error-details-bin")[0]), ["no votes cast"])
        const stream = client.session(lead)
        stream.write({ ...subscribe(""), envelope: envelope("Commitment", "c2", refused) })
        const end = await stream.frames.status
        assert.strictEqual(end.code, status.FAILED_PRECONDITION)
        assert.match(decodeURIComponent(end.details), /^PolicyDenied: /)
        assert.deepStrictEqual(reasonsOf(end.metadata.get("macp-error-details-bin")[0]), ["no votes cast"])
      })
    }).pipe(Effect.provide(escaping))
  )
})

const reasonsOf = (bytes: string | Buffer | undefined): unknown => JSON.parse(String(bytes)).reasons
