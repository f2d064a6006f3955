import { connect } from "node:net"

/** A request byte for byte: what HTTP clients refuse to send can be sent. */
export interface WireRequest {
  /** Request line and headers, one byte a character; without the empty line. */
  readonly head: string
  readonly body: Buffer
  /** Whether the bytes are a whole request; otherwise the client leaves in the middle of it. */
  readonly complete: boolean
}

export interface WireAnswer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const HEAD_END = "\r\n\r\n"

/** Milliseconds in which an answer must have come. */
const ANSWER_LIMIT_MS = 20_000

/**
 * Sends the bytes over a connection of its own and answers with what comes back; undefined when the server hangs up without a word.
 * Of an event stream only the head is awaited, then the client leaves.
 */
export const exchange = (port: number, request: WireRequest): Promise<WireAnswer | undefined> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port })
    const chunks: Array<Buffer> = []
    let failure: Error | undefined
    let opened = false
    socket.setTimeout(ANSWER_LIMIT_MS, () => {
      failure = new Error(`no whole answer within ${ANSWER_LIMIT_MS} ms`)
      socket.destroy()
    })
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      if (opened) return
      const answer = parseAnswer(Buffer.concat(chunks))
      if (answer === undefined) return
      opened = true
      const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true
      if (isStream && answer.status < 400) socket.destroy()
    })
    // The server may close its side while we still write: what it said before counts.
    socket.on("error", (error) => {
      failure ??= error
    })
    socket.on("close", () => {
      const answer = parseAnswer(Buffer.concat(chunks))
      const hungUp =
        failure === undefined || ("code" in failure && ["ECONNRESET", "EPIPE"].includes(String(failure.code)))
      if (answer !== undefined || hungUp) resolve(answer)
      else reject(failure)
    })
    socket.write(Buffer.concat([Buffer.from(`${request.head}${HEAD_END}`, "latin1"), request.body]))
    if (!request.complete) socket.end()
  })

const parseAnswer = (bytes: Buffer): WireAnswer | undefined => {
  const end = bytes.indexOf(HEAD_END)
  if (end < 0) return undefined
  const [statusLine = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n")
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1])
  const rest = bytes.subarray(end + HEAD_END.length)
  if (status < 200) return parseAnswer(rest)
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
    })
  )
  const chunked = headers.get("transfer-encoding") === "chunked"
  return { status, headers, body: (chunked ? unchunked(rest) : rest).toString("utf8") }
}

const unchunked = (bytes: Buffer): Buffer => {
  const parts: Array<Buffer> = []
  let at = 0
  while (at < bytes.length) {
    const lineEnd = bytes.indexOf("\r\n", at)
    if (lineEnd < 0) break
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16)
    if (!(size > 0)) break
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
  return Buffer.concat(parts)
}
