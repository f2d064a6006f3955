import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerAuthorization, layerLauncherApiKey } from "../../src/http/ApiKeyGuard.ts"
import { actorsOf, indexOfKey } from "../../src/http/ApiKeys.ts"
import { ClientBudgets } from "../../src/http/ClientBudgets.ts"
import { layerRateLimit } from "../../src/http/RateLimiting.ts"
import { validateLaunchDeployment } from "../../src/settings/DeploymentRules.ts"
import { listenHost } from "../../src/settings/ListenHost.ts"
import { readSetting } from "../../src/settings/ReadSettings.ts"
import { ServiceSettings } from "../../src/settings/ServiceSettings.ts"

const withEnv = (env: Record<string, string>) => ConfigProvider.layer(ConfigProvider.fromEnv({ env }))

describe("API keys", () => {
  it.effect("are separated by commas, trimmed, the empty ones dropped", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* readSetting(ServiceSettings.AUTH_API_KEYS), ["a", "b c"])
    }).pipe(Effect.provide(withEnv({ AUTH_API_KEYS: " a ,, b c," })))
  )

  it("are found only when equal from the first to the last character", () => {
    const keys = ["alpha", "beta", "alphabet"]
    assert.deepStrictEqual(
      keys.map((key) => indexOfKey(keys, key)),
      [0, 1, 2]
    )
    for (const token of ["", "a", "alph", "alphA", "alphabe", "alphabets", "beta "]) {
      assert.strictEqual(indexOfKey(keys, token), -1)
    }
    assert.strictEqual(indexOfKey([], "x"), -1)
  })

  it.effect("name an actor by eight digits of their hash", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* actorsOf(["abc"]), [
        { actorId: "key:ba7816bf", actorType: "api-key", role: "admin" }
      ])
    }).pipe(Effect.provide(Digest.layerWebCrypto))
  )

  it.effect("name an actor as they are named themselves, in their order", () =>
    Effect.gen(function* () {
      const actors = yield* actorsOf(["abc", "b", "c"], yield* readSetting(ServiceSettings.AUTH_API_KEY_NAMES))
      assert.deepStrictEqual(
        actors.map(({ actorId }) => actorId),
        ["key:ba7816bf", "ci", "ops@console"]
      )
    }).pipe(Effect.provide([Digest.layerWebCrypto, withEnv({ AUTH_API_KEY_NAMES: " , ci, ops@console" })]))
  )
})

describe("settings of the edge", () => {
  const startsWith = <A, E>(layer: Layer.Layer<A, E, ClientBudgets>, env: Record<string, string>) =>
    Effect.scoped(Layer.build(Layer.provide(layer, ClientBudgets.layer))).pipe(
      Effect.provide(withEnv(env)),
      Effect.as("started"),
      Effect.catch((error) => Effect.succeed(String(error)))
    )

  it.effect("demand keys outside of development", () =>
    Effect.gen(function* () {
      assert.include(yield* startsWith(layerAuthorization, { NODE_ENV: "production" }), "AUTH_API_KEYS")
      assert.include(yield* startsWith(layerLauncherApiKey, { NODE_ENV: "production" }), "AUTH_API_KEYS")
      const separators = { NODE_ENV: "staging", AUTH_API_KEYS: " , " }
      assert.include(yield* startsWith(layerLauncherApiKey, separators), "AUTH_API_KEYS")
      assert.strictEqual(yield* startsWith(layerAuthorization, {}), "started")
      assert.strictEqual(
        yield* startsWith(layerAuthorization, { NODE_ENV: "production", AUTH_API_KEYS: "k" }),
        "started"
      )
    })
  )

  it.effect("may be left out where an issuer identifies the callers", () =>
    Effect.gen(function* () {
      const OIDC = { NODE_ENV: "production", OIDC_ISSUER: "http://127.0.0.1:9", OIDC_AUDIENCE: "runplane" }
      const starts = [
        (env: Record<string, string>) => startsWith(layerAuthorization, env),
        (env: Record<string, string>) => startsWith(layerLauncherApiKey, env)
      ]
      for (const start of starts) {
        assert.strictEqual(yield* start(OIDC), "started")
        assert.include(yield* start({ ...OIDC, OIDC_AUDIENCE: " , " }), "OIDC_AUDIENCE")
        for (const issuer of [
          "http://login.example",
          "https://u:p@login.example",
          "https://login.example?a",
          "login"
        ]) {
          assert.include(yield* start({ ...OIDC, OIDC_ISSUER: issuer }), "OIDC_ISSUER")
        }
      }
      assert.strictEqual(yield* Effect.provide(listenHost, withEnv(OIDC)), "0.0.0.0")
      const faults = validateLaunchDeployment(new Map(Object.entries({ ...OIDC, OIDC_AUDIENCE: "" }))).faults
      assert.deepStrictEqual(
        faults.map(({ variable }) => variable),
        ["OIDC_AUDIENCE"]
      )
    })
  )

  it.effect("listen on the loopback without keys, unless HOST says otherwise", () =>
    Effect.gen(function* () {
      const host = (env: Record<string, string>) => Effect.provide(listenHost, withEnv(env))
      assert.strictEqual(yield* host({}), "127.0.0.1")
      assert.strictEqual(yield* host({ AUTH_API_KEYS: " , " }), "127.0.0.1")
      assert.strictEqual(yield* host({ AUTH_API_KEYS: "k" }), "0.0.0.0")
      assert.strictEqual(yield* host({ HOST: "0.0.0.0" }), "0.0.0.0")
    })
  )

  it("of the launch service are validated together: no keys outside of development, no roles for keys that are not there", () => {
    const faults = (texts: Record<string, string>) =>
      validateLaunchDeployment(new Map(Object.entries(texts))).faults.map(({ variable }) => variable)
    assert.deepStrictEqual(faults({ NODE_ENV: "production" }), ["AUTH_API_KEYS"])
    assert.deepStrictEqual(faults({ NODE_ENV: "test" }), [])
    assert.deepStrictEqual(faults({ AUTH_API_KEYS: "a", AUTH_API_KEY_ROLES: "viewer,admin" }), ["AUTH_API_KEY_ROLES"])
  })

  it("of the launch service are validated together: production that serves other hosts returns public links", () => {
    const warned = (texts: Record<string, string>) =>
      validateLaunchDeployment(
        new Map(Object.entries({ NODE_ENV: "production", AUTH_API_KEYS: "a", ...texts }))
      ).warnings.map(({ problem, variable }) => `${variable} ${problem}`)
    const internal = { PROTO_CONTROL_PLANE_URL: "http://proxy:8001" }
    assert.deepStrictEqual(warned(internal), [
      "CONTROL_PLANE_PUBLIC_URL is not set: the links of a launch lead to http://proxy:8001, " +
        "the address of PROTO_CONTROL_PLANE_URL"
    ])
    assert.deepStrictEqual(warned({}), [])
    assert.deepStrictEqual(warned({ ...internal, CONTROL_PLANE_PUBLIC_URL: "https://runs.example.org" }), [])
    assert.deepStrictEqual(warned({ ...internal, HOST: "::1" }), [])
    assert.deepStrictEqual(warned({ ...internal, NODE_ENV: "development" }), [])
  })

  it.effect.each([
    { THROTTLE_LIMIT: "0" },
    { THROTTLE_TTL_MS: "soon" },
    { THROTTLE_SCOPE: "planet" },
    { TRUST_PROXY: "perhaps" }
  ])("stop the start with the name of the setting: %j", (env) =>
    Effect.gen(function* () {
      assert.include(yield* startsWith(layerRateLimit, env), Object.keys(env).join())
    })
  )

  it.effect.each(["key:1234abcd", "anonymous", "two words"])("refuse %j as the name of a key", (name) =>
    Effect.gen(function* () {
      const env = { AUTH_API_KEYS: "a,b", AUTH_API_KEY_NAMES: `ci,${name}` }
      assert.include(yield* startsWith(layerAuthorization, env), "AUTH_API_KEY_NAMES")
    })
  )

  it.effect("take an empty value for none", () =>
    Effect.gen(function* () {
      const env = { THROTTLE_LIMIT: "", THROTTLE_TTL_MS: "", THROTTLE_SCOPE: "", TRUST_PROXY: "", AUTH_API_KEYS: "" }
      assert.strictEqual(yield* startsWith(layerRateLimit, env), "started")
      assert.strictEqual(yield* startsWith(layerAuthorization, env), "started")
    })
  )
})
