import { assert, layer } from "@effect/vitest"
import { exchange } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { baseUrl, layerTestService } from "../support/HttpService.ts"

const END = "connection: close"

/** Bytes that never become a request, or only an odd one. */
const cases: ReadonlyArray<
  readonly [what: string, head: ReadonlyArray<string>, body: string, status: number, errorCode: string | undefined]
> = [
  ["no request line", ["nonsense"], "", 400, "VALIDATION_ERROR"],
  ["another version of HTTP", ["GET /healthz HTTP/9.9", "host: a", END], "", 400, "VALIDATION_ERROR"],
  ["a header name with a space", ["GET /healthz HTTP/1.1", "host: a", "bad name: x", END], "", 400, "VALIDATION_ERROR"],
  ["a NUL in a header", ["GET /healthz HTTP/1.1", "host: a", "x: a\u0000b", END], "", 400, "VALIDATION_ERROR"],
  [
    "a head of 20 kB",
    ["GET /healthz HTTP/1.1", "host: a", `x: ${"x".repeat(20_000)}`, END],
    "",
    431,
    "PAYLOAD_TOO_LARGE"
  ],
  [
    "a broken chunk",
    ["POST /runs HTTP/1.1", "host: a", "content-type: application/json", "transfer-encoding: chunked", END],
    "zz\r\nx\r\n",
    400,
    "VALIDATION_ERROR"
  ],
  ["an expectation of its own", ["GET /healthz HTTP/1.1", "host: a", "expect: x", END], "", 417, "VALIDATION_ERROR"],
  ["no host", ["GET /healthz HTTP/1.1", END], "", 200, undefined],
  [
    "the wish for another protocol",
    ["GET /healthz HTTP/1.1", "host: a", "upgrade: h2c", "connection: upgrade, close"],
    "",
    200,
    undefined
  ]
]

// docs/reference/errors.md#error-texts
layer(layerTestService(), { excludeTestServices: true })("the server", (it) => {
  for (const [what, head, body, status, errorCode] of cases) {
    it.effect(`answers ${what} with ${status}, in the form of the service`, () =>
      Effect.gen(function* () {
        const port = Number(new URL(yield* baseUrl).port)
        const answer = yield* exchange(port, { head: head.join("\r\n"), body })
        assert.strictEqual(answer?.status, status)
        assert.match(answer?.headers["content-type"] ?? "", /^application\/json/)
        assert.strictEqual(answer?.json.errorCode, errorCode)
        if (errorCode !== undefined) assert.strictEqual(answer?.json.statusCode, status)
        assert.strictEqual(answer?.headers["x-content-type-options"], "nosniff")
      })
    )
  }
})
