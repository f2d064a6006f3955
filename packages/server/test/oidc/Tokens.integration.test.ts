import { assert, layer } from "@effect/vitest"
import { ControlPlaneApi } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { OpenApi } from "effect/http-api"
import * as Layer from "effect/Layer"
import { exportSPKI, SignJWT, UnsecuredJWT } from "jose"
import { ask, layerServer } from "../support/Ask.ts"
import { descriptor, fakeControlPlane, Seen } from "../support/FakeControlPlane.ts"
import { makeIssuer } from "../support/FakeIssuer.ts"
import { fakeLauncher } from "../support/FakeLauncher.ts"

/** An issuer that has its keys before the first fetch. */
const furnished = Effect.gen(function* () {
  const { makeKey, url } = yield* makeIssuer
  return {
    url,
    key: yield* makeKey("ES256"),
    rsa: yield* makeKey("RS256"),
    stranger: yield* makeKey("ES256", false)
  }
})

class Issuer extends Context.Service<Issuer, Effect.Success<typeof furnished>>()("test/Issuer") {
  static readonly layer = Layer.effect(Issuer, furnished)
}

const settings = (issuer: string) => ({
  OIDC_ISSUER: issuer,
  OIDC_AUDIENCE: "runplane, other-name",
  AUTH_API_KEYS: "the-key",
  AUTH_API_KEY_NAMES: "ann",
  AUTH_FAILURE_LIMIT: "3",
  TRUST_PROXY: "1",
  THROTTLE_LIMIT: "100000"
})

const controlPlane = Layer.unwrap(Effect.map(Issuer, ({ url }) => fakeControlPlane(settings(url))))
const launcher = Layer.unwrap(Effect.map(Issuer, ({ url }) => fakeLauncher(settings(url))))

const bearer = (token: string, address = "1.1.1.1") => ({
  headers: { authorization: `Bearer ${token}`, "x-forwarded-for": address }
})

const NOW = Math.floor(Date.now() / 1000)

/** Tokens that open nothing, and the reason that is given. Each comes from an address of its own. */
const badTokens = Effect.gen(function* () {
  const { key, rsa, stranger, url } = yield* Issuer
  const claims = { iss: url, aud: "runplane", sub: "eve", roles: "admin", exp: NOW + 300 }
  const secret = new TextEncoder().encode(yield* Effect.promise(() => exportSPKI(rsa.publicKey)))
  const good = yield* key.sign()
  const [head, payload, signature] = good.split(".")
  const bad: ReadonlyArray<readonly [string, string, string]> = [
    ["expired", yield* key.sign({ exp: NOW - 120 }), "it has expired"],
    ["without an end", yield* key.sign({ exp: undefined }), "it does not say when it expires"],
    ["not valid yet", yield* key.sign({ nbf: NOW + 120 }), "it is not valid yet"],
    ["of another issuer", yield* key.sign({ iss: "https://evil.example" }), "another issuer made it"],
    ["for another audience", yield* key.sign({ aud: "shop" }), "it is for another audience"],
    ["without an audience", yield* key.sign({ aud: undefined }), "it is for another audience"],
    ["without a subject", yield* key.sign({ sub: undefined }), "it has no usable subject"],
    ["of an unknown key", yield* stranger.sign(), "its issuer has no such key"],
    ["of a stranger under a known name", yield* stranger.sign({}, { kid: key.kid }), "its signature is wrong"],
    ["with a cut signature", `${head}.${payload}.${signature?.slice(4)}`, "its signature is wrong"],
    [
      "with claims of others",
      `${head}.${btoa(JSON.stringify(claims)).replace(/=+$/, "")}.${signature}`,
      "its signature"
    ],
    ["unsigned", new UnsecuredJWT(claims).encode(), "its algorithm is not allowed"],
    [
      "signed with the public key as a secret",
      yield* Effect.promise(() => new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: rsa.kid }).sign(secret)),
      "its algorithm is not allowed"
    ],
    ["of noise", "aaaa.bbbb.cccc", "it is malformed"]
  ]
  return bad
})

layer(controlPlane.pipe(Layer.provideMerge(Issuer.layer), Layer.provideMerge(layerServer)), {
  excludeTestServices: true
})("a control plane behind an issuer", (it) => {
  it.effect("takes a token where it takes a key, and knows its holder by name and role", () =>
    Effect.gen(function* () {
      const { key, rsa } = yield* Issuer
      for (const { kid, sign } of [key, rsa]) {
        const token = yield* sign({ aud: ["x", "other-name"] })
        for (const headers of [{ authorization: `Bearer ${token}` }, { "x-api-key": token }]) {
          const answer = yield* ask("/me", { headers })
          const me = { id: "user:f3b1", name: "user:ann", type: "user", role: "operator" }
          assert.deepStrictEqual(answer.json, { ...me, runtimeIdentity: "macp-control-plane" }, kid)
        }
      }
      // The key of the same name is another caller.
      assert.deepStrictEqual((yield* ask("/me", bearer("the-key"))).json, {
        id: "ann",
        name: "ann",
        type: "api-key",
        role: "admin",
        runtimeIdentity: "macp-control-plane"
      })
    })
  )

  it.effect("names its holder in the audit log, and gives it the permissions of its role", () =>
    Effect.gen(function* () {
      const { key } = yield* Issuer
      const create = { method: "POST", body: JSON.stringify(descriptor) }
      const created = yield* ask("/runs", { ...create, ...bearer(yield* key.sign()) })
      assert.strictEqual(created.status, 202)
      const actor = { actorId: "user:f3b1", actorType: "user", name: "user:ann", role: "operator" } as const
      const { expiresAtUnixMs, ...seen } = (yield* Seen).actors.at(-1) ?? {}
      assert.deepStrictEqual(seen, actor)
      assert.isNumber(expiresAtUnixMs)
      const refused = yield* ask("/runs", { ...create, ...bearer(yield* key.sign({ roles: "viewer" })) })
      assert.deepStrictEqual(refused.json, {
        statusCode: 403,
        errorCode: "FORBIDDEN",
        message: "this needs the role operator; the token has the role viewer"
      })
    })
  )

  it.effect("distinguishes two subjects of one name, also in the budgets", () =>
    Effect.gen(function* () {
      const { key } = yield* Issuer
      for (const sub of ["f3b1", "c0de"]) {
        const answer = yield* ask("/me", bearer(yield* key.sign({ sub })))
        assert.deepInclude(answer.json, { id: `user:${sub}`, name: "user:ann" })
        assert.match(answer.headers["x-ratelimit-counts"] ?? "", new RegExp(`of user:${sub},`))
      }
    })
  )

  it.effect("names the claim that a token without a role lacks", () =>
    Effect.gen(function* () {
      const { key } = yield* Issuer
      for (const roles of [undefined, "root", ["admins"]]) {
        const answer = yield* ask("/runs", bearer(yield* key.sign({ roles }), "2.2.2.2"))
        assert.strictEqual(answer.status, 403)
        assert.deepStrictEqual(answer.json, {
          statusCode: 403,
          errorCode: "FORBIDDEN",
          message: "the token gives no role: its claim roles holds none of ingest, viewer, operator, admin, voter"
        })
      }
    })
  )

  it.effect("refuses every other token with a reason", () =>
    Effect.gen(function* () {
      for (const [at, [name, token, reason]] of (yield* badTokens).entries()) {
        const answer = yield* ask("/runs", bearer(token, `10.0.0.${at}`))
        assert.strictEqual(answer.status, 401, name)
        assert.deepInclude(answer.json, { statusCode: 401, errorCode: "UNAUTHENTICATED" }, name)
        assert.include(answer.text, `Invalid authorization token: ${reason}`, name)
      }
    })
  )

  it.effect("refuses a token for another audience at every operation with a key", () =>
    Effect.gen(function* () {
      const { key } = yield* Issuer
      const token = yield* key.sign({ aud: "shop", roles: "admin" })
      let refused = 0
      for (const [path, methods] of Object.entries(OpenApi.fromApi(ControlPlaneApi).paths)) {
        for (const [method, operation] of Object.entries(methods)) {
          const security = "security" in operation ? operation.security : []
          if (!Array.isArray(security) || security.length === 0) continue
          refused += 1
          const at = path.replaceAll(/\{[^}]+\}/g, "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10")
          const { json, status } = yield* ask(at, {
            method: method.toUpperCase(),
            ...bearer(token, `10.1.0.${refused}`)
          })
          assert.strictEqual(status, 401, `${method} ${path}`)
          assert.deepInclude(json, { errorCode: "UNAUTHENTICATED" }, `${method} ${path}`)
        }
      }
      assert.isAbove(refused, 100)
    })
  )

  it.effect("counts wrong tokens like wrong keys, and takes the right one all the same", () =>
    Effect.gen(function* () {
      const { key } = yield* Issuer
      const from = (token: string) => Effect.map(ask("/runs", bearer(token, "6.6.6.6")), ({ status }) => status)
      const wrong = yield* key.sign({ aud: "shop" })
      for (const expected of [401, 401, 401, 429, 429]) assert.strictEqual(yield* from(wrong), expected)
      assert.strictEqual(yield* from("guess"), 429)
      assert.strictEqual(yield* from(yield* key.sign()), 200)
      assert.strictEqual(yield* from("the-key"), 200)
    })
  )

  it.effect("requires a key or a token", () =>
    Effect.gen(function* () {
      const answer = yield* ask("/runs")
      assert.strictEqual(answer.status, 401)
      assert.include(answer.text, "Missing Authorization header")
    })
  )
})

layer(launcher.pipe(Layer.provideMerge(Issuer.layer), Layer.provideMerge(layerServer)), { excludeTestServices: true })(
  "a launch service behind an issuer",
  (it) => {
    it.effect("takes tokens by the same rules", () =>
      Effect.gen(function* () {
        const { key } = yield* Issuer
        const viewer = yield* key.sign({ roles: "viewer" })
        assert.deepStrictEqual((yield* ask("/me", bearer(viewer))).json, {
          id: "user:f3b1",
          name: "user:ann",
          type: "user",
          role: "viewer"
        })
        assert.strictEqual((yield* ask("/packs", { headers: { "x-api-key": viewer } })).status, 200)
        const compile = { method: "POST", body: '{"scenarioRef":"a/b@1","inputs":{}}' }
        assert.strictEqual((yield* ask("/examples/run", { ...compile, ...bearer(viewer) })).status, 403)
        assert.strictEqual((yield* ask("/packs", bearer(yield* key.sign({ roles: [] })))).status, 403)
      })
    )

    it.effect("refuses every other token in its own form", () =>
      Effect.gen(function* () {
        for (const [at, [name, token, reason]] of (yield* badTokens).entries()) {
          const answer = yield* ask("/packs", bearer(token, `10.0.0.${at}`))
          assert.strictEqual(answer.status, 401, name)
          assert.deepInclude(answer.json, { statusCode: 401, error: "Unauthorized" }, name)
          assert.include(answer.text, `Invalid or missing API key: ${reason}`, name)
        }
      })
    )
  }
)

const unreachable = "http://127.0.0.1:9"

layer(
  fakeControlPlane({ ...settings(unreachable), AUTH_API_KEYS: "", AUTH_API_KEY_NAMES: "" }).pipe(
    Layer.provideMerge(layerServer)
  ),
  {
    excludeTestServices: true
  }
)("a control plane with an issuer alone", (it) => {
  it.effect("refuses every request without a token", () =>
    Effect.gen(function* () {
      for (const path of ["/runs", "/me"]) assert.strictEqual((yield* ask(path)).status, 401)
      assert.strictEqual((yield* ask("/me", bearer("anything"))).status, 401)
    })
  )
})

layer(fakeControlPlane({ ...settings(unreachable) }).pipe(Layer.provideMerge(layerServer)), {
  excludeTestServices: true
})("a control plane whose issuer is away", (it) => {
  it.effect("starts, accepts keys, and answers tokens with Retry-After", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* ask("/runs", bearer("the-key"))).status, 200)
      for (let again = 0; again < 5; again++) {
        const answer = yield* ask("/runs", bearer("aaaa.bbbb.cccc"))
        assert.strictEqual(answer.status, 503)
        assert.strictEqual(answer.headers["retry-after"], "10")
        assert.deepStrictEqual(answer.json, {
          statusCode: 503,
          errorCode: "SERVICE_UNAVAILABLE",
          message: "the issuer of tokens does not answer"
        })
      }
      assert.strictEqual((yield* ask("/runs", bearer("guess"))).status, 401)
    })
  )
})
