import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { exchange } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { HttpServer } from "effect/http"

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

/** One request of the edge under test, byte by byte, and the whole answer. */
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
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  const content = chunked ? `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body
  const answer = yield* exchange(port, { head: [`${method} ${path} HTTP/1.1`, ...lines].join("\r\n"), body: content })
  return answer ?? (yield* Effect.die("the server hung up without an answer"))
})
