import { constants, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib"
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

/** How a body is compressed. */
export const contentCodings = ["gzip", "deflate", "zstd"] as const
export type ContentCoding = (typeof contentCodings)[number]

export interface BodyOptions {
  readonly coding: ContentCoding | undefined
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
  { coding, maxBytes, maxInflatedBytes }: BodyOptions
) {
  const sent = yield* receiveBody(body, maxBytes)
  return coding === undefined ? sent : yield* inflateBody(sent, coding, maxInflatedBytes)
})

/** When more bytes arrive, the rest of the body waits for its turn. */
export interface LargeBody<R> {
  readonly above: number
  readonly turn: Effect.Effect<void, never, R>
}

/** Reads a body as sent. `large` gives bodies of many bytes a turn before they are read further. */
export const receiveBody = Effect.fnUntraced(function* <E, R, R2 = never>(
  body: Stream.Stream<Uint8Array, E, R>,
  maxBytes: number,
  large?: LargeBody<R2>
) {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  let isLarge = false
  yield* Stream.runForEach(body, (chunk): Effect.Effect<void, BodyTooLarge, R2> => {
    bytes += chunk.length
    if (bytes > maxBytes) return Effect.fail(new BodyTooLarge({ measured: "sent", limitBytes: maxBytes }))
    chunks.push(chunk)
    if (large === undefined || isLarge || bytes <= large.above) return Effect.void
    isLarge = true
    return large.turn
  })
  return Buffer.concat(chunks, bytes)
})

/**
 * Inflates a body, on a thread of zlib and not on the thread of the service. The parts go into one buffer, so memory
 * never has the body twice: it has the size that gzip states at its end, and grows where that is not true.
 */
export const inflateBody = (sent: Buffer, coding: ContentCoding, maxBytes: number) =>
  Effect.callback<Buffer, BodyTooLarge | BodyMalformed>((resume) => {
    const stream = inflater(coding, sent)
    let inflated = Buffer.allocUnsafeSlow(coding === "gzip" ? Math.min(statedSize(sent), maxBytes) : 0)
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
      // zlib takes a new buffer after a full one.
      if (chunk.length === chunk.buffer.byteLength) releaseBody(chunk)
    })
    stream.once("end", () => end(Effect.succeed(inflated.subarray(0, bytes))))
    stream.once("error", () => end(Effect.fail(new BodyMalformed({ why: `it is not ${coding}` }))))
    stream.end(sent)
    return Effect.sync(() => void stream.destroy())
  })

const inflater = (coding: ContentCoding, sent: Buffer) => {
  const options = { chunkSize: INFLATED_CHUNK_BYTES }
  switch (coding) {
    case "gzip":
      return createGunzip(options)
    case "deflate":
      // The name stands for the format of zlib, and some clients send the data of it alone.
      return isZlib(sent) ? createInflate(options) : createInflateRaw(options)
    case "zstd":
      return createZstdDecompress({ ...options, params: { [constants.ZSTD_d_windowLogMax]: MOST_WINDOW_LOG } })
  }
}

/** The two bytes before a body of zlib: the method, and a check of both. */
const isZlib = (sent: Buffer): boolean =>
  sent.length >= 2 && ((sent[0] ?? 0) & 0x0f) === 8 && sent.readUInt16BE(0) % 31 === 0

/** The memory that a body of zstd may have for what it refers back to: 8 MiB, as encoders need at usual levels. */
const MOST_WINDOW_LOG = 23

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
