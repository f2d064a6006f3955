import { assert, layer } from "@effect/vitest"
import { exchange } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { layerWorld, World } from "./World.ts"

const END = "connection: close"

interface Case {
  readonly what: string
  readonly head: ReadonlyArray<string>
  readonly body?: string
  readonly status: number
  readonly error?: string
}

const post = ["POST /launch/compile HTTP/1.1", "host: a", "content-type: application/json", END]

/** Bytes that never become a request, or only an odd one. */
const cases: ReadonlyArray<Case> = [
  { what: "no request line", head: ["nonsense"], status: 400, error: "Bad Request" },
  {
    what: "another version of HTTP",
    head: ["GET /healthz HTTP/9.9", "host: a", END],
    status: 400,
    error: "Bad Request"
  },
  {
    what: "a header name with a space",
    head: ["GET /healthz HTTP/1.1", "host: a", "bad name: x", END],
    status: 400,
    error: "Bad Request"
  },
  { what: "a NUL in a header", head: ["GET /healthz HTTP/1.1", "x: a\u0000b", END], status: 400, error: "Bad Request" },
  {
    what: "a head of 20 kB",
    head: ["GET /healthz HTTP/1.1", `x: ${"x".repeat(20_000)}`, END],
    status: 431,
    error: "Request Header Fields Too Large"
  },
  {
    what: "a broken chunk",
    head: [...post, "transfer-encoding: chunked"],
    body: "zz\r\nx\r\n",
    status: 400,
    error: "Bad Request"
  },
  { what: "a length that is none", head: [...post, "content-length: x"], status: 400, error: "Bad Request" },
  {
    what: "an expectation of its own",
    head: ["GET /healthz HTTP/1.1", "expect: x", END],
    status: 417,
    error: "Expectation Failed"
  },
  {
    what: "an expectation of its own before a broken chunk, once,",
    head: [...post, "expect: x", "transfer-encoding: chunked"],
    body: "zz\r\nx\r\n",
    status: 417,
    error: "Expectation Failed"
  },
  {
    what: "an unknown route before a broken chunk, once,",
    head: ["POST /nowhere HTTP/1.1", "host: a", END, "transfer-encoding: chunked"],
    body: "1\r\nx\r\nzz\r\nx\r\n",
    status: 404,
    error: "Not Found"
  },
  { what: "no host", head: ["GET /healthz HTTP/1.1", END], status: 200 },
  {
    what: "the wish for another protocol",
    head: ["GET /healthz HTTP/1.1", "upgrade: h2c", "connection: upgrade, close"],
    status: 200
  },
  {
    what: "a chunked body over the limit",
    head: [...post, "transfer-encoding: chunked"],
    body: `10c8e0\r\n"${"x".repeat(0x10c8df)}\r\n0\r\n\r\n`,
    status: 413,
    error: "Payload Too Large"
  }
]

layer(layerWorld(), { excludeTestServices: true })("the server", (it) => {
  for (const { body, error, head, status, what } of cases) {
    it.effect(`answers ${what} with ${status}, in the framework's form`, () =>
      Effect.gen(function* () {
        const { port } = yield* World
        const answer = yield* exchange(port, { head: head.join("\r\n"), ...(body !== undefined && { body }) })
        assert.strictEqual(answer?.status, status)
        const said = answer?.json
        if (error === undefined) return assert.isTrue(said.ok)
        assert.deepStrictEqual(said, { message: said.message, error, statusCode: status })
        assert.isString(said.message)
      })
    )
  }
})
