import { assert, describe, it } from "@effect/vitest"
import type { SessionStreamFrame } from "@runplane/domain"
import { RuntimeClient, type RuntimeError } from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

const scripted = <A, E>(use: (fake: RuntimeFake["Service"], client: RuntimeClient["Service"]) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    return yield* use(yield* RuntimeFake, yield* RuntimeClient)
  }).pipe(Effect.provide(RuntimeFake.layer))

const label = (frame: SessionStreamFrame) =>
  frame._tag === "Envelope" ? frame.envelope.messageId : `error ${frame.error.code}`

/** What a stream delivers until it ends, and how it ends. */
const record = (stream: Stream.Stream<SessionStreamFrame, RuntimeError>) => {
  const seen: Array<string> = []
  return stream.pipe(
    Stream.runForEach((frame) => Effect.sync(() => void seen.push(label(frame)))),
    Effect.match({ onSuccess: () => "end", onFailure: ({ reason }) => reason }),
    Effect.map((end) => [...seen, end])
  )
}

describe("RuntimeFake", () => {
  it.effect("replays the accepted history after the ordinal and continues live", () =>
    scripted((fake, client) =>
      Effect.gen(function* () {
        yield* fake.openSession({ sessionId: "s1" })
        for (let i = 0; i < 3; i++) yield* fake.accept("s1", {})
        const reader = yield* Effect.forkChild(record(client.streamSession({ sessionId: "s1", afterSequence: 1 })))
        yield* fake.awaitOpenStreams("StreamSession", 1, "s1")
        assert.strictEqual(yield* fake.accept("s1", { messageType: "Vote" }), 4)
        yield* fake.deliverInlineError("s1", "Forbidden")
        yield* fake.cut("StreamSession", { reason: "ABORTED" })
        assert.deepStrictEqual(yield* Fiber.join(reader), ["m2", "m3", "m4", "error Forbidden", "ABORTED"])
        assert.strictEqual(yield* fake.openStreams("StreamSession"), 0)
      })
    )
  )

  it.effect("answers with the compaction error where the history was compacted", () =>
    scripted((fake, client) =>
      Effect.gen(function* () {
        yield* fake.openSession({ sessionId: "s1" })
        yield* fake.accept("s1", {})
        yield* fake.accept("s1", {})
        yield* fake.compact("s1")
        const reader = yield* Effect.forkChild(record(client.streamSession({ sessionId: "s1", afterSequence: 0 })))
        yield* fake.awaitOpenStreams("StreamSession", 1)
        assert.strictEqual(yield* fake.accept("s1", {}), 3)
        yield* fake.cut("StreamSession")
        assert.deepStrictEqual(yield* Fiber.join(reader), [
          "error session history before ordinal 2 was compacted",
          "m3",
          "end"
        ])
      })
    )
  )

  it.effect("cuts a stream after the scripted number of frames, then works again", () =>
    scripted((fake, client) =>
      Effect.gen(function* () {
        yield* fake.openSession({ sessionId: "s1" })
        for (let i = 0; i < 3; i++) yield* fake.accept("s1", {})
        yield* fake.cutAfter({ method: "StreamSession", sessionId: "s1" }, 2, "UNAVAILABLE")
        const all = client.streamSession({ sessionId: "s1", afterSequence: 0 })
        assert.deepStrictEqual(yield* record(all), ["m1", "m2", "UNAVAILABLE"])
        assert.deepStrictEqual((yield* Stream.runCollect(Stream.take(all, 3))).map(label), ["m1", "m2", "m3"])
      })
    )
  )

  it.effect("reports existing sessions and their changes to the watchers", () =>
    scripted((fake, client) =>
      Effect.gen(function* () {
        yield* fake.openSession({ sessionId: "s1" })
        const reader = yield* Effect.forkChild(Stream.runCollect(Stream.take(client.watchSessions, 6)))
        yield* fake.awaitOpenStreams("WatchSessions", 1)
        yield* TestClock.adjust("2 seconds")
        yield* fake.openSession({ sessionId: "s2" })
        const ack = yield* client.suspendSession({ sessionId: "s1", reason: "wait" })
        assert.deepStrictEqual([ack.ok, ack.sessionState], [true, "SUSPENDED"])
        assert.isFalse((yield* client.suspendSession({ sessionId: "s1", reason: "" })).ok)
        yield* client.resumeSession({ sessionId: "s1", reason: "go" })
        yield* client.cancelSession({ sessionId: "s2", reason: "" })
        yield* fake.transition("s1", "RESOLVED")
        assert.deepStrictEqual(
          (yield* Fiber.join(reader)).map((event) => [event.type, event.session?.sessionId, event.observedAtUnixMs]),
          [
            ["CREATED", "s1", 0],
            ["CREATED", "s2", 2000],
            ["SUSPENDED", "s1", 2000],
            ["RESUMED", "s1", 2000],
            ["CANCELLED", "s2", 2000],
            ["RESOLVED", "s1", 2000]
          ]
        )
        assert.strictEqual((yield* client.getSession("s1")).state, "RESOLVED")
        yield* fake.evict("s1")
        assert.strictEqual((yield* Effect.flip(client.getSession("s1"))).reason, "NOT_FOUND")
      })
    )
  )

  it.effect("delivers signals live only", () =>
    scripted((fake, client) =>
      Effect.gen(function* () {
        yield* fake.signal({ messageId: "missed" })
        const reader = yield* Effect.forkChild(Stream.runCollect(Stream.take(client.watchSignals, 1)))
        yield* fake.awaitOpenStreams("WatchSignals", 1)
        yield* fake.signal({ messageId: "received", sender: "agent://risk" })
        assert.deepStrictEqual(
          (yield* Fiber.join(reader)).map(({ messageId, sender }) => [messageId, sender]),
          [["received", "agent://risk"]]
        )
      })
    )
  )

  it.effect("fails, hangs and delays exactly the chosen calls", () =>
    scripted((fake, client) =>
      Effect.gen(function* () {
        yield* fake.fail({ method: "ListRoots", times: 2 }, "INTERNAL", "disk full")
        yield* fake.hang({ method: "StreamSession", sessionId: "s1" })
        assert.strictEqual((yield* Effect.flip(client.listRoots)).message, "disk full")
        assert.strictEqual((yield* Effect.flip(client.listRoots)).reason, "INTERNAL")
        assert.deepStrictEqual(yield* client.listRoots, [])
        const hanging = yield* Effect.forkChild(record(client.streamSession({ sessionId: "s1", afterSequence: 0 })))
        yield* fake.awaitCalls("StreamSession", 1)
        assert.deepStrictEqual(yield* record(client.streamSession({ sessionId: "s2", afterSequence: 0 })), [
          "NOT_FOUND"
        ])
        yield* Fiber.interrupt(hanging)
      })
    )
  )

  it.effect("stops and restarts like a process", () =>
    scripted((fake, client) =>
      Effect.gen(function* () {
        yield* fake.openSession({ sessionId: "s1" })
        const stream = client.streamSession({ sessionId: "s1", afterSequence: 0 })
        const reader = yield* Effect.forkChild(record(stream))
        yield* fake.awaitOpenStreams("StreamSession", 1)
        yield* fake.setAvailable(false)
        assert.deepStrictEqual(yield* Fiber.join(reader), ["ABORTED"])
        assert.deepStrictEqual(yield* record(stream), ["UNAVAILABLE"])
        yield* fake.setAvailable(true)
        assert.strictEqual((yield* client.getSession("s1")).state, "OPEN")
      })
    )
  )

  it.effect("keeps policies", () =>
    scripted((_, client) =>
      Effect.gen(function* () {
        const policy = { policyId: "policy.a", mode: "*", description: "", rules: "{}", schemaVersion: 1 }
        assert.isTrue((yield* client.registerPolicy(policy)).ok)
        assert.isFalse((yield* client.registerPolicy(policy)).ok)
        assert.deepStrictEqual(yield* client.getPolicy("policy.a"), policy)
        assert.strictEqual((yield* client.listPolicies("macp.mode.task.v1")).length, 1)
        assert.isTrue((yield* client.unregisterPolicy("policy.a")).ok)
        assert.strictEqual((yield* Effect.flip(client.getPolicy("policy.a"))).reason, "NOT_FOUND")
      })
    )
  )
})
