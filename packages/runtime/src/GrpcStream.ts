/**
 * Without this: the stream of an observed session takes 50 KiB of heap instead of 11 (docs/internals/scale.md), because
 * connect-node keeps iterables for each call; costs this file, GrpcFrames.ts and a part of GrpcStatus.ts.
 */

import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2"
import type { RawEnvelope } from "@runplane/domain"
import { isReadonlyArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { FrameReader, framed } from "./GrpcFrames.ts"
import {
  denialDetailsOf,
  failureOfBreak,
  failureOfHeaders,
  failureOfReset,
  failureOfTrailers,
  haveStatus
} from "./GrpcStatus.ts"
import type { GuardedSessionManager } from "./GuardedSessionManager.ts"
import { RuntimeError } from "./RuntimeError.ts"

/** Buffered messages per stream for a slow reader; beyond it HTTP/2 flow control stops the server. */
export const STREAM_BUFFER_MESSAGES = 256

export type StreamConnection = Pick<GuardedSessionManager, "request" | "notifyResponseByteRead">

export interface StreamLimits {
  /** Largest message taken. */
  readonly maxReceiveBytes: number
  /** Largest message sent. */
  readonly maxSendBytes: number
  /** Buffered bytes for a slow reader, besides the bound in messages; a larger message is buffered alone. */
  readonly bufferBytes: number
}

export interface GrpcStreamOptions<Frame> {
  /** Name of the call, as in the service definition. */
  readonly method: string
  readonly path: string
  readonly metadata: Readonly<Record<string, string>>
  /** The only message that is sent. */
  readonly request: Uint8Array
  /** Whether the own side stays open after it, for as long as the stream does. */
  readonly holdOpen: boolean
  /** Undefined drops the message. What it throws ends the stream. */
  readonly read: (message: Uint8Array) => Frame | undefined
  /** The envelope that begins with these bytes, without its payload. */
  readonly readHead?: ((head: Uint8Array) => RawEnvelope | undefined) | undefined
  readonly limits: StreamLimits
}

export type Pull<Frame> = Effect.Effect<NonEmptyReadonlyArray<Frame>, RuntimeError | Cause.Done>

/**
 * Opens a streaming call on a connection of the caller, and returns the pull of its messages, which takes all that have
 * arrived. The scope cancels the call.
 */
export const openGrpcStream = <Frame>(
  connection: StreamConnection,
  options: GrpcStreamOptions<Frame>
): Effect.Effect<Pull<Frame>, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Call(connection, options)),
      (call) => Effect.sync(() => call.close())
    ),
    (call) => call.pull
  )

const TORN = "the stream has ended inside of a message"

class Call<Frame> {
  readonly pull: Pull<Frame>
  readonly #connection: StreamConnection
  readonly #options: GrpcStreamOptions<Frame>
  readonly #reader: FrameReader
  #stream: ClientHttp2Stream | undefined
  /** The headers announced messages, and all bytes since then were readable. */
  #readable = false
  #trailers: IncomingHttpHeaders | undefined
  #denialDetails: string | undefined
  #frames: Array<Frame> = []
  #bytes = 0
  #end: Pull<Frame> | undefined
  #waiting: (() => void) | undefined
  #wakeScheduled = false

  constructor(connection: StreamConnection, options: GrpcStreamOptions<Frame>) {
    this.#connection = connection
    this.#options = options
    this.#reader = new FrameReader(options.limits.maxReceiveBytes)
    this.pull = Effect.suspend(() => this.#take() ?? this.#wait)
    const { length } = options.request
    const { maxSendBytes } = options.limits
    if (length > maxSendBytes) {
      const message = `a message of ${length} bytes is larger than the ${maxSendBytes} bytes that may be sent`
      this.#fail(new RuntimeError({ method: options.method, reason: "RESOURCE_EXHAUSTED", message }))
      return
    }
    const headers = {
      ...options.metadata,
      "content-type": "application/grpc+proto",
      // Shows which proxies lose trailers.
      te: "trailers"
    }
    connection.request("POST", options.path, headers, {}).then(
      (stream) => this.#follow(stream),
      (cause) => this.#break(cause)
    )
  }

  close(): void {
    this.#end ??= Cause.done()
    this.#stream?.close(constants.NGHTTP2_CANCEL)
  }

  #follow(stream: ClientHttp2Stream): void {
    this.#stream = stream
    // Stays for good: an error without a listener would end the process.
    stream.on("error", (cause) => this.#break(cause))
    if (this.#end !== undefined) {
      stream.close(constants.NGHTTP2_CANCEL)
      return
    }
    stream.on("response", (headers) => this.#answer(headers))
    stream.on("trailers", (trailers) => {
      this.#trailers = trailers
    })
    stream.on("data", (chunk: Uint8Array) => this.#arrive(stream, chunk))
    stream.on("end", () => this.#finish(stream))
    stream.on("close", () => this.#finish(stream))
    // A connection that closed meanwhile has emitted its events already.
    if (stream.destroyed) {
      this.#finish(stream)
      return
    }
    const request = framed(this.#options.request)
    if (this.#options.holdOpen) stream.write(request)
    else stream.end(request)
  }

  #answer(headers: IncomingHttpHeaders): void {
    const failed = failureOfHeaders(this.#options.method, headers)
    if (failed !== undefined) {
      this.#fail(failed)
      return
    }
    this.#readable = true
    this.#denialDetails = denialDetailsOf(headers)
    if (haveStatus(headers)) this.#trailers ??= headers
    this.#read()
  }

  #arrive(stream: ClientHttp2Stream, chunk: Uint8Array): void {
    if (this.#end !== undefined) return
    // The connection is alive: no ping is needed to find that out.
    this.#connection.notifyResponseByteRead(stream)
    this.#reader.push(chunk)
    this.#read()
  }

  /** Reads messages until the buffer is full, and requests more bytes when it is empty. */
  #read(): void {
    if (!this.#readable) return
    const { limits, read } = this.#options
    try {
      while (this.#frames.length < STREAM_BUFFER_MESSAGES && this.#bytes < limits.bufferBytes) {
        const message = this.#reader.next()
        if (message === undefined) {
          if (this.#stream?.isPaused() === true) this.#stream.resume()
          break
        }
        const frame = read(message)
        if (frame === undefined) continue
        this.#frames.push(frame)
        this.#bytes += message.length
      }
    } catch (cause) {
      // It may be found out when the stream has ended already, which does not count then.
      this.#readable = false
      this.#fail(failureOfBreak(this.#options.method, cause, undefined, this.#options.readHead))
    }
    if (this.#frames.length === 0) return
    if (this.#frames.length >= STREAM_BUFFER_MESSAGES || this.#bytes >= limits.bufferBytes) this.#stream?.pause()
    this.#wake()
  }

  /** The stream has ended. A reset stream has trailers when the reset followed them. */
  #finish(stream: ClientHttp2Stream): void {
    if (this.#end !== undefined) return
    const { method } = this.#options
    const failed =
      this.#trailers === undefined
        ? failureOfReset(method, stream.rstCode)
        : failureOfTrailers(method, this.#trailers, this.#denialDetails)
    if (failed !== undefined) {
      this.#fail(failed)
      return
    }
    // Looked at when everything has been read.
    this.#end = Effect.suspend(
      (): Pull<Frame> =>
        this.#reader.isInsideMessage ? Effect.fail(failureOfBreak(method, TORN, undefined)) : Cause.done()
    )
    if (!stream.writableEnded) stream.end()
    this.#wake()
  }

  #break(cause: unknown): void {
    if (this.#end !== undefined) return
    this.#fail(failureOfBreak(this.#options.method, cause, this.#stream?.rstCode))
  }

  #fail(error: RuntimeError): void {
    this.#end = Effect.fail(error)
    this.#stream?.close(constants.NGHTTP2_CANCEL)
    this.#wake()
  }

  #take(): Pull<Frame> | undefined {
    if (this.#frames.length === 0) this.#read()
    const frames = this.#frames
    if (!isReadonlyArrayNonEmpty(frames)) return this.#end
    this.#frames = []
    this.#bytes = 0
    // Reads on while the reader handles these frames.
    this.#read()
    return Effect.succeed(frames)
  }

  readonly #wait: Pull<Frame> = Effect.callback((resume) => {
    this.#waiting = () => resume(this.pull)
    // A frame may have arrived between the reader's check and this registration.
    if (this.#frames.length > 0 || this.#end !== undefined) this.#wake()
    return Effect.sync(() => {
      this.#waiting = undefined
    })
  })

  /** Wakes the reader once the messages of this moment have been read. */
  #wake(): void {
    if (this.#wakeScheduled || this.#waiting === undefined) return
    this.#wakeScheduled = true
    setImmediate(() => {
      this.#wakeScheduled = false
      const waiting = this.#waiting
      this.#waiting = undefined
      waiting?.()
    })
  }
}
