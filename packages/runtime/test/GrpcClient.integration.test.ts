import { create, fromBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerDuplexStream,
  status,
  type UntypedServiceImplementation
} from "@grpc/grpc-js"
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
  type RuntimeError,
  SessionLifecycleEvent_EventType,
  SessionLifecycleEventSchema,
  SessionState,
  type StreamSessionRequest,
  type StreamSessionResponse,
  StreamSessionResponseSchema,
  type WatchSessionsRequest,
  type WatchSessionsResponse,
  WatchSessionsResponseSchema
} from "@runplane/runtime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { serveGrpcJs } from "./GrpcJsServer.ts"

/** An enum value of some later version of the protocol. */
const UNKNOWN_EVENT_TYPE = fromBinary(SessionLifecycleEventSchema, new Uint8Array([0x08, 99])).eventType

interface Options {
  readonly requestTimeoutMs?: number
  readonly maxReceiveBytes?: number
  readonly maxSendBytes?: number
}

/** A client of a grpc-js server with these handlers; runs on the real clock. */
const withClient = <A, E>(
  handlers: UntypedServiceImplementation,
  use: (client: RuntimeClient["Service"]) => Effect.Effect<A, E>,
  options: Options = {}
) =>
  Effect.gen(function* () {
    const address = yield* serveGrpcJs(handlers)
    return yield* Effect.flatMap(RuntimeClient, use).pipe(
      Effect.provide(
        RuntimeClient.layerGrpc({ address, ...options }).pipe(
          Layer.provide(RuntimeCredentials.layerChain({ bearer: Redacted.make("s3cret") })),
          Layer.provide(FetchHttpClient.layer)
        )
      )
    )
  }).pipe(Effect.scoped)

type SessionStream = ServerDuplexStream<StreamSessionRequest, StreamSessionResponse>

const envelopeFrame = (sessionId: string, messageId: string, payload = new Uint8Array([1])) =>
  create(StreamSessionResponseSchema, {
    response: { case: "envelope", value: { sessionId, messageId, timestampUnixMs: 1790000000000n, payload } }
  })

const fails = <A>(effect: Effect.Effect<A, RuntimeError>) => Effect.flip(effect)

describe("the gRPC client against a foreign server", () => {
  it.live("asks and answers, with credential and trace context in the metadata of the call", () => {
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

  it.live("fails a call without an answer when its deadline is over, and tells the server", () =>
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

  it.live("fails with UNAVAILABLE when nobody listens", () =>
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

  it.live("watches sessions and skips event types it does not know", () => {
    const watchSessions: handleServerStreamingCall<WatchSessionsRequest, WatchSessionsResponse> = (call) => {
      for (const [eventType, sessionId] of [
        [SessionLifecycleEvent_EventType.CREATED, "s1"],
        [UNKNOWN_EVENT_TYPE, "s2"],
        [SessionLifecycleEvent_EventType.SUSPENDED, undefined]
      ] as const) {
        call.write(
          create(WatchSessionsResponseSchema, {
            event: {
              eventType,
              observedAtUnixMs: 3n,
              ...(sessionId === undefined ? {} : { session: { sessionId, state: SessionState.OPEN } })
            }
          })
        )
      }
      call.end()
    }
    return withClient({ watchSessions }, (client) =>
      Effect.gen(function* () {
        const events = yield* Stream.runCollect(client.watchSessions)
        assert.deepStrictEqual(
          events.map(({ session, type }) => [type, session?.state]),
          [
            ["CREATED", "OPEN"],
            ["SUSPENDED", undefined]
          ]
        )
      })
    )
  })

  it.live("subscribes with one frame, keeps its side open and ends the call when the reader has enough", () =>
    Effect.gen(function* () {
      const requests: Array<StreamSessionRequest> = []
      const opened = yield* Queue.unbounded<SessionStream>()
      const cancelled = yield* Deferred.make<void>()
      let halfClosed = false
      const streamSession: handleBidiStreamingCall<StreamSessionRequest, StreamSessionResponse> = (call) => {
        call.on("end", () => {
          halfClosed = true
        })
        call.on("cancelled", () => Deferred.doneUnsafe(cancelled, Effect.void))
        call.on("data", (request: StreamSessionRequest) => {
          requests.push(request)
          Queue.offerUnsafe(opened, call)
        })
      }
      yield* withClient({ streamSession }, (client) =>
        Effect.gen(function* () {
          const reader = yield* client
            .streamSession({ sessionId: "s1", afterSequence: 3 })
            .pipe(Stream.take(3), Stream.runCollect, Effect.forkChild)
          const call = yield* Queue.take(opened)
          call.write(envelopeFrame("s1", "m4"))
          call.write(create(StreamSessionResponseSchema, { response: { case: "error", value: { code: "Forbidden" } } }))
          assert.isFalse(halfClosed)
          call.write(envelopeFrame("s1", "m5"))
          const frames = yield* Fiber.join(reader)
          assert.deepStrictEqual(
            frames.map((frame) => (frame._tag === "Envelope" ? frame.envelope.messageId : frame.error.code)),
            ["m4", "Forbidden", "m5"]
          )
          assert.strictEqual(requests.length, 1)
          assert.strictEqual(requests[0]?.subscribeSessionId, "s1")
          assert.strictEqual(requests[0]?.afterSequence, 3n)
          yield* Deferred.await(cancelled)
        })
      )
    })
  )

  it.live("delivers what came before a stream breaks, then the error with its trailers", () => {
    const streamSession: handleBidiStreamingCall<StreamSessionRequest, StreamSessionResponse> = (call) => {
      call.on("data", () => {
        call.write(envelopeFrame("s1", "m1"))
        const metadata = new Metadata()
        metadata.set("macp-error-details-bin", Buffer.from('{"reasons":["lag"]}'))
        call.emit("error", { code: status.RESOURCE_EXHAUSTED, details: "lagged by 257", metadata })
      })
    }
    return withClient({ streamSession }, (client) =>
      Effect.gen(function* () {
        const seen: Array<string> = []
        const error = yield* client.streamSession({ sessionId: "s1", afterSequence: 0 }).pipe(
          Stream.runForEach((frame) =>
            Effect.sync(() => void seen.push(frame._tag === "Envelope" ? frame.envelope.messageId : ""))
          ),
          Effect.flip
        )
        assert.deepStrictEqual(seen, ["m1"])
        assert.strictEqual(error.reason, "RESOURCE_EXHAUSTED")
        assert.strictEqual(error.message, "lagged by 257")
        assert.deepStrictEqual(error.denialReasons, ["lag"])
      })
    )
  })

  it.live("carries many frames in order and in chunks, and holds a fast server back for a slow reader", () => {
    const total = 3000
    let written = 0
    const streamSession: handleBidiStreamingCall<StreamSessionRequest, StreamSessionResponse> = (call) => {
      const payload = new Uint8Array(1000)
      const pump = () => {
        while (written < total) {
          written += 1
          if (!call.write(envelopeFrame("s1", `m${written}`, payload))) {
            call.once("drain", pump)
            return
          }
        }
        call.end()
      }
      call.once("data", pump)
    }
    return withClient({ streamSession }, (client) =>
      Effect.gen(function* () {
        let received = 0
        let chunks = 0
        let ahead = 0
        yield* client.streamSession({ sessionId: "s1", afterSequence: 0 }).pipe(
          Stream.chunks,
          Stream.runForEach((chunk) =>
            Effect.sync(() => {
              for (const frame of chunk) {
                received += 1
                if (frame._tag === "Envelope") assert.strictEqual(frame.envelope.messageId, `m${received}`)
              }
              chunks += 1
              ahead = Math.max(ahead, written - received)
            })
          )
        )
        assert.strictEqual(received, total)
        assert.isBelow(chunks, total / 4)
        assert.isBelow(ahead, 1500)
      })
    )
  })

  it.live("keeps more than a hundred streams and a unary call going at the same time", () =>
    Effect.gen(function* () {
      const streams = 250
      const connections = new Set<string>()
      const calls: Array<SessionStream> = []
      const allOpen = yield* Deferred.make<void>()
      const streamSession: handleBidiStreamingCall<StreamSessionRequest, StreamSessionResponse> = (call) => {
        call.on("data", ({ subscribeSessionId }: StreamSessionRequest) => {
          connections.add(call.getPeer())
          calls.push(call)
          call.write(envelopeFrame(subscribeSessionId, "m1"))
          if (calls.length === streams) Deferred.doneUnsafe(allOpen, Effect.void)
        })
      }
      const getSession: handleUnaryCall<GetSessionRequest, GetSessionResponse> = ({ request }, answer) =>
        answer(null, create(GetSessionResponseSchema, { metadata: { sessionId: request.sessionId } }))
      yield* withClient({ streamSession, getSession }, (client) =>
        Effect.gen(function* () {
          const readers = yield* Effect.forEach(
            Array.from({ length: streams }, (_, index) => `s${index}`),
            (sessionId) =>
              client
                .streamSession({ sessionId, afterSequence: 0 })
                .pipe(Stream.take(2), Stream.runCollect, Effect.forkChild)
          )
          yield* Deferred.await(allOpen)
          assert.strictEqual(connections.size, 3)
          assert.strictEqual((yield* client.getSession("s9")).sessionId, "s9")
          for (const call of calls) call.write(envelopeFrame("", "m2"))
          const collected = yield* Effect.forEach(readers, (reader) => Fiber.join(reader))
          assert.isTrue(collected.every((frames) => frames.length === 2))
        })
      )
    })
  )

  it.live("is not held up on one connection by readers that take nothing", () =>
    Effect.gen(function* () {
      const stalled = 20
      let open = 0
      const flooded = yield* Deferred.make<void>()
      const streamSession: handleBidiStreamingCall<StreamSessionRequest, StreamSessionResponse> = (call) => {
        call.once("data", ({ subscribeSessionId }: StreamSessionRequest) => {
          if (subscribeSessionId === "live") {
            call.write(envelopeFrame("live", "through"))
            return
          }
          for (let i = 0; i < 400; i++) call.write(envelopeFrame(subscribeSessionId, `m${i}`, new Uint8Array(1000)))
          open += 1
          if (open === stalled) Deferred.doneUnsafe(flooded, Effect.void)
        })
      }
      yield* withClient({ streamSession }, (client) =>
        Effect.gen(function* () {
          for (let i = 0; i < stalled; i++) {
            yield* client.streamSession({ sessionId: `stalled-${i}`, afterSequence: 0 }).pipe(
              Stream.runForEach(() => Effect.never),
              Effect.forkChild
            )
          }
          yield* Deferred.await(flooded)
          const frames = yield* client
            .streamSession({ sessionId: "live", afterSequence: 0 })
            .pipe(Stream.take(1), Stream.runCollect)
          assert.strictEqual(frames.length, 1)
        })
      )
    })
  )

  it.live("breaks open streams with an error worth a retry when the server dies, and reaches its successor", () =>
    Effect.gen(function* () {
      const opened = yield* Deferred.make<void>()
      const streamSession: handleBidiStreamingCall<StreamSessionRequest, StreamSessionResponse> = (call) => {
        call.on("data", () => Deferred.doneUnsafe(opened, Effect.void))
      }
      const getSession: handleUnaryCall<GetSessionRequest, GetSessionResponse> = ({ request }, answer) =>
        answer(null, create(GetSessionResponseSchema, { metadata: { sessionId: request.sessionId } }))
      const first = yield* Scope.make()
      const address = yield* Scope.provide(serveGrpcJs({ streamSession, getSession }), first)
      yield* Effect.gen(function* () {
        const client = yield* RuntimeClient
        assert.strictEqual((yield* client.getSession("s1")).sessionId, "s1")
        const broken = yield* client
          .streamSession({ sessionId: "s1", afterSequence: 0 })
          .pipe(Stream.runDrain, Effect.flip, Effect.forkChild)
        yield* Deferred.await(opened)
        yield* Scope.close(first, Exit.void)
        const error = yield* Fiber.join(broken)
        assert.isTrue(error.retryable, error.reason)
        assert.strictEqual((yield* fails(client.getSession("s1"))).reason, "UNAVAILABLE")
        yield* serveGrpcJs({ getSession }, address)
        assert.strictEqual((yield* client.getSession("s2")).sessionId, "s2")
      }).pipe(Effect.provide(RuntimeClient.layerGrpc({ address }).pipe(Layer.provide(RuntimeCredentials.layerNone))))
    })
  )

  it.live("does not talk in plain text when TLS is asked for", () =>
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
