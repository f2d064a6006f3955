import { createGunzip } from "node:zlib"
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

/**
 * Inflates a body, on a thread of zlib and not on the thread of the service. The parts go into one buffer, so memory
 * never has the body twice: it has the size that gzip states at its end, and grows where that is not true.
 */
export const inflateBody = (sent: Buffer, maxBytes: number) =>
  Effect.callback<Buffer, BodyTooLarge | BodyMalformed>((resume) => {
    const stream = createGunzip({ chunkSize: INFLATED_CHUNK_BYTES })
    let inflated = Buffer.allocUnsafeSlow(Math.min(statedSize(sent), maxBytes))
    let bytes = 0
    const end = (result: Effect.Effect<Buffer, BodyTooLarge | BodyMalformed>) => {
      stream.removeAllListeners("data").destroy()
      resume(result)
    }
    stream.on("data", (chunk: Buffer) => {
      if (bytes + chunk.length > maxBytes) {
        releaseBody(inflated)
        end(Effect.fail(new BodyTooLarge({ measured: "inflated", limitBytes: maxBytes })))
        return
      }
      if (bytes + chunk.length > inflated.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(maxBytes, 2 * (bytes + chunk.length)))
        inflated.copy(larger, 0, 0, bytes)
        releaseBody(inflated)
        inflated = larger
      }
      chunk.copy(inflated, bytes)
      bytes += chunk.length
    })
    stream.once("end", () => end(Effect.succeed(inflated.subarray(0, bytes))))
    stream.once("error", () => end(Effect.fail(new BodyMalformed({ why: "it is not gzip" }))))
    stream.end(sent)
    return Effect.sync(() => void stream.destroy())
  })

/**
 * Gives the memory of an inflated body back at once. Without this: the bodies of some large requests in a row wait for
 * the garbage collector together.
 */
export const releaseBody = (body: Buffer): void => {
  if (body.buffer instanceof ArrayBuffer && !body.buffer.detached) body.buffer.transfer(0)
}

/** Each part is a turn of the thread of the service. */
const INFLATED_CHUNK_BYTES = 65_536
/** A byte of gzip inflates to about so many at most. */
const MOST_INFLATION = 1_032

/** The size that the last four bytes of gzip state; never more than the body can inflate to. */
const statedSize = (sent: Buffer): number =>
  sent.length < 18 ? 0 : Math.min(sent.readUInt32LE(sent.length - 4), sent.length * MOST_INFLATION)
