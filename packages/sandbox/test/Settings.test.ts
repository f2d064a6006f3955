import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { settings } from "../src/Settings.ts"

const read = (env: Record<string, string>) =>
  settings.pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))

describe("the settings", () => {
  it.effect("accept any bearer value and open no control port when nothing is set", () =>
    Effect.gen(function* () {
      const { controlPort, credentials, options } = yield* read({})
      assert.strictEqual(credentials.kind, "development")
      assert.isTrue(Option.isNone(controlPort))
      assert.strictEqual(options.port, 50_051)
    })
  )

  it.effect("take static tokens in both shapes", () =>
    Effect.gen(function* () {
      const token = { token: "t", sender: "s" }
      for (const shape of [[token], { tokens: [token] }]) {
        const { credentials } = yield* read({ SANDBOX_AUTH_TOKENS_JSON: JSON.stringify(shape) })
        assert.deepStrictEqual(credentials, { kind: "static", tokens: [token] })
      }
    })
  )

  it.effect("take signed tokens, with the usual audience and algorithms", () =>
    Effect.gen(function* () {
      const { credentials } = yield* read({ SANDBOX_AUTH_ISSUER: "issuer", SANDBOX_AUTH_JWKS_JSON: '{"keys":[]}' })
      assert(credentials.kind === "signed")
      assert.deepStrictEqual(credentials.tokens, {
        issuer: "issuer",
        acceptsNames: false,
        audience: "macp-runtime",
        algorithms: ["RS256", "ES256"],
        tokens: []
      })
    })
  )

  const broken: ReadonlyArray<readonly [string, Record<string, string>]> = [
    ["SANDBOX_AUTH_JWKS_URL", { SANDBOX_AUTH_ISSUER: "issuer" }],
    [
      "SANDBOX_AUTH_JWT_ALGS",
      { SANDBOX_AUTH_ISSUER: "i", SANDBOX_AUTH_JWKS_JSON: '{"keys":[]}', SANDBOX_AUTH_JWT_ALGS: "none" }
    ],
    ["SANDBOX_PORT", { SANDBOX_PORT: "many" }]
  ]
  for (const [name, env] of broken) {
    it.effect(`name ${name} when it is wrong or missing`, () =>
      Effect.map(Effect.flip(read(env)), ({ message }) => assert.include(message, name))
    )
  }
})
