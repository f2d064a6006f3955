import { assert, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { serviceEnvironment } from "../src/ServiceEnvironment.ts"
import { readStackSettings } from "../src/StackSettings.ts"

const read = (env: Record<string, string>) =>
  Effect.provideService(readStackSettings, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))

const NEIGHBOURS = { runtimeAddress: "127.0.0.1:50051", controlPlaneUrl: "http://127.0.0.1:3001" }

it.effect("settings have the defaults of the specifications and start at the checkout", () =>
  Effect.gen(function* () {
    const settings = yield* read({ LAUNCHER_PORT: "", DATABASE_URL: " " })
    assert.strictEqual(settings.launcherPort, 3000)
    assert.strictEqual(settings.controlPlanePort, 3001)
    assert.strictEqual(settings.runtimePort, 50_051)
    assert.strictEqual(settings.host, "127.0.0.1")
    assert.isUndefined(settings.databaseUrl)
    assert.isUndefined(settings.postgresPort)
    assert.strictEqual(settings.logLevel, "Warn")
    assert.isTrue(settings.dataDir.startsWith(settings.root))
    assert.isTrue(settings.packsDir.startsWith(settings.root))
  })
)

it.effect("settings that cannot be used are refused by name", () =>
  Effect.gen(function* () {
    const refusals = yield* Effect.forEach(
      [{ CONTROL_PLANE_PORT: "0" }, { SANDBOX_PORT: "70000" }, { LOG_LEVEL: "loud" }, { PACKS_DIR: "/no/such/folder" }],
      (env: Record<string, string>) => Effect.map(Effect.flip(read(env)), ({ message }) => message)
    )
    assert.deepStrictEqual(refusals, [
      'CONTROL_PLANE_PORT must be a port from 1 to 65535, got "0"',
      'SANDBOX_PORT must be a port from 1 to 65535, got "70000"',
      'LOG_LEVEL must be one of all, trace, debug, info, warn, warning, error, fatal, none, got "loud"',
      "PACKS_DIR names no folder: /no/such/folder"
    ])
  })
)

it.effect("the services are told of each other, and to speak plainly to the sandbox", () =>
  Effect.gen(function* () {
    const settings = yield* read({ AUTH_API_KEYS: " one , two" })
    assert.strictEqual(settings.apiKey && Redacted.value(settings.apiKey), "one")
    const given = { THROTTLE_LIMIT: "7", RUNTIME_TLS: "true", PROTO_AUTH_SERVICE_URL: "http://auth", HOME: undefined }
    const environment = serviceEnvironment(given, settings, NEIGHBOURS)
    assert.include(environment, {
      THROTTLE_LIMIT: "7",
      RUNTIME_ADDRESS: "127.0.0.1:50051",
      RUNTIME_TLS: "false",
      PROTO_RUNTIME_ADDRESS: "127.0.0.1:50051",
      PROTO_RUNTIME_ALLOW_INSECURE: "true",
      PROTO_AUTH_SERVICE_URL: "",
      PROTO_CONTROL_PLANE_URL: "http://127.0.0.1:3001",
      PROTO_CONTROL_PLANE_API_KEY: "one",
      REGISTER_POLICIES_ON_LAUNCH: "false"
    })
  })
)

it.effect("a runtime of somebody else's is spoken to as the settings say", () =>
  Effect.gen(function* () {
    const given = { RUNTIME_ADDRESS: "runtime:443", RUNTIME_TLS: "true", RUNTIME_BEARER_TOKEN: "secret" }
    const environment = serviceEnvironment(given, yield* read(given), { ...NEIGHBOURS, runtimeAddress: "runtime:443" })
    assert.include(environment, {
      RUNTIME_TLS: "true",
      RUNTIME_BEARER_TOKEN: "secret",
      PROTO_RUNTIME_ADDRESS: "runtime:443",
      PROTO_RUNTIME_TLS: "true"
    })
  })
)
