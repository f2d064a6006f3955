import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import { AgentClient, Bootstrap } from "@runplane/agents"
import { KeySource, Sandbox } from "@runplane/sandbox"
import { listenAnywhere } from "@runplane/testing"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import {
  AuthPortUnavailable,
  DEFAULT_AUTH_PORT,
  DevelopmentAuth,
  MAX_BODY_BYTES,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER
} from "../../src/auth/DevelopmentAuth.ts"

const MODE = "macp.mode.decision.v1"
const SESSION = "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a31"

/** A sandbox that accepts only tokens of this auth service. */
const verified = Layer.unwrap(
  Effect.map(DevelopmentAuth, ({ keysUrl }) =>
    Sandbox.layerSigned({ issuer: TOKEN_ISSUER, audience: TOKEN_AUDIENCE }, { port: 0 }).pipe(
      Layer.provide(KeySource.layerUrl(keysUrl))
    )
  )
)

const stage = Layer.mergeAll(verified, NodeHttpClient.layerNodeHttp).pipe(
  Layer.provideMerge(DevelopmentAuth.layer({ port: 0 }))
)

const Minted = Schema.Struct({ token: Schema.String, sender: Schema.String, expires_in_seconds: Schema.Int })

const post = Effect.fnUntraced(function* (body: string, url: string) {
  const client = yield* HttpClient.HttpClient
  const response = yield* client.execute(
    HttpClientRequest.post(`${url}/tokens`).pipe(HttpClientRequest.bodyText(body, "application/json"))
  )
  return { status: response.status, body: yield* response.json }
})

const mint = Effect.fnUntraced(function* (request: object, service?: DevelopmentAuth["Service"]) {
  const { url } = service ?? (yield* DevelopmentAuth)
  const { body } = yield* post(JSON.stringify(request), url)
  return yield* Schema.decodeUnknownEffect(Minted)(body)
})

const scopes = (changes: object = {}) => ({
  can_start_sessions: true,
  is_observer: false,
  allowed_modes: [MODE, ""],
  ...changes
})

/** Opens the session with a token; returns the outcome. */
const openWith = Effect.fnUntraced(function* (token: string, sessionId = SESSION) {
  const { address } = yield* Sandbox
  const bootstrap = Bootstrap.layerMemory({
    participant_id: "lead",
    session_id: sessionId,
    mode: MODE,
    runtime_url: address,
    auth_token: token,
    participants: ["lead", "one"],
    mode_version: "1.0.0",
    configuration_version: "config.default",
    metadata: {}
  })
  return yield* Effect.flatMap(AgentClient, (client) =>
    client.start({
      intent: "decide",
      participants: ["lead", "one"],
      ttlMs: 60_000n,
      modeVersion: "1.0.0",
      configurationVersion: "config.default"
    })
  ).pipe(
    Effect.match({ onFailure: ({ message }) => message, onSuccess: () => "opened" }),
    Effect.provide(Layer.fresh(AgentClient.layer).pipe(Layer.provide(bootstrap)))
  )
})

/** An auth service whose clock shows another time. */
const authAt = Effect.fnUntraced(function* (millis: number) {
  const clock = yield* Clock.Clock
  const context = yield* Effect.provideService(
    Layer.build(Layer.fresh(DevelopmentAuth.layer({ port: 0 }))),
    Clock.Clock,
    Object.assign(Object.create(clock), {
      currentTimeMillisUnsafe: () => millis,
      currentTimeMillis: Effect.succeed(millis)
    })
  )
  return Context.get(context, DevelopmentAuth)
})

layer(stage, { excludeTestServices: true })("the development auth service", (it) => {
  it.effect("mints tokens that a runtime takes by the published key", () =>
    Effect.gen(function* () {
      const minted = yield* mint({ sender: "lead", ttl_seconds: 90, scopes: scopes() })
      assert.strictEqual(minted.sender, "lead")
      assert.strictEqual(minted.expires_in_seconds, 90)
      assert.strictEqual(yield* openWith(minted.token), "opened")
      const sandbox = yield* Sandbox
      const [start] = yield* sandbox.acceptedHistory(SESSION)
      assert.strictEqual(start?.sender, "lead")
    })
  )

  it.effect(
    "so a runtime refuses a token without the scope, for other modes, expired, of another key, and a bare name",
    () =>
      Effect.gen(function* () {
        const answers = Effect.fnUntraced(function* (request: object, service?: DevelopmentAuth["Service"]) {
          const { token } = yield* mint({ sender: "lead", scopes: scopes(), ...request }, service)
          return yield* openWith(token, "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a32")
        })
        assert.match(yield* answers({ scopes: scopes({ can_start_sessions: false }) }), /FORBIDDEN/)
        assert.match(yield* answers({ scopes: scopes({ allowed_modes: ["macp.mode.task.v1", ""] }) }), /FORBIDDEN/)
        assert.match(yield* answers({ scopes: scopes({ is_observer: "yes" }) }), /UNAUTHENTICATED/)
        const now = yield* Clock.currentTimeMillis
        assert.match(yield* answers({ ttl_seconds: 60 }, yield* authAt(now - 600_000)), /UNAUTHENTICATED/)
        assert.match(yield* answers({}, yield* authAt(now)), /UNAUTHENTICATED/)
        assert.match(yield* openWith("lead"), /UNAUTHENTICATED/)
      })
  )

  it.effect("answers its health and its key, and nothing that is secret of it", () =>
    Effect.gen(function* () {
      const { keysUrl, url } = yield* DevelopmentAuth
      const client = yield* HttpClient.HttpClient
      const get = (address: string) => Effect.flatMap(client.get(address), ({ json }) => json)
      assert.deepStrictEqual(yield* get(`${url}/healthz`), { ok: true })
      assert.strictEqual(keysUrl, `${url}/.well-known/jwks.json`)
      const KeySet = Schema.Struct({ keys: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) })
      const { keys } = yield* Schema.decodeUnknownEffect(KeySet)(yield* get(keysUrl))
      assert.lengthOf(keys, 1)
      assert.include(keys[0], { kty: "EC", crv: "P-256", alg: "ES256", use: "sig" })
      assert.notProperty(keys[0], "d")
    })
  )

  it.effect("names the fault of a request", () =>
    Effect.gen(function* () {
      const { url } = yield* DevelopmentAuth
      assert.deepStrictEqual(yield* post("{", url), { status: 400, body: { error: "invalid JSON body" } })
      assert.deepStrictEqual(yield* post("{}", url), { status: 400, body: { error: "sender is required" } })
      const { status } = yield* post(JSON.stringify({ sender: "x".repeat(MAX_BODY_BYTES) }), url)
      assert.strictEqual(status, 413)
    })
  )

  it.effect("mints nothing for web pages, foreign hosts and bodies that are not JSON", () =>
    Effect.gen(function* () {
      const { url } = yield* DevelopmentAuth
      const client = yield* HttpClient.HttpClient
      const body = JSON.stringify({ sender: "lead" })
      const status = (path: string, headers: Readonly<Record<string, string>>, type = "application/json") => {
        const request = path === "/tokens" ? HttpClientRequest.post(url + path) : HttpClientRequest.get(url + path)
        const sent = path === "/tokens" ? HttpClientRequest.bodyText(request, body, type) : request
        return Effect.map(client.execute(HttpClientRequest.setHeaders(sent, headers)), (answer) => answer.status)
      }
      for (const path of ["/tokens", "/healthz", "/.well-known/jwks.json"]) {
        for (const headers of [
          { origin: "https://evil.example" },
          { origin: "http://localhost:3000" },
          { origin: "null" },
          { host: "evil.example:3200" },
          { "sec-fetch-site": "cross-site" }
        ]) {
          assert.strictEqual(yield* status(path, headers), 403, JSON.stringify(headers))
        }
        assert.strictEqual(yield* status(path, { host: "localhost:3200" }), 200)
      }
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]) {
        assert.strictEqual(yield* status("/tokens", {}, type), 415, type)
      }
      assert.strictEqual(yield* status("/tokens", {}, "application/json; charset=utf-8"), 200)
    })
  )

  it.effect("takes a free port when the default one is in use, and fails for a given one", () =>
    Effect.gen(function* () {
      const port = yield* listenAnywhere
      const refusal = yield* Effect.flip(Layer.build(Layer.fresh(DevelopmentAuth.layer({ port }))))
      assert.deepStrictEqual(refusal, new AuthPortUnavailable({ port }))
      const first = yield* Layer.build(Layer.fresh(DevelopmentAuth.layer()))
      const second = yield* Layer.build(Layer.fresh(DevelopmentAuth.layer()))
      const urls = [first, second].map((context) => Context.get(context, DevelopmentAuth).url)
      assert.strictEqual(new Set(urls).size, 2)
      assert.notInclude(urls[1], `:${DEFAULT_AUTH_PORT}`)
    })
  )
})
