import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { type handleUnaryCall, Metadata, status } from "@grpc/grpc-js"
import {
  CancelSessionResponseSchema,
  type GetSessionRequest,
  type GetSessionResponse,
  GetSessionResponseSchema,
  type InitializeRequest,
  type InitializeResponse,
  InitializeResponseSchema,
  type ListSessionsRequest,
  type ListSessionsResponse,
  ListSessionsResponseSchema,
  OutgoingTraceState,
  RuntimeCallMeter,
  RuntimeClient,
  RuntimeCredentials,
  SessionState
} from "@runplane/runtime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { fails, withClient } from "./GrpcClients.ts"
import { serveGrpcJs } from "./GrpcJsServer.ts"

describe("the gRPC client against a foreign server", () => {
  it.live("sends credential and trace context in the metadata of the call, and returns the answer", () => {
    const seen: Array<Metadata> = []
    const metered: Array<[string, boolean]> = []
    const initialize: handleUnaryCall<InitializeRequest, InitializeResponse> = (call, answer) => {
      seen.push(call.metadata)
      assert.deepStrictEqual(call.request.supportedProtocolVersions, ["1.0"])
      answer(
        null,
        create(InitializeResponseSchema, {
          selectedProtocolVersion: "1.0",
          runtimeInfo: { name: "macp-runtime", version: "0.6.1" },
          supportedModes: ["macp.mode.decision.v1"],
          capabilities: { sessions: { stream: true }, experimental: { features: { ext_mode_lifecycle: "true" } } }
        })
      )
    }
    return withClient({ initialize }, (client) =>
      Effect.gen(function* () {
        const identity = yield* client.initialize
        const span = yield* Effect.currentSpan
        assert.strictEqual(identity.version, "0.6.1")
        assert.isTrue(identity.capabilities.sessions.stream)
        assert.isFalse(identity.capabilities.sessions.watchSessions)
        assert.deepStrictEqual(identity.capabilities.experimental, { ext_mode_lifecycle: "true" })
        assert.deepStrictEqual(seen[0]?.get("authorization"), ["Bearer s3cret"])
        assert.deepStrictEqual(seen[0]?.get("tracestate"), ["vendor=1"])
        assert.match(String(seen[0]?.get("traceparent")[0]), new RegExp(`^00-${span.traceId}-[0-9a-f]{16}-01$`))
        assert.deepStrictEqual(metered, [["Initialize", true]])
      }).pipe(
        Effect.withSpan("test"),
        Effect.provideService(OutgoingTraceState, "vendor=1"),
        Effect.provideService(RuntimeCallMeter, (method, seconds, ok) => {
          assert.isAtLeast(seconds, 0)
          metered.push([method, ok])
        })
      )
    )
  })

  it.live("names the trace of the caller when tracing is off, and one of its own when there is none", () => {
    const seen: Array<string> = []
    const getSession: handleUnaryCall<unknown, unknown> = (call, answer) => {
      seen.push(String(call.metadata.get("traceparent")[0]))
      answer({ code: status.NOT_FOUND, details: "no" })
    }
    const traceId = "9f2d0c7be1a94d0f8f6d1d2a3b4c5d6e"
    return withClient({ getSession }, (client) =>
      Effect.gen(function* () {
        const ask = Effect.ignore(client.getSession("s1"))
        yield* Effect.withParentSpan(ask, Tracer.externalSpan({ traceId, spanId: "00f067aa0ba902b7", sampled: false }))
        yield* ask
        assert.strictEqual(seen[0], `00-${traceId}-00f067aa0ba902b7-00`)
        assert.match(String(seen[1]), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
      }).pipe(Effect.withTracerEnabled(false))
    )
  })

  it.live("turns a status into a typed error with the runtime's text and the reasons of a policy denial", () => {
    const cancelSession: handleUnaryCall<unknown, unknown> = (_, answer) => {
      const metadata = new Metadata()
      metadata.set("macp-error-details-bin", Buffer.from(JSON.stringify({ reasons: ["no votes cast", "veto"] })))
      answer({ code: status.FAILED_PRECONDITION, details: "PolicyDenied: no votes cast; veto", metadata })
    }
    const getSession: handleUnaryCall<unknown, unknown> = (_, answer) =>
      answer({ code: status.NOT_FOUND, details: "session s1 not found" })
    return withClient({ cancelSession, getSession }, (client) =>
      Effect.gen(function* () {
        const denied = yield* fails(client.cancelSession({ sessionId: "s1", reason: "enough" }))
        assert.strictEqual(denied.reason, "FAILED_PRECONDITION")
        assert.strictEqual(denied.grpcCode, 9)
        assert.strictEqual(denied.message, "PolicyDenied: no votes cast; veto")
        assert.strictEqual(denied.method, "CancelSession")
        assert.deepStrictEqual(denied.denialReasons, ["no votes cast", "veto"])
        const missing = yield* fails(client.getSession("s1"))
        assert.strictEqual(missing.reason, "NOT_FOUND")
        assert.isUndefined(missing.denialReasons)
        const unimplemented = yield* fails(client.listModes)
        assert.strictEqual(unimplemented.reason, "UNIMPLEMENTED")
      })
    )
  })

  it.live("records a session that is not there as an answer, and an outage as an error", () => {
    const getSession: handleUnaryCall<GetSessionRequest, unknown> = ({ request }, answer) =>
      answer({ code: request.sessionId === "s1" ? status.NOT_FOUND : status.UNAVAILABLE, details: "no" })
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    return withClient({ getSession }, (client) =>
      Effect.gen(function* () {
        assert.strictEqual((yield* fails(client.getSession("s1"))).reason, "NOT_FOUND")
        assert.strictEqual((yield* fails(client.getSession("s2"))).reason, "UNAVAILABLE")
        const ends = spans
          .filter(({ name }) => name === "RuntimeClient.GetSession")
          .map(({ attributes, status: end }) => [
            attributes.get("rpc.grpc.status_code"),
            end._tag === "Ended" && Exit.isSuccess(end.exit)
          ])
        assert.deepStrictEqual(ends, [
          [5, true],
          [undefined, false]
        ])
      }).pipe(Effect.provideService(Tracer.Tracer, tracer))
    )
  })

  it.live("gives the ack of a session control call, refusals included", () => {
    const cancelSession: handleUnaryCall<{ sessionId: string; reason: string }, unknown> = ({ request }, answer) => {
      assert.strictEqual(request.reason, "enough")
      answer(
        null,
        create(CancelSessionResponseSchema, {
          ack: {
            ok: false,
            sessionId: request.sessionId,
            acceptedAtUnixMs: 5n,
            error: { code: "SESSION_NOT_OPEN", message: "SessionNotOpen" }
          }
        })
      )
    }
    return withClient({ cancelSession }, (client) =>
      Effect.gen(function* () {
        const ack = yield* client.cancelSession({ sessionId: "s1", reason: "enough" })
        assert.isFalse(ack.ok)
        assert.strictEqual(ack.sessionState, "UNSPECIFIED")
        assert.strictEqual(ack.acceptedAtUnixMs, 5)
        assert.strictEqual(ack.error?.code, "SESSION_NOT_OPEN")
      })
    )
  })

  it.live("fails a call without an answer at its deadline, and cancels it on the server", () =>
    Effect.gen(function* () {
      const cancelled = yield* Deferred.make<void>()
      const getSession: handleUnaryCall<unknown, unknown> = (call) => {
        call.on("cancelled", () => Deferred.doneUnsafe(cancelled, Effect.void))
      }
      yield* withClient(
        { getSession },
        (client) =>
          Effect.gen(function* () {
            assert.strictEqual((yield* fails(client.getSession("s1"))).reason, "DEADLINE_EXCEEDED")
            yield* Deferred.await(cancelled)
          }),
        { requestTimeoutMs: 100 }
      )
    })
  )

  it.live("cancels the call on the server when its fiber is interrupted", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const cancelled = yield* Deferred.make<void>()
      const getSession: handleUnaryCall<unknown, unknown> = (call) => {
        call.on("cancelled", () => Deferred.doneUnsafe(cancelled, Effect.void))
        Deferred.doneUnsafe(arrived, Effect.void)
      }
      yield* withClient({ getSession }, (client) =>
        Effect.gen(function* () {
          const call = yield* Effect.forkChild(client.getSession("s1"))
          yield* Deferred.await(arrived)
          yield* Fiber.interrupt(call)
          yield* Deferred.await(cancelled)
        })
      )
    })
  )

  it.live("makes a call once more when its credential was refused and has a successor", () =>
    Effect.gen(function* () {
      const used: Array<string> = []
      const getSession: handleUnaryCall<GetSessionRequest, GetSessionResponse> = ({ metadata }, answer) => {
        const token = String(metadata.get("authorization")[0])
        used.push(token)
        if (token === "Bearer last") answer(null, create(GetSessionResponseSchema, { metadata: { sessionId: "s1" } }))
        else answer({ code: status.UNAUTHENTICATED, details: "ended" })
      }
      const address = yield* serveGrpcJs({ getSession })
      const look = Effect.fnUntraced(function* (tokens: Array<string>) {
        const credentials = Layer.succeed(RuntimeCredentials, {
          headers: Effect.sync(() => [["authorization", Redacted.make(`Bearer ${tokens[0]}`)] as const]),
          refused: Effect.sync(() => tokens.splice(0, 1).length > 0 && tokens.length > 0)
        })
        const client = RuntimeClient.layerGrpc({ address }).pipe(Layer.provide(credentials))
        const found = yield* Effect.result(
          Effect.provide(
            Effect.flatMap(RuntimeClient, ({ getSession }) => getSession("s1")),
            client
          )
        )
        return Result.isSuccess(found) ? found.success.sessionId : found.failure.reason
      })
      assert.strictEqual(yield* look(["first", "last"]), "s1")
      assert.strictEqual(yield* look(["first", "second", "last"]), "UNAUTHENTICATED")
      assert.strictEqual(yield* look(["only"]), "UNAUTHENTICATED")
      assert.deepStrictEqual(
        used.map((token) => token.slice("Bearer ".length)),
        ["first", "last", "first", "second", "only"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("fails with UNAVAILABLE when the port is closed", () =>
    Effect.gen(function* () {
      const client = yield* RuntimeClient
      const failures = yield* Effect.all([fails(client.listRoots), fails(Stream.runDrain(client.watchSignals))])
      assert.deepStrictEqual(
        failures.map(({ reason }) => reason),
        ["UNAVAILABLE", "UNAVAILABLE"]
      )
    }).pipe(
      Effect.provide(
        RuntimeClient.layerGrpc({ address: "127.0.0.1:1" }).pipe(Layer.provide(RuntimeCredentials.layerNone))
      )
    )
  )

  it.live("refuses messages beyond the limits in both directions", () => {
    const getSession: handleUnaryCall<GetSessionRequest, GetSessionResponse> = (_, answer) =>
      answer(null, create(GetSessionResponseSchema, { metadata: { sessionId: "x".repeat(5000) } }))
    return withClient(
      { getSession },
      (client) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* fails(client.getSession("s1"))).reason, "RESOURCE_EXHAUSTED")
          assert.strictEqual((yield* fails(client.getSession("y".repeat(5000)))).reason, "RESOURCE_EXHAUSTED")
        }),
      { maxReceiveBytes: 1000, maxSendBytes: 1000 }
    )
  })

  it.live("lists the sessions of all pages", () => {
    const listSessions: handleUnaryCall<ListSessionsRequest, ListSessionsResponse> = ({ request }, answer) => {
      const page = Number(request.pageToken || "0")
      answer(
        null,
        create(ListSessionsResponseSchema, {
          sessions: [{ sessionId: `s${page}`, state: SessionState.OPEN, startedAtUnixMs: 7n }],
          nextPageToken: page < 2 ? String(page + 1) : ""
        })
      )
    }
    return withClient({ listSessions }, (client) =>
      Effect.gen(function* () {
        const { complete, sessions } = yield* client.listSessions
        assert.isTrue(complete)
        assert.deepStrictEqual(
          sessions.map(({ sessionId }) => sessionId),
          ["s0", "s1", "s2"]
        )
        assert.strictEqual(sessions[0]?.startedAtUnixMs, 7)
      })
    )
  })

  it.live("does not send plain text when TLS is configured", () =>
    Effect.gen(function* () {
      const address = yield* serveGrpcJs({})
      const error = yield* Effect.flatMap(RuntimeClient, (client) => fails(client.listModes)).pipe(
        Effect.provide(
          RuntimeClient.layerGrpc({ address, tls: true }).pipe(Layer.provide(RuntimeCredentials.layerNone))
        )
      )
      assert.notStrictEqual(error.reason, "UNIMPLEMENTED")
      assert.isTrue(error.retryable, error.reason)
    })
  )
})
