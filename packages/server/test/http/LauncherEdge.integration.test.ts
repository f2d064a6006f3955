import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ask, layerServer } from "../support/Ask.ts"
import { compiled, fakeLauncher } from "../support/FakeLauncher.ts"

const server = (env: Readonly<Record<string, string>> = {}) => fakeLauncher(env).pipe(Layer.provideMerge(layerServer))

const missing = {
  message: ["scenarioRef should not be empty", "scenarioRef must be a string", "inputs must be an object"],
  error: "Bad Request",
  statusCode: 400
}

layer(server(), { excludeTestServices: true })("the launch service's edge", (it) => {
  it.effect("answers unknown routes in the framework's form", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/packs", { method: "DELETE" })
      assert.strictEqual(answer.status, 404)
      assert.strictEqual(answer.text, '{"message":"Cannot DELETE /packs","error":"Not Found","statusCode":404}')
    })
  )

  it.effect("lists the texts of a malformed body, without a code", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/launch/compile", { method: "POST", body: "{}" })
      assert.strictEqual(answer.status, 400)
      assert.deepStrictEqual(answer.json, missing)
    })
  )

  it.effect("takes no body, another type and an array for an empty object", () =>
    Effect.gen(function* () {
      const type = (contentType: string) => ({ headers: { "content-type": contentType } })
      for (const request of [{}, { body: "a=b", ...type("text/plain") }, { body: "[]" }, { ...type("text/plain") }]) {
        const answer = yield* ask("/launch/compile", { method: "POST", ...request })
        assert.deepStrictEqual([answer.status, answer.json], [400, missing])
      }
    })
  )

  it.effect("explains why a body is not JSON, as one text", () =>
    Effect.gen(function* () {
      for (const body of ["{", '"text"', "7"]) {
        const answer = yield* ask("/launch/compile", { method: "POST", body })
        assert.strictEqual(answer.status, 400)
        assert.match(answer.text, /^\{"message":"[^[].*JSON.*","error":"Bad Request","statusCode":400\}$/)
      }
    })
  )

  it.effect("refuses inputs that would not be read as they were sent, and names the field", () =>
    Effect.gen(function* () {
      const body = '{"scenarioRef":"a/b@1.0.0","inputs":{"account":653247040368672769}}'
      const message = "inputs.account must not be 653247040368672769: a double cannot hold it, write it as text"
      for (const path of ["/launch/compile", "/examples/run"]) {
        const answer = yield* ask(path, { method: "POST", body })
        assert.deepStrictEqual([answer.status, answer.json], [400, { message, error: "Bad Request", statusCode: 400 }])
      }
    })
  )

  it.effect("answers a body over one mebibyte with 413 in the framework's form", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ scenarioRef: "x".repeat(1_100_000), inputs: {} })
      const answer = yield* ask("/launch/compile", { method: "POST", body, chunked: true })
      assert.strictEqual(answer.status, 413)
      assert.deepInclude(answer.json, { error: "Payload Too Large", statusCode: 413 })
    })
  )

  it.effect("raises its own errors with a code, and metadata when there is some", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* ask("/packs/x/scenarios")).json, {
        statusCode: 404,
        errorCode: "PACK_NOT_FOUND",
        message: "pack not found: x"
      })
      const body = JSON.stringify({ scenarioRef: "a/b@1", inputs: { broken: true } })
      assert.deepStrictEqual((yield* ask("/launch/compile", { method: "POST", body })).json, {
        statusCode: 400,
        errorCode: "VALIDATION_ERROR",
        message: "Input validation failed",
        metadata: { errors: [{ keyword: "type" }] }
      })
    })
  )

  it.effect("answers both POST routes with 201", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ scenarioRef: "a/b@1", inputs: {}, submit: false })
      const compile = yield* ask("/launch/compile", { method: "POST", body })
      assert.deepStrictEqual([compile.status, compile.json], [201, compiled])
      const run = yield* ask("/examples/run", { method: "POST", body })
      assert.deepStrictEqual([run.status, run.json], [201, { compiled, hostedAgents: [] }])
    })
  )

  it.effect("answers a fault with 500 INTERNAL_ERROR", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/packs/a/scenarios/b/versions/1/launch-schema")
      assert.strictEqual(answer.status, 500)
      assert.deepInclude(answer.json, { errorCode: "INTERNAL_ERROR", message: "Internal server error" })
    })
  )
})

layer(server({ AUTH_API_KEYS: "k1,k2", THROTTLE_LIMIT: "3" }), { excludeTestServices: true })(
  "the launch service with keys",
  (it) => {
    it.effect("guards everything, the probe included, and counts a right key apart from the address", () =>
      Effect.gen(function* () {
        const refused = yield* ask("/healthz")
        assert.strictEqual(refused.status, 401)
        assert.deepStrictEqual(refused.json, {
          message: "Invalid or missing API key",
          error: "Unauthorized",
          statusCode: 401
        })
        assert.strictEqual(refused.headers["x-ratelimit-remaining"], "2")
        const headers = { "x-api-key": "k2" }
        assert.deepStrictEqual((yield* ask("/healthz", { headers })).json, { ok: true, service: "launcher" })
        assert.strictEqual((yield* ask("/packs", { headers: { "x-api-key": "k" } })).status, 401)
        const second = yield* ask("/packs", { headers })
        assert.deepStrictEqual([second.status, second.headers["x-ratelimit-remaining"]], [200, "1"])
        assert.strictEqual((yield* ask("/agents", { headers })).status, 200)
        const over = yield* ask("/scenarios", { headers })
        assert.strictEqual(over.status, 429)
        assert.deepStrictEqual(over.json, {
          statusCode: 429,
          errorCode: "INTERNAL_ERROR",
          message: "ThrottlerException: Too Many Requests"
        })
        assert.strictEqual((yield* ask("/packs", { headers: { "x-api-key": "k1" } })).status, 200)
        assert.strictEqual((yield* ask("/nope")).status, 404)
      })
    )
  }
)
