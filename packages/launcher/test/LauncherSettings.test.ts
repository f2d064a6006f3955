import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { LauncherSettings, listenSettings } from "../src/LauncherSettings.ts"

type Environment = Readonly<Record<string, string>>

const withEnv = (env: Environment) => ConfigProvider.layer(ConfigProvider.fromEnv({ env, preserveEmptyStrings: true }))

const readAlone = (env: Environment) =>
  Effect.provide(
    LauncherSettings,
    LauncherSettings.layer.pipe(Layer.provide(NodePath.layer), Layer.provide(withEnv(env)))
  )

/** With the one setting that has no default. */
const read = (env: Environment) => readAlone({ PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "true", ...env })

const SLACK = {
  LAUNCHER_SLACK_SIGNING_SECRET: "secret",
  LAUNCHER_SLACK_TEAM: "T012AB3CD",
  LAUNCHER_PUBLIC_URL: "https://launch.example.org/",
  LAUNCHER_DATABASE_URL: "postgresql://localhost/people"
}

describe("the settings of a Slack app", () => {
  it.effect("are read together", () =>
    Effect.gen(function* () {
      const { slack } = yield* read({ ...SLACK, LAUNCHER_SLACK_BOT_TOKEN: "xoxb-1" })
      assert.deepInclude(slack, { team: "T012AB3CD", publicUrl: "https://launch.example.org" })
      assert.strictEqual(slack && Redacted.value(slack.signingSecret), "secret")
      assert.strictEqual(slack?.botToken && Redacted.value(slack.botToken), "xoxb-1")
      assert.isUndefined((yield* read(SLACK)).slack?.botToken)
      assert.isUndefined((yield* read({})).slack)
    })
  )

  it.effect.each([
    [{ ...SLACK, LAUNCHER_SLACK_TEAM: "" }, "LAUNCHER_SLACK_SIGNING_SECRET needs LAUNCHER_SLACK_TEAM"],
    [{ ...SLACK, LAUNCHER_PUBLIC_URL: "" }, "LAUNCHER_SLACK_SIGNING_SECRET needs LAUNCHER_PUBLIC_URL"],
    [{ ...SLACK, LAUNCHER_DATABASE_URL: "" }, "LAUNCHER_SLACK_SIGNING_SECRET needs LAUNCHER_DATABASE_URL"],
    [{ LAUNCHER_SLACK_TEAM: "T1" }, "LAUNCHER_SLACK_TEAM needs LAUNCHER_SLACK_SIGNING_SECRET"],
    [{ LAUNCHER_SLACK_BOT_TOKEN: "xoxb-1" }, "LAUNCHER_SLACK_BOT_TOKEN needs LAUNCHER_SLACK_SIGNING_SECRET"]
  ] as const)("stop the start when one of them lacks: %j", ([env, text]) =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(read(env))
      assert.include(failure.message, text)
    })
  )
})

const A2A = {
  A2A_ENABLED: "true",
  LAUNCHER_PUBLIC_URL: "https://launch.example.org/",
  LAUNCHER_DATABASE_URL: "postgresql://localhost/people",
  PROTO_CONTROL_PLANE_URL: "http://127.0.0.1:3001"
}

describe("the settings of A2A", () => {
  it.effect("are read together, and are off by default", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* read(A2A)).a2a, { publicUrl: "https://launch.example.org" })
      assert.isUndefined((yield* read({ ...A2A, A2A_ENABLED: "false" })).a2a)
      assert.isUndefined((yield* read({})).a2a)
    })
  )

  it.effect.each(["LAUNCHER_PUBLIC_URL", "LAUNCHER_DATABASE_URL", "PROTO_CONTROL_PLANE_URL"] as const)(
    "stop the start without %s",
    (name) =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(read({ ...A2A, [name]: "" }))
        assert.include(failure.message, `A2A_ENABLED needs ${name}`)
      })
  )
})

describe("settings", () => {
  it.effect("have their defaults when nothing is set", () =>
    Effect.gen(function* () {
      const settings = yield* read({})
      assert.deepInclude(settings, {
        environment: "development",
        registryCacheTtlMs: 0,
        autoBootstrapAgents: true,
        runtimeAddress: "",
        runtimeTls: true,
        runtimeAllowInsecure: false,
        auth: undefined,
        cancelCallback: { host: "127.0.0.1", portBase: 0, path: "/agent/cancel" },
        controlPlane: undefined
      })
      assert.match(settings.packsDir, /\/packs$/)
      assert.strictEqual(settings.agentsDir, `${settings.packsDir}/_agents`)
      assert.strictEqual(settings.policiesDir, `${settings.packsDir}/_policies`)
    })
  )

  it.effect.each([
    ["1", true],
    ["TRUE", true],
    ["yes", true],
    ["on", true],
    ["0", false],
    ["off", false],
    ["enabled", false],
    ["", true]
  ] as const)("read %j as a boolean", ([text, expected]) =>
    Effect.map(read({ AUTO_BOOTSTRAP_EXAMPLE_AGENTS: text }), (settings) =>
      assert.strictEqual(settings.autoBootstrapAgents, expected)
    )
  )

  it.effect("take a number that cannot be read for its default", () =>
    Effect.map(read({ REGISTRY_CACHE_TTL_MS: "soon" }), (settings) =>
      assert.strictEqual(settings.registryCacheTtlMs, 0)
    )
  )

  it.effect("take a time that no timer can run for the longest there is", () =>
    Effect.map(read({ REGISTRY_CACHE_TTL_MS: "99999999999" }), (settings) =>
      assert.strictEqual(settings.registryCacheTtlMs, 2 ** 31 - 1)
    )
  )

  it.effect("require an auth service, unless development credentials are allowed", () =>
    Effect.gen(function* () {
      for (const env of [{}, { PROTO_AUTH_SERVICE_URL: "" }, { PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "false" }]) {
        const error = yield* Effect.flip(readAlone(env))
        assert.strictEqual(error._tag, "LauncherFault")
        assert.match(error.message, /^PROTO_AUTH_SERVICE_URL is required/)
      }
      assert.isUndefined((yield* readAlone({ PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "1" })).auth)
      assert.strictEqual((yield* readAlone({ MACP_AUTH_SERVICE_URL: "http://auth" })).auth?.url, "http://auth")
    })
  )

  it.effect("read the PROTO_ name first and its MACP_ alias second", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* read({ MACP_RUNTIME_ADDRESS: "a:1" })).runtimeAddress, "a:1")
      const both = yield* read({ MACP_RUNTIME_ADDRESS: "a:1", PROTO_RUNTIME_ADDRESS: "b:2" })
      assert.strictEqual(both.runtimeAddress, "b:2")
    })
  )

  it.effect("switch cancel callbacks off by an empty host", () =>
    Effect.map(read({ PROTO_CANCEL_CALLBACK_HOST: "" }), (settings) => assert.isUndefined(settings.cancelCallback))
  )

  it.effect("hold the other services with their keys hidden", () =>
    Effect.gen(function* () {
      const settings = yield* read({
        PROTO_AUTH_SERVICE_URL: "http://auth//",
        PROTO_AUTH_SCOPES_JSON: '{"lead":{"is_observer":true}}',
        PROTO_CONTROL_PLANE_URL: "http://plane/",
        PROTO_CONTROL_PLANE_API_KEY: "k"
      })
      assert.deepStrictEqual(settings.auth, {
        url: "http://auth",
        timeoutMs: 5_000,
        tokenTtlSeconds: 3_600,
        scopeOverrides: { lead: { is_observer: true } }
      })
      assert.deepStrictEqual(settings.controlPlane, {
        url: "http://plane",
        timeoutMs: 5_000,
        apiKey: Redacted.make("k")
      })
    })
  )

  const auth = { PROTO_AUTH_SERVICE_URL: "http://auth" }
  it.effect.each([
    [{ ...auth, PROTO_AUTH_TOKEN_TTL_SECONDS: "0" }, "PROTO_AUTH_TOKEN_TTL_SECONDS must be a positive integer"],
    [{ ...auth, PROTO_AUTH_TOKEN_TTL_SECONDS: "x" }, "PROTO_AUTH_TOKEN_TTL_SECONDS must be a positive integer"],
    [{ PROTO_AUTH_SERVICE_URL: "auth" }, "PROTO_AUTH_SERVICE_URL must be an http or https address"],
    [{ PROTO_CONTROL_PLANE_URL: "ftp://plane" }, "PROTO_CONTROL_PLANE_URL must be an http or https address"],
    [{ ...auth, PROTO_AUTH_SCOPES_JSON: "{" }, "PROTO_AUTH_SCOPES_JSON is not JSON"],
    [{ ...auth, PROTO_AUTH_SCOPES_JSON: "[]" }, "PROTO_AUTH_SCOPES_JSON must be an object of objects, keyed by sender"],
    [
      { ...auth, PROTO_AUTH_SCOPES_JSON: '{"a":1}' },
      "PROTO_AUTH_SCOPES_JSON must be an object of objects, keyed by sender"
    ]
  ] as const)("stop the start when wrong (%#)", ([env, message]) =>
    Effect.map(Effect.flip(read(env)), (error) => assert.strictEqual(error.message, message))
  )

  it.effect("name the address to listen on, and stop the start for a port that is none", () =>
    Effect.gen(function* () {
      const listen = (env: Environment) => Effect.provide(listenSettings, withEnv(env))
      assert.deepStrictEqual(yield* listen({}), { host: "127.0.0.1", port: 3000 })
      assert.deepStrictEqual(yield* listen({ HOST: "127.0.0.1", PORT: "0" }), { host: "127.0.0.1", port: 0 })
      for (const port of ["x", "-1", "70000"]) {
        const error = yield* Effect.flip(listen({ PORT: port }))
        assert.strictEqual(error.message, "PORT must be a number from 0 to 65535")
      }
    })
  )
})
