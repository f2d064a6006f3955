import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2"
import { createServer } from "node:http2"
import { PROTOBUF_TYPE } from "@runplane/api"
import {
  codeOf,
  framed,
  GrpcCode,
  messageIn,
  PREFIX_BYTES,
  readPrefix,
  retryDetails,
  trailerText
} from "@runplane/otlp"
import { ListenFailed } from "@runplane/server"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { ListenHost } from "../../platform/http/ListenHost.ts"
import { GRPC_PORT, IngestSettings } from "./IngestSettings.ts"

/** Whether gRPC is received, for readiness: the address, or why not. */
export class GrpcState extends Context.Service<GrpcState, { text: string }>()("runplane/control-plane/GrpcState") {
  static readonly layer = Layer.sync(GrpcState, () => ({ text: "off" }))
}

/** The methods of OTLP, and the paths of HTTP that do the same. */
const PATHS: ReadonlyMap<string, string> = new Map(
  (["Trace", "Logs", "Metrics"] as const).map((signal) => [
    `/opentelemetry.proto.collector.${signal.toLowerCase()}.v1.${signal}Service/Export`,
    signal === "Trace" ? "/v1/traces" : `/v1/${signal.toLowerCase()}`
  ])
)

/** Connections of clients, and calls of one connection, that are open at the same time. */
const MOST_SESSIONS = 1_000
const MOST_CALLS = 64
/** A connection without calls ends after this time; clients open another one. Milliseconds. */
const IDLE_MS = 600_000
/** A call has its first bytes within this time; its body has the time of every export. Milliseconds. */
const BEGIN_MS = 30_000
/** Calls end within this time at shutdown. */
const GRACE = "3 seconds"

/** Headers that describe the connection, or the frames of gRPC. */
const OF_GRPC = /^(?::|grpc-|te$|content-|connection$|accept-encoding$|user-agent$|transfer-encoding$)/

/** The bytes of a call are not one message. */
class NotOneMessage extends Data.TaggedError("NotOneMessage")<{ readonly reason: string }> {
  override get message(): string {
    return this.reason
  }
}

interface Answer {
  readonly code: number
  readonly message: string
  /** The message of the answer; absent of a refusal. */
  readonly body?: Uint8Array
  readonly retryAfterSeconds?: number
}

/**
 * OTLP over gRPC, without TLS (docs/reference/ingest.md#grpc). A call becomes a request of the routes of HTTP, in this
 * process: bounds, keys, budgets, partial answers and the access log are the same by construction.
 */
export const layerGrpcReceiver = Layer.effectDiscard(
  Effect.gen(function* () {
    const { grpcPort, isEnabled } = yield* IngestSettings
    const host = yield* ListenHost
    const state = yield* GrpcState
    const router = yield* HttpRouter.HttpRouter
    const port = grpcPort ?? GRPC_PORT
    if (!isEnabled || port === 0) return
    let app: ReturnType<typeof router.asHttpEffect> | undefined
    const run = yield* FiberSet.makeRuntime()
    const server = createServer({ settings: { maxConcurrentStreams: MOST_CALLS } })
    server.maxConnections = MOST_SESSIONS
    server.on("session", (session) => session.setTimeout(IDLE_MS, () => session.close()))
    // A connection that breaks ends its calls, which have no answer then.
    server.on("sessionError", () => undefined)
    server.on("stream", (stream, headers) => {
      stream.on("error", () => undefined)
      app ??= router.asHttpEffect()
      const fiber = run(answerOf(app, stream, headers).pipe(Effect.map((answer) => write(stream, answer))))
      stream.once("close", () => fiber.interruptUnsafe())
    })
    const listening = yield* Effect.result(listen(server, host, port))
    if (listening._tag === "Success") {
      // A connection that cannot be accepted, for lack of descriptors, must not end the process.
      server.on("error", ({ message }) => run(Effect.logWarning(`gRPC accepts no connection: ${message}`)))
      state.text = `${host}:${port}`
      return yield* Effect.logInfo(`receives OpenTelemetry by gRPC on ${host}:${port}`)
    }
    const failed = new ListenFailed({ host, port, service: "the receiver of gRPC", reason: listening.failure })
    if (grpcPort !== undefined) return yield* failed
    state.text = `off: ${failed.message}`
    yield* Effect.logWarning(`${failed.message}; OTLP_GRPC_PORT names another port, or 0 for none`)
  })
)

const listen = (server: Http2Server, host: string, port: number) => {
  const sessions = new Set<ServerHttp2Session>()
  server.on("session", (session) => {
    sessions.add(session)
    session.once("close", () => sessions.delete(session))
  })
  const close = Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    for (const session of sessions) session.close()
  }).pipe(
    Effect.timeoutOrElse({
      duration: GRACE,
      orElse: () =>
        Effect.sync(() => {
          for (const session of sessions) session.destroy()
        })
    })
  )
  const open = Effect.callback<void, string>((resume) => {
    const failed = (error: Error) => {
      const isTaken = "code" in error && error.code === "EADDRINUSE"
      resume(Effect.fail(isTaken ? "the port is in use" : error.message))
    }
    server.once("error", failed)
    server.listen(port, host, () => {
      server.off("error", failed)
      resume(Effect.void)
    })
  })
  return Effect.andThen(
    open,
    Effect.addFinalizer(() => close)
  )
}

type App = ReturnType<(typeof HttpRouter.HttpRouter)["Service"]["asHttpEffect"]>

/** Runs a call as a request of the routes. */
const answerOf = (app: App, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Effect.Effect<Answer> =>
  Effect.gen(function* (): Effect.fn.Return<Answer, NotOneMessage, Scope.Scope> {
    const path = PATHS.get(String(headers[":path"]))
    if (path === undefined) return { code: GrpcCode.unimplemented, message: "this service has no such method" }
    const { coding, parts } = yield* messageOf(stream, headers)
    const request = HttpServerRequest.fromWeb(
      new Request(`http://localhost${path}`, {
        method: "POST",
        headers: [...forwarded(headers), ["content-type", PROTOBUF_TYPE], ["content-encoding", coding]],
        body: ReadableStream.from(parts),
        duplex: "half"
      })
    ).modify({ remoteAddress: Option.fromNullishOr(stream.session?.socket?.remoteAddress) })
    const response = yield* Effect.provideService(Effect.orDie(app), HttpServerRequest.HttpServerRequest, request)
    return answered(response)
  }).pipe(
    Effect.scoped,
    Effect.catchTag("NotOneMessage", ({ message }) => Effect.succeed({ code: GrpcCode.invalid, message })),
    Effect.catchCause((cause) =>
      Effect.as(Effect.logError("a call of gRPC failed", cause), {
        code: GrpcCode.internal,
        message: "the service failed to answer"
      })
    )
  )

const answered = ({ body, headers, status }: HttpServerResponse.HttpServerResponse): Answer => {
  const bytes = body._tag === "Uint8Array" ? body.body : new Uint8Array()
  const code = codeOf(status)
  if (code === GrpcCode.ok) return { code, message: "", body: bytes }
  const type = body._tag === "Uint8Array" ? body.contentType : ""
  const retryAfter = Number(headers["retry-after"])
  return {
    code,
    message: messageIn(bytes, type),
    ...(code === GrpcCode.unavailable && { retryAfterSeconds: retryAfter > 0 ? retryAfter : 1 })
  }
}

const forwarded = (headers: IncomingHttpHeaders): ReadonlyArray<[string, string]> =>
  Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || OF_GRPC.test(name) ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]]
  )

/** The one message of a call: how it is compressed, and its bytes as they arrive. */
const messageOf = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
  Effect.gen(function* () {
    if (headers[":method"] !== "POST" || headers["content-type"]?.startsWith("application/grpc") !== true) {
      return yield* new NotOneMessage({ reason: "a call is a POST of application/grpc" })
    }
    const chunks: AsyncIterator<unknown> = stream[Symbol.asyncIterator]()
    const begin = yield* Effect.tryPromise({
      try: () => firstBytes(chunks),
      catch: () => new NotOneMessage({ reason: "the message did not arrive" })
    }).pipe(
      Effect.timeoutOrElse({
        duration: BEGIN_MS,
        orElse: () => Effect.fail(new NotOneMessage({ reason: "the message did not arrive in time" }))
      })
    )
    if (begin.length < PREFIX_BYTES) return yield* new NotOneMessage({ reason: "the call has no message" })
    const { isCompressed, length } = readPrefix(begin)
    const coding = isCompressed ? String(headers["grpc-encoding"] ?? "identity") : "identity"
    return { coding, parts: partsOf(chunks, begin.subarray(PREFIX_BYTES), length) }
  })

const firstBytes = async (chunks: AsyncIterator<unknown>): Promise<Buffer> => {
  let bytes = Buffer.alloc(0)
  while (bytes.length < PREFIX_BYTES) {
    const { done, value } = await chunks.next()
    if (done === true) return bytes
    if (Buffer.isBuffer(value)) bytes = Buffer.concat([bytes, value])
  }
  return bytes
}

/** The parts of a message of `length` bytes. Throws when the call has fewer or more. */
async function* partsOf(chunks: AsyncIterator<unknown>, begin: Buffer, length: number): AsyncGenerator<Uint8Array> {
  let left = length - begin.length
  if (begin.length > 0) yield begin
  while (left >= 0) {
    const { done, value } = await chunks.next()
    if (done === true) break
    if (!Buffer.isBuffer(value)) continue
    left -= value.length
    yield value
  }
  if (left !== 0) throw new Error("the call has not one message of its length")
}

/** Writes the answer, with its status in the trailers. */
const write = (stream: ServerHttp2Stream, { body, code, message, retryAfterSeconds }: Answer): void => {
  if (stream.destroyed || stream.closed) return
  const status = {
    "grpc-status": String(code),
    ...(message !== "" && { "grpc-message": trailerText(message) }),
    ...(retryAfterSeconds !== undefined && {
      "grpc-status-details-bin": retryDetails(code, message, retryAfterSeconds)
    })
  }
  const begin = { ":status": 200, "content-type": "application/grpc+proto" }
  if (body === undefined) {
    stream.respond({ ...begin, ...status }, { endStream: true })
    // The rest of the body is not read.
    stream.close()
    return
  }
  stream.respond(begin, { waitForTrailers: true })
  stream.once("wantTrailers", () => stream.sendTrailers(status))
  stream.end(framed(body))
}
