import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import {
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type Metadata,
  status,
  type UntypedServiceImplementation
} from "@grpc/grpc-js"
import {
  EnvelopeSchema,
  type GetSessionRequest,
  type GetSessionResponse,
  GetSessionResponseSchema,
  type ListSessionsRequest,
  type ListSessionsResponse,
  ListSessionsResponseSchema,
  RuntimeClient,
  RuntimeCredentials,
  type RuntimeCredentialsOptions,
  SessionLifecycleEvent_EventType,
  SessionState,
  type StreamSessionRequest,
  type StreamSessionResponse,
  StreamSessionResponseSchema,
  type WatchSessionsRequest,
  type WatchSessionsResponse,
  WatchSessionsResponseSchema
} from "@runplane/runtime"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { serveGrpcJs } from "./GrpcJsServer.ts"

const SESSION = "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a01"
const ANOTHER = "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a02"
const LEAD = "agent://lead"
const CREATED = SessionLifecycleEvent_EventType.CREATED

/**
 * A runtime under development authentication: a name is its own credential, only members read, every caller may list.
 */
const runtime = () => {
  const reads: Array<string> = []
  const metadata = { sessionId: SESSION, initiator: LEAD, participants: [LEAD], state: SessionState.OPEN }
  const callerOf = (given: Metadata) => String(given.get("authorization")[0]).replace("Bearer ", "")
  const getSession: handleUnaryCall<GetSessionRequest, GetSessionResponse> = (call, answer) => {
    const caller = callerOf(call.metadata)
    reads.push(`GetSession ${caller}`)
    if (caller === LEAD) answer(null, create(GetSessionResponseSchema, { metadata }))
    else answer({ code: status.PERMISSION_DENIED, details: "FORBIDDEN: session access denied" })
  }
  const listSessions: handleUnaryCall<ListSessionsRequest, ListSessionsResponse> = (call, answer) => {
    reads.push(`ListSessions ${callerOf(call.metadata)}`)
    answer(null, create(ListSessionsResponseSchema, { sessions: [metadata] }))
  }
  const streamSession: handleBidiStreamingCall<StreamSessionRequest, StreamSessionResponse> = (call) => {
    reads.push(`StreamSession ${callerOf(call.metadata)}`)
    const value = create(EnvelopeSchema, { messageId: "m1", sessionId: SESSION })
    call.write(create(StreamSessionResponseSchema, { response: { case: "envelope", value } }))
    call.end()
  }
  const watchSessions: handleServerStreamingCall<WatchSessionsRequest, WatchSessionsResponse> = (call) => {
    for (const sessionId of [SESSION, ANOTHER]) {
      call.write(
        create(WatchSessionsResponseSchema, { event: { eventType: CREATED, session: { ...metadata, sessionId } } })
      )
    }
    call.end()
  }
  const handlers: UntypedServiceImplementation = { getSession, listSessions, streamSession, watchSessions }
  return { reads, handlers, getSession }
}

const withCredentials = <A, E>(
  handlers: UntypedServiceImplementation,
  options: RuntimeCredentialsOptions,
  use: (client: RuntimeClient["Service"]) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const address = yield* serveGrpcJs(handlers)
    const credentials = RuntimeCredentials.layerChain(options).pipe(Layer.provide(FetchHttpClient.layer))
    return yield* Effect.flatMap(RuntimeClient, use).pipe(
      Effect.provide(RuntimeClient.layerGrpc({ address }).pipe(Layer.provide(credentials)))
    )
  })

describe("a session that is closed to us", () => {
  it.live("is read in its initiator's name under development credentials, with one lookup of the initiator", () => {
    const { handlers, reads } = runtime()
    return withCredentials(handlers, { devAgentId: "plane" }, (client) =>
      Effect.gen(function* () {
        const frames = yield* Stream.runCollect(client.streamSession({ sessionId: SESSION, afterSequence: 0 }))
        assert.lengthOf(frames, 1)
        assert.strictEqual((yield* client.getSession(SESSION)).initiator, LEAD)
        assert.deepStrictEqual(reads, [
          "GetSession plane",
          "ListSessions plane",
          `StreamSession ${LEAD}`,
          `GetSession ${LEAD}`
        ])
      })
    )
  })

  it.live("is read in the initiator's name from the watch, and at once after a refusal", () => {
    const { handlers, reads } = runtime()
    return withCredentials(handlers, { devAgentId: "plane" }, (client) =>
      Effect.gen(function* () {
        yield* Stream.runDrain(client.watchSessions)
        for (const sessionId of [SESSION, ANOTHER]) {
          yield* Stream.runDrain(client.streamSession({ sessionId, afterSequence: 0 }))
        }
        assert.deepStrictEqual(reads, ["GetSession plane", `StreamSession ${LEAD}`, `StreamSession ${LEAD}`])
      })
    )
  })

  it.live("is looked up by each call until it exists: an answer from before its opening is not shared", () => {
    const { getSession, handlers, reads } = runtime()
    const late: Array<() => void> = []
    const firstIsLate: handleUnaryCall<GetSessionRequest, GetSessionResponse> = (call, answer) => {
      if (late.length > 0) return getSession(call, answer)
      late.push(() => answer({ code: status.NOT_FOUND, details: "unknown session" }))
    }
    return withCredentials({ ...handlers, getSession: firstIsLate }, { devAgentId: "plane" }, (client) =>
      Effect.gen(function* () {
        const stream = client.streamSession({ sessionId: SESSION, afterSequence: 0 })
        const before = yield* Effect.forkChild(Effect.flip(Stream.runDrain(stream)))
        while (late.length === 0) yield* Effect.sleep(1)
        assert.lengthOf(yield* Stream.runCollect(stream), 1)
        assert.include(reads, `StreamSession ${LEAD}`)
        late[0]?.()
        assert.strictEqual((yield* Fiber.join(before)).reason, "NOT_FOUND")
      })
    )
  })

  it.live("is read in the initiator's name from the watch while the listing is still read", () => {
    const { handlers, reads } = runtime()
    return withCredentials(
      { ...handlers, listSessions: () => void reads.push("listing") },
      { devAgentId: "plane" },
      (client) =>
        Effect.gen(function* () {
          const reading = yield* Effect.forkChild(
            Stream.runCollect(client.streamSession({ sessionId: SESSION, afterSequence: 0 }))
          )
          while (!reads.includes("listing")) yield* Effect.sleep(1)
          yield* Stream.runDrain(client.watchSessions)
          assert.lengthOf(yield* Fiber.join(reading), 1)
        })
    )
  })

  it.live("stays closed when it is in no listing", () => {
    const { handlers } = runtime()
    return withCredentials(handlers, { devAgentId: "plane" }, (client) =>
      Effect.map(Effect.flip(client.getSession("another")), ({ reason }) =>
        assert.strictEqual(reason, "PERMISSION_DENIED")
      )
    )
  })

  it.live("stays closed under every other credential", () => {
    const { handlers, reads } = runtime()
    const bearer = Redacted.make("plane")
    return withCredentials(handlers, { bearer, devAgentId: "plane" }, (client) =>
      Effect.gen(function* () {
        const { reason } = yield* Effect.flip(client.getSession(SESSION))
        assert.strictEqual(reason, "PERMISSION_DENIED")
        assert.deepStrictEqual(reads, ["GetSession plane"])
      })
    )
  })
})
