import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { assert, it, layer } from "@effect/vitest"
import { listening } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { call, descriptor, layerTestService } from "../support/HttpService.ts"

layer(layerTestService(), { excludeTestServices: true })("the HTTP face", (it) => {
  it.effect("answers 404 for unknown routes in its own form", () =>
    Effect.gen(function* () {
      for (const [method, path] of [
        ["GET", "/nowhere"],
        ["GET", "/docs"],
        ["GET", "/docs-json"]
      ] as const) {
        const { body, status } = yield* call(method, path)
        assert.strictEqual(status, 404)
        assert.deepInclude(body, { statusCode: 404, errorCode: "NOT_FOUND", message: `Cannot ${method} ${path}` })
      }
    })
  )

  for (const route of ["messages", "signal", "context"]) {
    it.effect(`answers 410 for the removed POST /runs/:id/${route}`, () =>
      Effect.gen(function* () {
        const removed = yield* call("POST", `/runs/${randomUUID()}/${route}`, { body: { any: "thing" } })
        assert.strictEqual(removed.status, 410)
        assert.strictEqual(removed.body.errorCode, "ENDPOINT_REMOVED")
        assert.include(removed.body.message, `POST /runs/:id/${route} has been removed`)
        const malformed = yield* call("POST", `/runs/nope/${route}`)
        assert.strictEqual(malformed.status, 400)
      })
    )
  }

  it.effect("refuses a body that is not JSON or too large", () =>
    Effect.gen(function* () {
      const broken = yield* call("POST", "/runs", { body: "{nope" })
      assert.strictEqual(broken.status, 400)
      assert.strictEqual(broken.body.errorCode, "VALIDATION_ERROR")
      const large = yield* call("POST", "/runs", { body: JSON.stringify({ x: "x".repeat(1_100_000) }) })
      assert.strictEqual(large.status, 413)
      assert.strictEqual(large.body.errorCode, "PAYLOAD_TOO_LARGE")
    })
  )

  it.effect("stores and returns any text that the database can hold as it is", () =>
    Effect.gen(function* () {
      const metadata = { odd: "bell \u0007 line\r\n\uFFFD emoji 🎈", __proto__x: 1, nested: [{ a: null }] }
      const { body, status, text } = yield* call("POST", "/runs", {
        body: descriptor({ session: { metadata }, execution: { tags: ["\uFFFD", "%_\\"] } })
      })
      assert.strictEqual(status, 202, text)
      const read = yield* call("GET", `/runs/${body.runId}`)
      assert.deepInclude(read.body.metadata, metadata)
      assert.includeMembers(read.body.tags, ["\uFFFD", "%_\\"])
    })
  )
})

layer(layerTestService({ settings: { AUTH_API_KEYS: "alpha,beta" } }), { excludeTestServices: true })(
  "the HTTP face with keys",
  (it) => {
    it.effect("lets only the probes and the metrics pass without one", () =>
      Effect.gen(function* () {
        for (const path of ["/healthz", "/readyz", "/metrics"]) {
          assert.strictEqual((yield* call("GET", path)).status, 200)
        }
        const id = randomUUID()
        for (const path of ["/runs", `/runs/${id}`, `/runs/${id}/stream`, `/runs/${id}/events`, "/runtime/policies"]) {
          const { body, status } = yield* call("GET", path)
          assert.strictEqual(status, 401)
          assert.strictEqual(body.errorCode, "UNAUTHENTICATED")
        }
        const answer = yield* call("GET", "/runs", { headers: { authorization: "Bearer beta" } })
        assert.strictEqual(answer.status, 200)
      })
    )
  }
)

layer(layerTestService({ settings: { NODE_ENV: "development" } }), { excludeTestServices: true })(
  "the HTTP face in development",
  (it) => {
    it.effect("serves its documentation", () =>
      Effect.gen(function* () {
        const { body, status } = yield* call("GET", "/docs-json")
        assert.strictEqual(status, 200)
        assert.property(body.paths, "/runs/{id}/stream")
        const page = yield* call("GET", "/docs")
        assert.strictEqual(page.status, 200)
        // It has to work without any network.
        const loads = page.text.matchAll(/<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="([^"]*)"/g)
        for (const [, address] of loads) assert.match(address ?? "", /^data:/)
        assert.notMatch(page.text.slice(0, page.text.indexOf("<script")), /@import|url\((?!["']?data:)/)
      })
    )
  }
)

it.effect("says which port it cannot have", () =>
  Effect.gen(function* () {
    const server = createServer()
    const port = yield* listening(server)
    const error = yield* Effect.flip(Effect.scoped(Layer.build(layerTestService({ port }))))
    assert.strictEqual(error._tag, "ListenFailed")
    assert.strictEqual(error.message, `cannot listen on 127.0.0.1:${port}: the port is in use`)
  })
)
