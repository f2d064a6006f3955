import { connect } from "node:net"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import { HttpServer } from "effect/http"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: unknown
}

export interface Ask {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Send the body in one chunk, without saying its length beforehand. */
  readonly chunked?: boolean
}

export const layerServer = NodeHttpServer.layerTest

const address = Effect.map(HttpServer.HttpServer, (server) => {
  if (server.address._tag === "UnixPathAddress") throw new Error("the test server listens on a port")
  return server.address
})

/** Writes the bytes of one request to the socket and reads the whole answer. */
export const ask = Effect.fn("ask")(function* (path: string, options: Ask = {}) {
  const { method = "GET", headers = {}, body = "", chunked = false } = options
  const { port } = yield* address
  const length = Buffer.byteLength(body)
  const fields: Record<string, string> = {
    host: "localhost",
    connection: "close",
    ...(length === 0 ? {} : { "content-type": "application/json" }),
    ...(chunked ? { "transfer-encoding": "chunked" } : length === 0 ? {} : { "content-length": String(length) }),
    ...headers
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const content = chunked ? `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body
  return yield* exchange(port, `${method} ${path} HTTP/1.1\r\n${head.join("")}\r\n${content}`)
})

const exchange = (port: number, request: string) =>
  Effect.callback<Answer, Error>((resume) => {
    const socket = connect(port, "127.0.0.1")
    const chunks: Array<Buffer> = []
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.on("end", () => resume(Effect.succeed(parse(Buffer.concat(chunks).toString("utf8")))))
    socket.end(request)
    return Effect.sync(() => socket.destroy())
  })

const parse = (answer: string): Answer => {
  const split = answer.indexOf("\r\n\r\n")
  const [statusLine = "", ...lines] = answer.slice(0, split).split("\r\n")
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    })
  )
  const raw = answer.slice(split + 4)
  const text = headers["transfer-encoding"] === "chunked" ? unchunk(raw) : raw
  return { status: Number(statusLine.split(" ")[1]), headers, text, json: jsonOf(text) }
}

const unchunk = (raw: string): string => {
  const end = raw.indexOf("\r\n")
  const size = Number.parseInt(raw.slice(0, end), 16)
  if (end === -1 || Number.isNaN(size) || size === 0) return ""
  const data = Buffer.from(raw.slice(end + 2), "utf8")
  return data.subarray(0, size).toString("utf8") + unchunk(data.subarray(size + 2).toString("utf8"))
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
