import { assert, layer } from "@effect/vitest"
import type { Actor } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import { Tickets } from "../../src/index.ts"
import { ask, layerServer } from "../support/Ask.ts"
import { descriptor, fakeControlPlane, RUN_ID, Seen } from "../support/FakeControlPlane.ts"
import { fakeLauncher } from "../support/FakeLauncher.ts"

const logged: Array<string> = []

const layerLog = Layer.merge(
  Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]),
  Layer.succeed(References.MinimumLogLevel, "Debug")
)

const holder: Actor = { actorId: "ops", actorType: "api-key", role: "viewer" }
const used = new Set<string>()
const layerTickets = Layer.succeed(Tickets, {
  find: (ticket, runId) =>
    Effect.sync(() => (/^good|^rival/.test(ticket) && runId === RUN_ID && !used.has(ticket) ? holder : undefined)),
  // Another request uses the ticket `rival` up in between.
  redeem: (ticket) =>
    Effect.sync(() => {
      const isFirst = ticket !== "rival" && !used.has(ticket)
      used.add(ticket)
      return isFirst ? holder : undefined
    })
})

const server = (env: Readonly<Record<string, string>> = {}) =>
  fakeControlPlane({ THROTTLE_LIMIT: "100000", ...env }).pipe(
    Layer.provideMerge(layerServer),
    Layer.provide([layerLog, layerTickets])
  )

const create = { method: "POST", body: JSON.stringify(descriptor) }

layer(server(), { excludeTestServices: true })("a control plane without keys", (it) => {
  it.effect("refuses what a page of another site sends, and runs nothing for it", () =>
    Effect.gen(function* () {
      const before = (yield* Seen).descriptors.length
      const evil = yield* ask("/runs", { ...create, headers: { origin: "https://evil.example" } })
      assert.strictEqual(evil.status, 403)
      assert.deepInclude(evil.json, { statusCode: 403, errorCode: "FORBIDDEN" })
      const rebound = yield* ask("/runs", { headers: { host: "evil.example:3001" } })
      assert.strictEqual(rebound.status, 403)
      assert.include(rebound.text, "ALLOWED_HOSTS")
      assert.strictEqual((yield* Seen).descriptors.length, before)
      const console = yield* ask("/runs", { ...create, headers: { origin: "http://localhost:3000" } })
      assert.strictEqual(console.status, 202)
    })
  )

  it.effect("does not take a body without a content type for JSON", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/runs", { ...create, headers: { "content-type": "" } })
      assert.strictEqual(answer.status, 415)
      assert.deepInclude(answer.json, { errorCode: "UNSUPPORTED_MEDIA_TYPE" })
    })
  )

  it.effect("has headers on every answer that restrict browsers", () =>
    Effect.gen(function* () {
      for (const [path, options] of [
        ["/runs", {}],
        ["/nope", {}],
        ["/runs", { method: "OPTIONS" }]
      ] as const) {
        const { headers } = yield* ask(path, options)
        assert.strictEqual(headers["x-content-type-options"], "nosniff", path)
        assert.strictEqual(headers["x-frame-options"], "DENY", path)
        assert.include(headers["content-security-policy"] ?? "", "default-src 'none'", path)
      }
      assert.strictEqual((yield* ask("/runs")).headers["cache-control"], "no-store")
    })
  )

  it.effect("refuses a body of a declared length beyond the limit before it arrives", () =>
    Effect.gen(function* () {
      const headers = { "content-type": "application/json", "content-length": "50000000" }
      const answer = yield* ask("/runs", { method: "POST", headers })
      assert.strictEqual(answer.status, 413)
      assert.deepInclude(answer.json, { errorCode: "PAYLOAD_TOO_LARGE" })
    })
  )

  it.effect("reads the numbers of a query as JSON writes them", () =>
    Effect.gen(function* () {
      for (const limit of ["0x10", "%207", "7%20", "+7", "07", "1e1000"]) {
        assert.strictEqual((yield* ask(`/runs?limit=${limit}`)).status, 400, limit)
      }
      assert.strictEqual((yield* ask("/runs?limit=1e1")).status, 200)
    })
  )

  it.effect("keeps queries out of the log", () =>
    Effect.gen(function* () {
      logged.length = 0
      yield* ask("/runs?search=hunter2")
      assert.isTrue(logged.some((line) => line.includes("GET /runs 200")))
      assert.isFalse(logged.some((line) => line.includes("hunter2")))
    })
  )

  it.effect("makes every caller an administrator", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* ask("/me")).json, {
        id: "anonymous",
        name: "anonymous",
        type: "anonymous",
        role: "admin",
        runtimeIdentity: "macp-control-plane"
      })
    })
  )
})

const KEYS = {
  AUTH_API_KEYS: "reader,doer,owner,old",
  AUTH_API_KEY_NAMES: "ann,bob,cleo",
  AUTH_API_KEY_ROLES: "viewer,operator,admin",
  AUTH_FAILURE_LIMIT: "3",
  TRUST_PROXY: "1"
}

const as = (key: string) => ({ headers: { "x-api-key": key } })

layer(server(KEYS), { excludeTestServices: true })("keys with roles", (it) => {
  it.effect("let each do what its role may, and name the role that is missing", () =>
    Effect.gen(function* () {
      const statusOf = (key: string, path: string, method = "GET", body = "") =>
        Effect.map(ask(path, { method, body, ...as(key) }), ({ status }) => status)
      for (const key of ["reader", "doer", "owner", "old"]) assert.strictEqual(yield* statusOf(key, "/runs"), 200)
      const cancel = `/runs/${RUN_ID}/cancel`
      assert.strictEqual(yield* statusOf("doer", cancel, "POST"), 201)
      assert.strictEqual(yield* statusOf("doer", `/runs/${RUN_ID}`, "DELETE"), 403)
      assert.strictEqual(yield* statusOf("owner", `/runs/${RUN_ID}`, "DELETE"), 204)
      assert.strictEqual(yield* statusOf("old", `/runs/${RUN_ID}`, "DELETE"), 204)
      const refused = yield* ask("/runs", { ...create, ...as("reader") })
      assert.deepStrictEqual(refused.json, {
        statusCode: 403,
        errorCode: "FORBIDDEN",
        message: "this needs the role operator; the key has the role viewer"
      })
    })
  )

  it.effect("are taken as a bearer and in x-api-key; one that is right is enough", () =>
    Effect.gen(function* () {
      for (const headers of [
        { authorization: "Bearer doer" },
        { "x-api-key": "doer" },
        { authorization: "Basic proxy", "x-api-key": "doer" }
      ]) {
        const answer = yield* ask("/me", { headers })
        const bob = { id: "bob", name: "bob", type: "api-key", role: "operator" }
        assert.deepStrictEqual(answer.json, { ...bob, runtimeIdentity: "macp-control-plane" })
      }
    })
  )

  it.effect("that are wrong are limited by address, and never lock the right one out", () =>
    Effect.gen(function* () {
      const from = (address: string, key: string) =>
        ask("/runs", { headers: { "x-forwarded-for": address, authorization: `Bearer ${key}` } })
      for (let attempt = 0; attempt < 3; attempt++) assert.strictEqual((yield* from("6.6.6.6", "guess")).status, 401)
      const limited = yield* from("6.6.6.6", "guess")
      assert.strictEqual(limited.status, 429)
      assert.match(limited.headers["retry-after"] ?? "", /^\d+$/)
      assert.strictEqual((yield* from("6.6.6.6", "reader")).status, 200)
      assert.strictEqual((yield* from("7.7.7.7", "guess")).status, 401)
    })
  )

  it.effect("may be left out where a ticket for the run is given, once", () =>
    Effect.gen(function* () {
      const stream = (query: string, id = RUN_ID) =>
        Effect.map(ask(`/runs/${id}/stream${query}`), ({ status }) => status)
      assert.strictEqual(yield* stream(""), 401)
      assert.strictEqual(yield* stream("?ticket=bad"), 401)
      assert.strictEqual((yield* ask(`/runs/${RUN_ID}?ticket=good`)).status, 401)
      assert.strictEqual((yield* ask(`/runs/${RUN_ID}/export?ticket=good`)).status, 403)
      assert.strictEqual(yield* stream("?ticket=good&afterSeq=x"), 400)
      const head = yield* ask(`/runs/${RUN_ID}/stream?ticket=good`, { method: "HEAD" })
      assert.strictEqual(head.status, 200)
      assert.strictEqual(yield* stream("?ticket=good"), 200)
      assert.strictEqual(yield* stream("?ticket=good"), 401)
      assert.strictEqual(yield* stream("?ticket=rival"), 401)
    })
  )

  it.effect("open nothing to pages of other sites either", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/runs", {
        headers: { origin: "https://evil.example", authorization: "Bearer reader" }
      })
      assert.strictEqual(answer.status, 200)
      assert.notStrictEqual(answer.headers["access-control-allow-origin"], "https://evil.example")
    })
  )
})

const launcher = fakeLauncher({ ...KEYS, THROTTLE_LIMIT: "100000" }).pipe(Layer.provideMerge(layerServer))

layer(fakeLauncher({ ...KEYS, THROTTLE_LIMIT: "4" }).pipe(Layer.provideMerge(layerServer)), {
  excludeTestServices: true
})("the launch service's budget", (it) => {
  it.effect("counts requests without a key by address, and never refuses the right key for them", () =>
    Effect.gen(function* () {
      for (const status of [401, 401, 401, 401, 429]) assert.strictEqual((yield* ask("/packs")).status, status)
      const refused = yield* ask("/healthz")
      assert.strictEqual(refused.status, 429)
      assert.match(refused.headers["retry-after"] ?? "", /^\d+$/)
      assert.strictEqual((yield* ask("/packs", as("reader"))).status, 200)
    })
  )
})

layer(launcher, { excludeTestServices: true })("the launch service's keys with roles", (it) => {
  it.effect("follow the same rules", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* ask("/me", as("reader"))).json, {
        id: "ann",
        name: "ann",
        type: "api-key",
        role: "viewer"
      })
      // A key as a bearer is neither right nor wrong here.
      for (let attempt = 0; attempt < 5; attempt++) {
        assert.strictEqual((yield* ask("/packs", { headers: { authorization: "Bearer reader" } })).status, 401)
      }
      const body = JSON.stringify({ scenarioRef: "a/b@1", inputs: {} })
      const refused = yield* ask("/examples/run", { method: "POST", body, ...as("reader") })
      assert.deepStrictEqual(refused.json, {
        statusCode: 403,
        errorCode: "FORBIDDEN",
        message: "this needs the role operator; the key has the role viewer"
      })
      assert.strictEqual((yield* ask("/examples/run", { method: "POST", body, ...as("doer") })).status, 201)
      for (let attempt = 0; attempt < 3; attempt++) assert.strictEqual((yield* ask("/packs", as("guess"))).status, 401)
      assert.strictEqual((yield* ask("/packs", as("guess"))).status, 429)
      assert.strictEqual((yield* ask("/packs", as("reader"))).status, 200)
    })
  )
})
