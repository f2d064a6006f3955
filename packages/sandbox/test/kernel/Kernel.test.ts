import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import {
  HandoffMode,
  SessionLifecycleEvent_EventType as Lifecycle,
  PolicyDescriptorSchema,
  SessionState,
  SignalPayloadSchema
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"
import type { Identity } from "../../src/auth/Identity.ts"
import { Kernel } from "../../src/kernel/Kernel.ts"
import { ModeRegistry } from "../../src/kernel/ModeRegistry.ts"
import { PolicyRegistry } from "../../src/kernel/PolicyRegistry.ts"
import { DEFAULT_OPTIONS, type SandboxOptions } from "../../src/SandboxOptions.ts"
import { encode, envelope, proposal, SESSION, startPayload } from "../support/Envelopes.ts"

const identity = (sender: string, rest: Partial<Identity> = {}): Identity => ({
  sender,
  allowedModes: undefined,
  canStartSessions: true,
  maxOpenSessions: undefined,
  canManageModeRegistry: false,
  isObserver: false,
  ...rest
})

const lead = identity("agent://lead")
const risk = identity("agent://risk")

const kernelWith = (options: Partial<SandboxOptions> = {}) =>
  Kernel.layer({ ...DEFAULT_OPTIONS, ...options }).pipe(
    Layer.provideMerge(Layer.fresh(PolicyRegistry.layer(DEFAULT_OPTIONS.release))),
    Layer.provide(ModeRegistry.layer)
  )

/** Admits and accepts, like a Send whose shape is fine: `ok`, `duplicate` or the code of the refusal. */
const verdict = Effect.fnUntraced(function* (sent: ReturnType<typeof envelope>, who: Identity) {
  const kernel = yield* Kernel
  const result = yield* Effect.result(Effect.andThen(kernel.admit(sent, who), kernel.accept(sent, who)))
  return Result.match(result, {
    onSuccess: ({ duplicate }) => (duplicate ? "duplicate" : "ok"),
    onFailure: ({ code }) => code
  })
})

const start = (messageId = "m1", rest: { sessionId?: string; payload?: Parameters<typeof startPayload>[0] } = {}) =>
  envelope("SessionStart", messageId, startPayload(rest.payload), { sessionId: rest.sessionId ?? SESSION })

const ambient = { mode: "", sessionId: "" }
const signal = (signalType: string) => envelope("Signal", "s1", encode(SignalPayloadSchema, { signalType }), ambient)

describe("the kernel", () => {
  it.effect("answers a repeated start as a duplicate and another start as an existing session", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* verdict(start(), lead), "ok")
      assert.strictEqual(yield* verdict(start(), lead), "duplicate")
      assert.strictEqual(yield* verdict(start("m2"), lead), "SESSION_ALREADY_EXISTS")
    }).pipe(Effect.provide(kernelWith()))
  )

  it.effect("refuses callers without permission", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* verdict(start(), identity("a", { canStartSessions: false })), "FORBIDDEN")
      assert.strictEqual(yield* verdict(start(), identity("a", { allowedModes: new Set([""]) })), "FORBIDDEN")
      const foreign = envelope("Proposal", "m2", proposal(), { sender: "another sender" })
      assert.strictEqual(yield* verdict(foreign, lead), "UNAUTHENTICATED")
      const modesOnly = identity("a", { allowedModes: new Set(["macp.mode.decision.v1"]) })
      assert.strictEqual(yield* verdict(signal("x"), modesOnly), "FORBIDDEN")
      assert.strictEqual(yield* verdict(envelope("Proposal", "m2", proposal()), lead), "SESSION_NOT_FOUND")
    }).pipe(Effect.provide(kernelWith()))
  )

  it.effect("takes a Signal that names its type, and an empty one", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* verdict(signal("llm.call.completed"), risk), "ok")
      assert.strictEqual(yield* verdict(signal(" "), risk), "INVALID_ENVELOPE")
      assert.strictEqual(yield* verdict(envelope("Signal", "s", new Uint8Array(), ambient), risk), "ok")
      assert.strictEqual(
        yield* verdict(envelope("Signal", "s", new Uint8Array([255]), ambient), risk),
        "INVALID_ENVELOPE"
      )
    }).pipe(Effect.provide(kernelWith()))
  )

  it.effect("binds a registered policy, and knows which it may not bind", () =>
    Effect.gen(function* () {
      const policies = yield* PolicyRegistry
      const descriptor = (policyId: string, mode: string, rules = "{}", schemaVersion = 1) =>
        create(PolicyDescriptorSchema, { policyId, mode, rules, schemaVersion })
      yield* policies.register(descriptor("policy.a.b", "*"))
      yield* policies.register(descriptor("policy.a.task", "macp.mode.task.v1"))
      const startWith = (policyVersion: string) => start("m1", { payload: { policyVersion } })
      assert.strictEqual(yield* verdict(startWith("policy.none"), lead), "UNKNOWN_POLICY_VERSION")
      assert.strictEqual(yield* verdict(startWith("policy.a.task"), lead), "INVALID_POLICY_DEFINITION")
      assert.strictEqual(yield* verdict(startWith("policy.a.b"), lead), "ok")
      // A live session keeps what it bound.
      yield* policies.unregister("policy.a.b")
      const kernel = yield* Kernel
      assert.strictEqual(kernel.find(SESSION)?.binding.policy.policyId, "policy.a.b")

      const refusals = [
        [descriptor("policy.a.task", "*"), "already"],
        [descriptor("policy.default", "*"), "reserved"],
        [descriptor("policy.std.mine", "*"), "reserved"],
        [descriptor("", "*"), "policy_id"],
        [descriptor("policy.c", "nonsense"), "unknown mode"],
        [descriptor("policy.c", "*", "[]"), "INVALID_POLICY_DEFINITION"],
        [descriptor("policy.c", "*", "{}", 0), "schema_version"]
      ] as const
      for (const [offered, text] of refusals) {
        const { message } = yield* Effect.flip(policies.register(offered))
        assert.include(message, text)
      }
      assert.include((yield* Effect.flip(policies.unregister("policy.default"))).message, "reserved")
      assert.include((yield* Effect.flip(policies.unregister("policy.c"))).message, "not registered")
      assert.deepStrictEqual(
        policies.list("macp.mode.quorum.v1").map(({ policyId }) => policyId),
        ["policy.default"]
      )
    }).pipe(Effect.provide(kernelWith()))
  )

  it.effect("expires a session by itself, notifies the watchers, and forgets it after its retention", () =>
    Effect.gen(function* () {
      const kernel = yield* Kernel
      const abort = new AbortController()
      const events = kernel.lifecycle.subscribe(abort.signal)
      yield* verdict(start(), lead)
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(kernel.find(SESSION)?.state, SessionState.OPEN)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(kernel.find(SESSION)?.state, SessionState.EXPIRED)
      const types = yield* Effect.promise(async () => [
        (await events.next()).value?.type,
        (await events.next()).value?.type
      ])
      assert.deepStrictEqual(types, [Lifecycle.CREATED, Lifecycle.EXPIRED])
      abort.abort()
      yield* TestClock.adjust("1 hour")
      assert.isUndefined(kernel.find(SESSION))
    }).pipe(Effect.provide(kernelWith()))
  )

  it.effect("detects a passed deadline when the session is read", () =>
    Effect.gen(function* () {
      const kernel = yield* Kernel
      yield* verdict(start(), lead)
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual((yield* kernel.describe(SESSION, lead)).state, SessionState.EXPIRED)
    }).pipe(Effect.provide(kernelWith({ sweepIntervalMs: 3_600_000 })))
  )

  it.effect("expires a suspension over its cap by itself", () =>
    Effect.gen(function* () {
      const kernel = yield* Kernel
      yield* verdict(start("m1", { payload: { maxSuspendMs: 10_000n } }), lead)
      const events = kernel.lifecycle.subscribe(new AbortController().signal)
      yield* kernel.control("suspend", SESSION, "pause", lead)
      yield* TestClock.adjust(9_000)
      assert.isFalse(kernel.find(SESSION)?.isTerminal)
      yield* TestClock.adjust(2_000)
      assert.strictEqual(kernel.find(SESSION)?.state, SessionState.EXPIRED)
      const received = yield* Effect.promise(async () => [await events.next(), await events.next()])
      assert.deepStrictEqual(
        received.map(({ value }) => value?.type),
        [Lifecycle.SUSPENDED, Lifecycle.EXPIRED]
      )
    }).pipe(Effect.provide(kernelWith()))
  )

  it.effect("writes an implicit acceptance by itself and wakes the subscribers, in newer releases", () =>
    Effect.gen(function* () {
      const kernel = yield* Kernel
      const policies = yield* PolicyRegistry
      const mode = "macp.mode.handoff.v1"
      const rules = JSON.stringify({ acceptance: { implicit_accept_timeout_ms: 5_000 } })
      const policyId = "policy.test.implicit"
      yield* policies.register(create(PolicyDescriptorSchema, { policyId, mode, rules, schemaVersion: 1 }))
      const begin = envelope("SessionStart", "m1", startPayload({ policyVersion: policyId }), { mode })
      assert.strictEqual(yield* verdict(begin, lead), "ok")
      const offer = encode(HandoffMode.HandoffOfferPayloadSchema, { handoffId: "h1", targetParticipant: risk.sender })
      assert.strictEqual(yield* verdict(envelope("HandoffOffer", "m2", offer, { mode }), lead), "ok")
      let woken = 0
      kernel.find(SESSION)?.log.listen(() => {
        woken += 1
      })
      yield* TestClock.adjust(4_000)
      assert.strictEqual(woken, 0)
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual([woken, kernel.find(SESSION)?.log.end], [1, 3])
    }).pipe(Effect.provide(kernelWith()))
  )

  it.effect("limits the OPEN sessions of an identity; suspended ones do not count", () =>
    Effect.gen(function* () {
      const kernel = yield* Kernel
      const limited = identity("agent://lead", { maxOpenSessions: 1 })
      const other = "second-session-of-the-test"
      assert.strictEqual(yield* verdict(start(), limited), "ok")
      assert.strictEqual(yield* verdict(start("n1", { sessionId: other }), limited), "RATE_LIMITED")
      yield* kernel.control("suspend", SESSION, "wait", limited)
      assert.strictEqual(yield* verdict(start("n1", { sessionId: other }), limited), "ok")
    }).pipe(Effect.provide(kernelWith()))
  )

  it.effect("limits messages in a sliding minute when enabled", () =>
    Effect.gen(function* () {
      const send = (index: number) => verdict(signal(`s${index}`), risk)
      assert.deepStrictEqual(yield* Effect.all([send(1), send(2), send(3)]), ["ok", "ok", "RATE_LIMITED"])
      assert.strictEqual(yield* verdict(start(), risk), "ok")
      assert.strictEqual(yield* verdict(start("x", { sessionId: "another-session-of-the-test" }), risk), "RATE_LIMITED")
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* send(4), "ok")
    }).pipe(Effect.provide(kernelWith({ rateLimits: { sessionStartsPerMinute: 1, messagesPerMinute: 2 } })))
  )

  it.effect("ends a watch that is not read and leaves the others alone", () =>
    Effect.gen(function* () {
      const kernel = yield* Kernel
      const { signal: open } = new AbortController()
      const slow = kernel.signals.subscribe(open)
      yield* verdict(signal("s1"), risk)
      const late = kernel.signals.subscribe(open)
      yield* verdict(signal("s2"), risk)
      yield* verdict(signal("s3"), risk)
      const failure = yield* Effect.flip(Effect.tryPromise(() => slow.next()))
      assert.strictEqual(Object(failure.cause).name, "ReceiverLagged")
      assert.isDefined((yield* Effect.promise(() => late.next())).value)
    }).pipe(Effect.provide(kernelWith({ signalBuffer: 2 })))
  )
})
