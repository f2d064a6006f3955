import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { HttpObserver } from "../../src/index.ts"
import { type Ask, ask, layerServer } from "../support/Ask.ts"
import { descriptor, fakeControlPlane, RUN_ID, Seen } from "../support/FakeControlPlane.ts"

const server = (env: Readonly<Record<string, string>>) =>
  fakeControlPlane({ THROTTLE_LIMIT: "100000", ...env }).pipe(
    Layer.provideMerge(layerServer),
    Layer.provide(Layer.succeed(HttpObserver, { observe: () => Effect.void }))
  )

const post = (body: unknown) => ({ method: "POST", body: JSON.stringify(body) })

const KEYS = { AUTH_API_KEYS: " first-key , second-key,,", AUTH_API_KEY_NAMES: ",ops" }

layer(server(KEYS), { excludeTestServices: true })("with API keys", (it) => {
  const refused = (headers: Readonly<Record<string, string>>, message: string) =>
    Effect.gen(function* () {
      const answer = yield* ask("/runs", { headers })
      assert.strictEqual(answer.status, 401)
      assert.deepStrictEqual(answer.json, {
        statusCode: 401,
        errorCode: "UNAUTHENTICATED",
        message,
        error: "Unauthorized"
      })
      assert.match(answer.headers["x-ratelimit-counts"] ?? "", /^requests of (127\.0\.0\.1|::\/64), /)
    })

  it.effect("names the fault of the Authorization header", () =>
    Effect.gen(function* () {
      yield* refused({}, "Missing Authorization header")
      yield* refused({ authorization: "Bearer " }, "Empty authorization token")
      yield* refused({ authorization: "Bearer nope" }, "Invalid authorization token")
      yield* refused({ authorization: "bearer first-key" }, "Invalid authorization token")
      yield* refused({ authorization: "Bearer first-ke" }, "Invalid authorization token")
    })
  )

  it.effect("takes a bearer token or the bare key, and names the actor by a hash, or by its name", () =>
    Effect.gen(function* () {
      for (const authorization of ["Bearer first-key", "first-key"]) {
        const answer = yield* ask("/runs", { ...post(descriptor), headers: { authorization } })
        assert.strictEqual(answer.status, 202)
      }
      const actors = (yield* Seen).actors
      assert.match(actors.at(-1)?.actorId ?? "", /^key:[0-9a-f]{8}$/)
      assert.deepStrictEqual(actors.at(-1), actors.at(-2))
      yield* ask("/runs", { ...post(descriptor), headers: { authorization: "Bearer second-key" } })
      assert.deepStrictEqual((yield* Seen).actors.at(-1), { actorId: "ops", actorType: "api-key", role: "admin" })
    })
  )

  it.effect("lets probes, metrics and unknown routes through without a key", () =>
    Effect.gen(function* () {
      for (const path of ["/healthz", "/readyz", "/metrics"]) assert.strictEqual((yield* ask(path)).status, 200)
      assert.strictEqual((yield* ask("/nope")).status, 404)
    })
  )
})

layer(server({ THROTTLE_LIMIT: "2", TRUST_PROXY: "true" }), { excludeTestServices: true })(
  "with a small budget",
  (it) => {
    it.effect("counts all routes of a client together, answers 429, and leaves probes alone", () =>
      Effect.gen(function* () {
        const headers = { "x-forwarded-for": "6.6.6.6, 1.2.3.4" }
        const first = yield* ask("/runs", { headers })
        assert.strictEqual(first.headers["x-ratelimit-limit"], "2")
        assert.strictEqual(first.headers["x-ratelimit-remaining"], "1")
        assert.strictEqual(first.headers["x-ratelimit-reset"], "60")
        assert.strictEqual(first.headers["x-ratelimit-counts"], "requests of 1.2.3.4, 60 s, this process")
        assert.strictEqual((yield* ask("/runs/42", { headers })).headers["x-ratelimit-remaining"], "0")
        const third = yield* ask(`/runs/${RUN_ID}`, { headers })
        assert.strictEqual(third.status, 429)
        assert.strictEqual(third.headers["retry-after"], "60")
        assert.deepStrictEqual(third.json, {
          statusCode: 429,
          errorCode: "INTERNAL_ERROR",
          message: "ThrottlerException: Too Many Requests"
        })
        assert.strictEqual((yield* ask("/healthz", { headers })).status, 200)
        assert.strictEqual((yield* ask("/metrics", { headers })).status, 200)
        const other = yield* ask("/runs", { headers: { "x-forwarded-for": "6.6.6.6, 1.2.3.5" } })
        assert.strictEqual(other.status, 200)
      })
    )
  }
)

layer(
  server({ THROTTLE_LIMIT: "2", TRUST_PROXY: "1", AUTH_API_KEYS: "right,reader", AUTH_API_KEY_ROLES: "admin,viewer" }),
  {
    excludeTestServices: true
  }
)("a budget with keys", (it) => {
  const statusOf = (address: string, key?: string, call: Ask = {}) =>
    Effect.map(
      ask("/runs", {
        ...call,
        headers: { "x-forwarded-for": address, ...(key !== undefined && { authorization: `Bearer ${key}` }) }
      }),
      ({ status }) => status
    )

  it.effect("counts the refused requests of an address, and never refuses the right key for them", () =>
    Effect.gen(function* () {
      for (const status of [401, 401, 429, 429]) assert.strictEqual(yield* statusOf("6.6.6.6"), status)
      assert.strictEqual(yield* statusOf("6.6.6.6", "guess"), 429)
      assert.strictEqual(yield* statusOf("6.6.6.6", "right"), 200)
      assert.strictEqual(yield* statusOf("7.7.7.7"), 401)
      assert.strictEqual(yield* statusOf("6.6.6.6", "right"), 200)
      assert.strictEqual(yield* statusOf("6.6.6.6", "right"), 429)
    })
  )

  it.effect("counts requests that the role of a key does not allow in the budget of the key", () =>
    Effect.gen(function* () {
      const create = { ...post(descriptor) }
      for (const status of [403, 403, 429]) assert.strictEqual(yield* statusOf("6.6.6.6", "reader", create), status)
      assert.strictEqual(yield* statusOf("8.8.8.8", "reader"), 429)
    })
  )

  it.effect("is one for an address in every form that a proxy writes", () =>
    Effect.gen(function* () {
      for (const forms of [
        ["203.0.113.7:40001", "203.0.113.7:40002", "203.0.113.7", "[::ffff:203.0.113.7]:9"],
        ["2001:db8::1", "[2001:DB8:0::1]:443", "[2001:db8::2]", "2001:db8::ffff:1%eth0"],
        ["unknown", "_hidden", "guess-1", "1.2.3.4.5"]
      ]) {
        const statuses = yield* Effect.forEach(forms, (form) => statusOf(`9.9.9.9, ${form}`))
        assert.deepStrictEqual(statuses, [401, 401, 429, 429], forms.join(" "))
      }
    })
  )
})

layer(server({ THROTTLE_LIMIT: "1", THROTTLE_SCOPE: "route" }), { excludeTestServices: true })(
  "with a budget a route",
  (it) => {
    it.effect("counts each route of a client for itself", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* ask("/runs")).status, 200)
        assert.strictEqual((yield* ask(`/runs/${RUN_ID}`)).status, 200)
        assert.strictEqual((yield* ask("/runs/42")).status, 429)
        assert.strictEqual((yield* ask("/runs?limit=1")).status, 429)
      })
    )
  }
)
