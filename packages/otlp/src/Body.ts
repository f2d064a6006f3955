import { gunzip } from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** The body is larger than its bound, as sent or inflated. */
export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{
  readonly measured: "sent" | "inflated"
  readonly limitBytes: number
}> {
  override get message(): string {
    return `the body is larger than ${this.limitBytes} bytes (${this.measured})`
  }
}

/** The body is not what its headers declare. */
export class BodyMalformed extends Data.TaggedError("BodyMalformed")<{ readonly why: string }> {
  override get message(): string {
    return `the body is not readable: ${this.why}`
  }
}

export interface BodyOptions {
  readonly gzip: boolean
  /** Bound of the body as sent. */
  readonly maxBytes: number
  /** Bound of the inflated body. */
  readonly maxInflatedBytes: number
}

/**
 * Reads a body, chunked or not, and inflates it. Memory never exceeds the two bounds: reading ends with the first byte
 * beyond one of them (docs/reference/ingest.md#limits).
 */
export const readBody = Effect.fnUntraced(function* <E, R>(
  body: Stream.Stream<Uint8Array, E, R>,
  { gzip, maxBytes, maxInflatedBytes }: BodyOptions
) {
  const sent = yield* receiveBody(body, maxBytes)
  return gzip ? yield* inflateBody(sent, maxInflatedBytes) : sent
})

/** Reads a body as sent. */
export const receiveBody = Effect.fnUntraced(function* <E, R>(body: Stream.Stream<Uint8Array, E, R>, maxBytes: number) {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  yield* Stream.runForEach(body, (chunk) => {
    bytes += chunk.length
    if (bytes > maxBytes) return Effect.fail(new BodyTooLarge({ measured: "sent", limitBytes: maxBytes }))
    chunks.push(chunk)
    return Effect.void
  })
  return Buffer.concat(chunks, bytes)
})

/** Inflates a body, on a thread of zlib and not on the thread of the service. */
export const inflateBody = (sent: Buffer, maxOutputLength: number) =>
  Effect.callback<Buffer, BodyTooLarge | BodyMalformed>((resume) => {
    gunzip(sent, { maxOutputLength, chunkSize: INFLATED_CHUNK_BYTES }, (error, result) => {
      if (error === null) resume(Effect.succeed(result))
      else if ("code" in error && error.code === "ERR_BUFFER_TOO_LARGE") {
        resume(Effect.fail(new BodyTooLarge({ measured: "inflated", limitBytes: maxOutputLength })))
      } else resume(Effect.fail(new BodyMalformed({ why: "it is not gzip" })))
    })
  })

/** Each chunk is a turn of the thread of the service. */
const INFLATED_CHUNK_BYTES = 65_536
