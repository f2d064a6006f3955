import { create, fromBinary } from "@bufbuild/protobuf"
import { Code, ConnectError } from "@connectrpc/connect"
import { assert, describe, it } from "@effect/vitest"
import { type Envelope, SendResponseSchema, SessionState, SignalPayloadSchema } from "@runplane/runtime"
import { freePorts } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { AgentClient } from "../../src/client/AgentClient.ts"
import { Bootstrap, RenewedCredential } from "../../src/client/Bootstrap.ts"
import { EXAMPLE_AGENTS } from "../../src/examples/Agents.ts"
import { bootstrapFor } from "../support/Bridge.ts"
import { clientOn, type Handlers, launchOn, refusal, runtime } from "../support/Runtimes.ts"

describe("the agent client", () => {
  it.live("sends again after a broken call and a passing refusal, with the same message id", () =>
    Effect.gen(function* () {
      const ids: Array<string | undefined> = []
      const address = yield* runtime({
        send: ({ envelope }) => {
          ids.push(envelope?.messageId)
          if (ids.length === 1) throw new ConnectError("restarting", Code.Unavailable)
          return ids.length === 2 ? refusal("INTERNAL_ERROR") : create(SendResponseSchema, { ack: { ok: true } })
        }
      })
      const ack = yield* Effect.flatMap(AgentClient, (client) => client.progress(0.5, "half")).pipe(
        Effect.provide(clientOn(address))
      )
      assert.isTrue(ack.ok)
      assert.strictEqual(ids.length, 3)
      assert.strictEqual(new Set(ids).size, 1)
    })
  )

  it.live("does not retry a permanent refusal, and fails with its reasons", () =>
    Effect.gen(function* () {
      let calls = 0
      const address = yield* runtime({
        send: () => {
          calls += 1
          return refusal("POLICY_DENIED", ["no votes cast"])
        }
      })
      const failure = yield* Effect.flatMap(AgentClient, (client) => client.signal("x", {})).pipe(
        Effect.flip,
        Effect.provide(clientOn(address))
      )
      assert(failure._tag === "MessageRefused")
      assert.deepStrictEqual([failure.code, failure.reasons, calls], ["POLICY_DENIED", ["no votes cast"], 1])
    })
  )

  it.live("follows a session across a cut from the ordinal after the last one, waiting for it to appear", () =>
    Effect.gen(function* () {
      const asked: Array<bigint> = []
      const envelope = (messageId: string) => ({ response: { case: "envelope" as const, value: { messageId } } })
      const address = yield* runtime({
        async *streamSession(requests) {
          for await (const { afterSequence } of requests) {
            asked.push(afterSequence)
            if (asked.length === 1) throw new ConnectError("not yet", Code.NotFound)
            if (asked.length === 2) {
              yield envelope("m1")
              yield envelope("m2")
              throw new ConnectError("cut", Code.Unavailable)
            }
            yield envelope("m3")
          }
        }
      })
      const read = yield* Effect.flatMap(AgentClient, (client) =>
        Stream.runCollect(Stream.take(client.envelopes, 3))
      ).pipe(Effect.provide(clientOn(address)))
      assert.deepStrictEqual(
        read.map(({ messageId }) => messageId),
        ["m1", "m2", "m3"]
      )
      assert.deepStrictEqual(asked, [0n, 0n, 2n])
    })
  )

  it.live("gives up when the runtime does not let it read", () =>
    Effect.gen(function* () {
      const address = yield* runtime({
        async *streamSession() {
          throw new ConnectError("who are you", Code.Unauthenticated)
        }
      })
      const failure = yield* Effect.flatMap(AgentClient, (client) => Stream.runDrain(client.envelopes)).pipe(
        Effect.flip,
        Effect.provide(clientOn(address))
      )
      assert.strictEqual(failure.status, "unauthenticated")
    })
  )
})

describe("a credential that has ended", () => {
  it.live("is read again from the bootstrap file, for sends, calls and streams", () =>
    Effect.gen(function* () {
      const used: Array<string> = []
      const bearer = (call: { readonly requestHeader: Headers }) => {
        const token = call.requestHeader.get("authorization") ?? ""
        used.push(token)
        return token.endsWith(" new")
      }
      const address = yield* runtime({
        send: (_request, call) =>
          bearer(call) ? create(SendResponseSchema, { ack: { ok: true } }) : refusal("UNAUTHENTICATED"),
        getSession: (_request, call) => {
          if (!bearer(call)) throw new ConnectError("ended", Code.Unauthenticated)
          return { metadata: { state: SessionState.RESOLVED } }
        },
        async *streamSession(_requests, call) {
          if (!bearer(call)) throw new ConnectError("ended", Code.Unauthenticated)
          yield { response: { case: "envelope" as const, value: { messageId: "m1" } } }
        }
      })
      const after = <A, E>(use: (client: AgentClient["Service"]) => Effect.Effect<A, E>) =>
        Effect.flatMap(AgentClient, use).pipe(
          Effect.provide(clientOn(address)),
          Effect.provideService(RenewedCredential, Effect.succeed("new"))
        )
      assert.isTrue((yield* after((client) => client.progress(0.5, "half"))).ok)
      assert.strictEqual(yield* after((client) => client.ended), SessionState.RESOLVED)
      assert.lengthOf(yield* after((client) => Stream.runCollect(Stream.take(client.envelopes, 1))), 1)
      assert.deepStrictEqual(used, Array.from({ length: 3 }, () => ["Bearer impact-analyst", "Bearer new"]).flat())
    })
  )
})

describe("a message that the runtime refuses", () => {
  it.live("is reported to all participants, because the runtime notifies only the sender", () =>
    Effect.gen(function* () {
      const sent: Array<Envelope> = []
      const address = yield* runtime({
        send: ({ envelope }) => {
          if (envelope === undefined) return refusal("INVALID_ENVELOPE")
          sent.push(envelope)
          return envelope.messageType === "Signal"
            ? create(SendResponseSchema, { ack: { ok: true } })
            : refusal("POLICY_DENIED", ["no votes cast"])
        }
      })
      yield* Effect.flatMap(AgentClient, (client) => client.commit({ action: "decision.selected" })).pipe(
        Effect.flip,
        Effect.provide(clientOn(address))
      )
      assert.deepStrictEqual(
        sent.map(({ messageType }) => messageType),
        ["Commitment", "Signal"]
      )
      const signal = fromBinary(SignalPayloadSchema, sent[1]?.payload ?? new Uint8Array())
      assert.strictEqual(signal.signalType, "message.refused")
      assert.deepInclude(JSON.parse(new TextDecoder().decode(signal.data)), {
        messageType: "Commitment",
        messageId: sent[0]?.messageId,
        code: "POLICY_DENIED",
        reasons: ["no votes cast"]
      })
    })
  )
})

describe("a history that was compacted", () => {
  it.live("is read from where it begins now", () =>
    Effect.gen(function* () {
      const asked: Array<bigint> = []
      const address = yield* runtime({
        async *streamSession(requests) {
          for await (const { afterSequence } of requests) {
            asked.push(afterSequence)
            if (afterSequence < 4n) {
              throw new ConnectError(
                "session history before ordinal 5 was compacted; resubscribe at or after it",
                Code.FailedPrecondition
              )
            }
            yield { response: { case: "envelope" as const, value: { messageId: "m5" } } }
          }
        }
      })
      const [first] = yield* Effect.flatMap(AgentClient, (client) =>
        Stream.runCollect(Stream.take(client.envelopes, 1))
      ).pipe(Effect.provide(clientOn(address)))
      assert.deepStrictEqual([first?.messageId, asked], ["m5", [0n, 4n]])
    })
  )

  it.live("of a session that has ended ends an agent well", () =>
    Effect.gen(function* () {
      const gone = "session history before ordinal 9 was compacted; resubscribe at or after it"
      const address = yield* runtime({
        getSession: () => ({ metadata: { state: SessionState.RESOLVED } }),
        async *streamSession(requests) {
          for await (const { afterSequence } of requests) {
            if (afterSequence < 8n) {
              yield { response: { case: "error" as const, value: { code: gone, message: gone } } }
            } else await new Promise(() => {})
          }
        }
      })
      const agent = EXAMPLE_AGENTS["impact-agent"]
      assert.isDefined(agent)
      const bootstrap = Bootstrap.layerMemory(bootstrapFor("impact-analyst", launchOn(address)))
      yield* (agent ?? Effect.void).pipe(
        Effect.provide(Layer.fresh(AgentClient.layer).pipe(Layer.provideMerge(bootstrap)))
      )
    })
  )
})

describe("a session that is not there", () => {
  const absent: Handlers = {
    async *streamSession() {
      throw new ConnectError("unknown session", Code.NotFound)
    }
  }

  it.live("is awaited for at most PROTO_SESSION_WAIT_MS when its initiator has ended", () =>
    Effect.gen(function* () {
      const address = yield* runtime(absent)
      const failure = yield* Effect.flatMap(AgentClient, (client) => Stream.runDrain(client.envelopes)).pipe(
        Effect.flip,
        Effect.provide(clientOn(address)),
        Effect.provideService(
          ConfigProvider.ConfigProvider,
          ConfigProvider.fromEnv({ env: { PROTO_SESSION_WAIT_MS: "300" } })
        )
      )
      assert.strictEqual(
        failure.message,
        "StreamSession failed with not_found: the session was not opened within 0.3 s; its initiator has ended, or was refused"
      )
    })
  )

  it.live("is cancelled as soon as it opens", () =>
    Effect.gen(function* () {
      let calls = 0
      const address = yield* runtime({
        cancelSession: () => {
          calls += 1
          if (calls < 3) throw new ConnectError("unknown session", Code.NotFound)
          return { ack: { ok: true } }
        }
      })
      const ack = yield* Effect.flatMap(AgentClient, (client) => client.cancelSession("enough")).pipe(
        Effect.provide(clientOn(address))
      )
      assert.isTrue(ack.ok)
      assert.strictEqual(calls, 3)
    })
  )
})

describe("the cancel callback", () => {
  /** A runtime without events, so that an agent waits until it is stopped. */
  const quiet = (cancelled: Array<string>): Handlers => ({
    send: () => ({ ack: { ok: true } }),
    async *streamSession(_requests, { signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
    },
    getSession: () => ({ metadata: { state: SessionState.OPEN } }),
    cancelSession: ({ reason }) => {
      cancelled.push(reason)
      return { ack: { ok: true } }
    }
  })

  /** Posts until the agent listens. */
  const post = (url: string, init: RequestInit) =>
    Effect.tryPromise(() => fetch(url, { method: "POST", ...init })).pipe(Effect.retry(Schedule.spaced("20 millis")))

  for (const [participant, agentRef, cancels] of [
    ["incident-commander", "commander-agent", ["enough"]],
    ["impact-analyst", "impact-agent", []]
  ] as const) {
    it.live(`stops ${agentRef}${cancels.length > 0 ? " after it cancelled its session" : ""}`, () =>
      Effect.gen(function* () {
        const cancelled: Array<string> = []
        const launch = launchOn(yield* runtime(quiet(cancelled)))
        const [port = 0] = yield* freePorts(1)
        const callback = { host: "127.0.0.1", port, path: "/cancel", bearer: "secret" }
        const bootstrap = Bootstrap.layerMemory({ ...bootstrapFor(participant, launch), cancel_callback: callback })
        const agent = EXAMPLE_AGENTS[agentRef] ?? Effect.die(agentRef)
        const answers = Effect.gen(function* () {
          const url = `http://127.0.0.1:${port}`
          const missing = yield* post(`${url}/elsewhere`, {})
          const stranger = yield* post(`${url}/cancel`, {})
          const done = yield* post(`${url}/cancel`, {
            headers: { authorization: "Bearer secret" },
            body: JSON.stringify({ runId: launch.sessionId, reason: "enough" })
          })
          return [missing.status, stranger.status, done.status, yield* Effect.promise(() => done.text())]
        })
        const [statuses] = yield* Effect.all([answers, agent], { concurrency: 2 }).pipe(
          Effect.provide(Layer.fresh(AgentClient.layer).pipe(Layer.provideMerge(bootstrap)))
        )
        assert.deepStrictEqual(statuses, [404, 401, 202, '{"ok":true}'])
        // Its process could not end while the port is open.
        assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}`)))))
        assert.deepStrictEqual(cancelled, [...cancels])
      })
    )
  }
})
