import { connect } from "node:net"
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** A request byte for byte: what HTTP clients refuse to send can be sent. */
export interface WireRequest {
  /** Request line and headers, one byte a character; without the empty line. */
  readonly head: string
  readonly body?: Buffer | string
  /** The bytes are not a whole request: the client leaves in the middle of it. */
  readonly leaves?: boolean
}

export interface WireAnswer {
  readonly status: number
  /** By lower-case name; of a name that comes twice, the last. */
  readonly headers: Readonly<Record<string, string>>
  /** The body without its transfer coding. */
  readonly bytes: Buffer
  /** The body without its content coding; a coded body that is cut stays as it is. */
  readonly text: string
  /** The server hung up before the end that it had announced: the last chunk, or the length. */
  readonly isCut: boolean
  /** The text parsed, undefined when it is not JSON; of the parser's type, so that tests can read its fields. */
  readonly json: ReturnType<typeof JSON.parse>
}

/** The connection failed before an answer came. */
export class ExchangeFailed extends Data.TaggedError("ExchangeFailed")<{ readonly message: string }> {}

const HEAD_END = "\r\n\r\n"

/** Milliseconds of silence after which an answer no longer counts as under way; longer than any test lasts. */
const SILENCE_LIMIT_MS = 120_000

/**
 * Sends the bytes over a connection of its own and returns the answer until the server closes; undefined when it closes
 * without an answer. Of an event stream only the head is awaited, then the client closes.
 */
export const exchange = (
  port: number,
  { body = "", head, leaves = false }: WireRequest
): Effect.Effect<WireAnswer | undefined, ExchangeFailed> =>
  Effect.callback((resume) => {
    const socket = connect({ host: "127.0.0.1", port })
    const chunks: Array<Buffer> = []
    let failure: NodeJS.ErrnoException | undefined
    let opened = false
    socket.setTimeout(SILENCE_LIMIT_MS, () => socket.destroy(new Error(`no answer within ${SILENCE_LIMIT_MS} ms`)))
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      if (opened) return
      const answer = answerIn(Buffer.concat(chunks))
      if (answer === undefined) return
      opened = true
      const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true
      if (isStream && answer.status < 400) socket.destroy()
    })
    socket.on("error", (error) => {
      failure = error
    })
    socket.on("close", () => {
      const answer = answerIn(Buffer.concat(chunks))
      // The server may close its side while we still write: what it said before counts.
      const hungUp = failure === undefined || ["ECONNRESET", "EPIPE"].includes(failure.code ?? "")
      if (answer !== undefined || hungUp) resume(Effect.succeed(answer))
      else resume(Effect.fail(new ExchangeFailed({ message: failure?.message ?? "" })))
    })
    socket.write(Buffer.concat([Buffer.from(`${head}${HEAD_END}`, "latin1"), Buffer.from(body)]))
    if (leaves) socket.end()
    return Effect.sync(() => socket.destroy())
  })

const answerIn = (bytes: Buffer): WireAnswer | undefined => {
  const end = bytes.indexOf(HEAD_END)
  if (end < 0) return undefined
  const [statusLine = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n")
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1])
  const rest = bytes.subarray(end + HEAD_END.length)
  // The permission to go on sending comes before the answer.
  if (status < 200) return answerIn(rest)
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    })
  )
  const length = Number(headers["content-length"] ?? rest.length)
  const { bytes: body, isCut } =
    headers["transfer-encoding"] === "chunked" ? unchunked(rest) : { bytes: rest, isCut: rest.length < length }
  const text = decoded(body, headers["content-encoding"], isCut).toString("utf8")
  return { status, headers, bytes: body, text, isCut, json: jsonOf(text) }
}

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  deflate: inflateSync
}

const decoded = (bytes: Buffer, coding: string | undefined, isCut: boolean): Buffer => {
  const decode = coding === undefined || isCut || bytes.length === 0 ? undefined : DECODERS[coding]
  return decode === undefined ? bytes : decode(bytes)
}

const unchunked = (bytes: Buffer) => {
  const parts: Array<Buffer> = []
  let isCut = true
  let at = 0
  while (at < bytes.length) {
    const lineEnd = bytes.indexOf("\r\n", at)
    if (lineEnd < 0) break
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16)
    isCut = size !== 0
    if (!(size > 0)) break
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return { bytes: Buffer.concat(parts), isCut }
}

const jsonOf = (text: string): ReturnType<typeof JSON.parse> => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
