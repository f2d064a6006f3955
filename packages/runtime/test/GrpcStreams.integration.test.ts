import { create, fromBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  status
} from "@grpc/grpc-js"
import {
  type GetSessionRequest,
  type GetSessionResponse,
  GetSessionResponseSchema,
  RuntimeClient,
  RuntimeCredentials,
  SessionLifecycleEvent_EventType,
  SessionLifecycleEventSchema,
  SessionState,
  type StreamSessionRequest,
  type StreamSessionResponse,
  StreamSessionResponseSchema,
  type WatchSessionsRequest,
  type WatchSessionsResponse,
  WatchSessionsResponseSchema,
  type WatchSignalsRequest,
  type WatchSignalsResponse,
  WatchSignalsResponseSchema
} from "@runplane/runtime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { envelopeFrame, fails, type SessionStream, withClient } from "./GrpcClients.ts"
import { serveGrpcJs } from "./GrpcJsServer.ts"

/** An enum value of some later version of the protocol. */
const UNKNOWN_EVENT_TYPE = fromBinary(SessionLifecycleEventSchema, new Uint8Array([0x08, 99])).eventType

describe("the streams of the gRPC client against a foreign server", () => {
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

  it.live("takes a burst of signals out of the runtime while their reader is busy", () =>
    Effect.gen(function* () {
      const sent = yield* Deferred.make<void>()
      const watchSignals: handleServerStreamingCall<WatchSignalsRequest, WatchSignalsResponse> = async (call) => {
        const envelope = { messageType: "Signal", payload: new Uint8Array(3_000) }
        for (let signal = 0; signal < 1_500; signal++) {
          const more = call.write(create(WatchSignalsResponseSchema, { envelope }))
          if (!more) await new Promise((resolve) => call.once("drain", resolve))
        }
        Deferred.doneUnsafe(sent, Effect.void)
      }
      yield* withClient({ watchSignals }, (client) =>
        Effect.gen(function* () {
          yield* Effect.forkChild(Stream.runForEach(client.watchSignals, () => Effect.never))
          yield* Deferred.await(sent)
        })
      )
    })
  )

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

  it.live("delivers the frames before a break, then the error with its trailers", () => {
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

  /** Frames that the server could write before the reader had them, at most. */
  const framesAhead = (total: number, payloadBytes: number) => {
    let written = 0
    const streamSession: handleBidiStreamingCall<StreamSessionRequest, StreamSessionResponse> = (call) => {
      const payload = new Uint8Array(payloadBytes)
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
            Effect.gen(function* () {
              // A reader that is slow at its first chunk: everything that can be buffered is.
              if (chunks === 0) yield* Effect.sleep("300 millis")
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
        return { ahead, chunks }
      })
    )
  }

  it.live("carries many frames in order and in chunks, and holds a fast server back for a slow reader", () =>
    Effect.gen(function* () {
      const { ahead, chunks } = yield* framesAhead(3_000, 1_000)
      assert.isBelow(chunks, 750)
      assert.isBelow(ahead, 1_500)
    })
  )

  it.live("counts bytes as well, so that few large frames fill no memory", () =>
    Effect.gen(function* () {
      const { ahead } = yield* framesAhead(200, 200_000)
      assert.isBelow(ahead, 50)
    })
  )

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
})
