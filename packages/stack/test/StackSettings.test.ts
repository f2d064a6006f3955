import { resolve } from "node:path"
import { assert, it } from "@effect/vitest"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import {
  ControlPlaneSettings,
  defaultsOf,
  LaunchSettings,
  RuntimeSettings,
  readSettings,
  ServiceSettings
} from "@runplane/server"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CANCEL_CALLBACK_PORT_BASE, type Neighbours, serviceSettings, withTexts } from "../src/ServiceSettings.ts"
import { readStackSettings } from "../src/StackSettings.ts"

const read = (env: Record<string, string>) =>
  Effect.provideService(readStackSettings, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))

/** The settings that the services get, beside those of the user. */
const environmentOf = (env: Record<string, string>, neighbours: Neighbours = NEIGHBOURS) =>
  Effect.provideService(
    Effect.gen(function* () {
      return yield* serviceSettings(yield* readStackSettings, neighbours)
    }),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({ env, preserveEmptyStrings: true })
  )

const NEIGHBOURS: Neighbours = {
  runtimeAddress: "127.0.0.1:50051",
  controlPlaneUrl: "http://127.0.0.1:3001",
  launcherUrl: "http://127.0.0.1:3000",
  authUrl: "http://127.0.0.1:3200",
  embeddedUrl: undefined
}

it.effect("people have their seats in the embedded database, unless the user names another one", () =>
  Effect.gen(function* () {
    const embedded = { ...NEIGHBOURS, embeddedUrl: "postgresql://127.0.0.1:54329/runplane" }
    assert.strictEqual((yield* environmentOf({}, embedded))["LAUNCHER_DATABASE_URL"], embedded.embeddedUrl)
    const own = { LAUNCHER_DATABASE_URL: "postgresql://db/seats" }
    assert.notProperty(yield* environmentOf(own, embedded), "LAUNCHER_DATABASE_URL")
    assert.notProperty(yield* environmentOf({ DATABASE_URL: "postgresql://db/runplane" }), "LAUNCHER_DATABASE_URL")
  })
)

it.effect("settings have the documented defaults, and folders start where the program does", () =>
  Effect.gen(function* () {
    const settings = yield* read({ LAUNCHER_PORT: "", DATABASE_URL: " " })
    assert.strictEqual(settings.launcherPort, 3000)
    assert.strictEqual(settings.controlPlanePort, 3001)
    assert.strictEqual(settings.runtimePort, 50_051)
    assert.strictEqual(settings.host, "127.0.0.1")
    assert.isUndefined(settings.databaseUrl)
    assert.isUndefined(settings.postgresPort)
    assert.isUndefined(settings.authPort)
    assert.isTrue(settings.devAuth)
    assert.strictEqual(settings.logLevel, "Warn")
    assert.strictEqual(settings.dataDir, resolve(".data"))
    assert.strictEqual(settings.packsDir, resolve("packs"))
    const given = yield* read({ RUNPLANE_DATA_DIR: "elsewhere", PACKS_DIR: "docs" })
    assert.deepStrictEqual([given.dataDir, given.packsDir], [resolve("elsewhere"), resolve("docs")])
  })
)

it.effect("settings that cannot be used are refused by name", () =>
  Effect.gen(function* () {
    const refusals = yield* Effect.forEach(
      [
        { CONTROL_PLANE_PORT: "0" },
        { SANDBOX_PORT: "70000" },
        { AUTH_PORT: "auth" },
        { DEV_AUTH: "maybe" },
        { LOG_LEVEL: "loud" },
        { PACKS_DIR: "/no/such/folder" }
      ],
      (env: Record<string, string>) => Effect.map(Effect.flip(read(env)), ({ message }) => message)
    )
    assert.deepStrictEqual(refusals, [
      'CONTROL_PLANE_PORT must be a port from 1 to 65535, got "0"',
      'SANDBOX_PORT must be a port from 1 to 65535, got "70000"',
      'AUTH_PORT must be a port from 1 to 65535, got "auth"',
      'DEV_AUTH must be true or false, got "maybe"',
      'LOG_LEVEL must be one of all, trace, debug, info, warn, warning, error, fatal, none, silent, got "loud"',
      "PACKS_DIR names no folder: /no/such/folder"
    ])
  })
)

it.effect("the auth service mints for the sandbox, and with DEV_AUTH for a given runtime", () =>
  Effect.gen(function* () {
    const cases: ReadonlyArray<readonly [Record<string, string>, boolean]> = [
      [{}, true],
      [{ DEV_AUTH: "off" }, false],
      [{ RUNTIME_ADDRESS: "runtime:443" }, false],
      [{ RUNTIME_ADDRESS: "runtime:443", DEV_AUTH: "true" }, true]
    ]
    for (const [env, expected] of cases) assert.strictEqual((yield* read(env)).devAuth, expected)
  })
)

it.effect("the services get the addresses of each other and of the auth service, and no TLS for the sandbox", () =>
  Effect.gen(function* () {
    const settings = yield* read({ AUTH_API_KEYS: " one , two" })
    assert.strictEqual(settings.apiKey && Redacted.value(settings.apiKey), "one")
    const given = { AUTH_API_KEYS: "one", RUNTIME_TLS: "true", PROTO_AUTH_SERVICE_URL: "http://auth" }
    const environment = yield* environmentOf(given)
    assert.include(environment, {
      RUNTIME_ADDRESS: "127.0.0.1:50051",
      RUNTIME_TLS: "false",
      PROTO_RUNTIME_ADDRESS: "127.0.0.1:50051",
      PROTO_RUNTIME_ALLOW_INSECURE: "true",
      PROTO_AUTH_SERVICE_URL: "http://127.0.0.1:3200",
      PROTO_AUTH_TOKEN_CAN_MANAGE_REGISTRY: "true",
      RUNTIME_BEARER_TOKEN: "",
      RUNTIME_USE_DEV_HEADER: "false",
      PROTO_CONTROL_PLANE_URL: "http://127.0.0.1:3001",
      PROTO_CONTROL_PLANE_API_KEY: "one"
    })
    assert.notProperty(environment, "REGISTER_POLICIES_ON_LAUNCH")
  })
)

it.effect.each([
  ["with its name", { AUTH_API_KEY_NAMES: "ops,launching", AUTH_API_KEY_ROLES: "viewer,admin" }, "launching"],
  ["without a name by its digest", {}, "key:7692c3ad"]
] as const)("the control plane knows the launch service by the key of the stack, %s", ([_, given, name]) =>
  Effect.gen(function* () {
    const environment = yield* environmentOf({ AUTH_API_KEYS: "one,two", ...given })
    assert.strictEqual(environment["LAUNCHER_KEY_NAME"], name)
  })
)

it.effect("browsers get the address of the launch service, which lets the console call it", () =>
  Effect.gen(function* () {
    const byDefault = yield* environmentOf({})
    assert.strictEqual(byDefault["LAUNCHER_PUBLIC_URL"], "http://127.0.0.1:3000")
    assert.strictEqual(byDefault["CORS_ORIGIN"], "http://127.0.0.1:3001,http://localhost:3001,http://localhost:3000")
    const given = { LAUNCHER_PUBLIC_URL: "https://launch.example.org", CORS_ORIGIN: "https://console.example.org" }
    const asGiven = yield* environmentOf(given)
    assert.strictEqual(asGiven["LAUNCHER_PUBLIC_URL"], "https://launch.example.org")
    assert.strictEqual(
      asGiven["CORS_ORIGIN"],
      "http://127.0.0.1:3001,http://localhost:3001,https://console.example.org"
    )
  })
)

it.effect("the services get a generous budget of requests, unless the user gives one", () =>
  Effect.gen(function* () {
    assert.include(yield* environmentOf({}), { THROTTLE_LIMIT: "10000", THROTTLE_READ_LIMIT: "10000" })
    assert.include(yield* environmentOf({ THROTTLE_LIMIT: "7" }), { THROTTLE_LIMIT: "7" })
  })
)

it.effect("the services get all other settings of the user unchanged", () =>
  Effect.gen(function* () {
    const provider = yield* withTexts({ PROTO_AUTH_SERVICE_URL: "", RUNTIME_TLS: "false" })
    const { limit, tls, url } = yield* Effect.provideService(
      readSettings({
        limit: ServiceSettings.THROTTLE_LIMIT,
        tls: RuntimeSettings.RUNTIME_TLS,
        url: LaunchSettings.PROTO_AUTH_SERVICE_URL
      }),
      ConfigProvider.ConfigProvider,
      provider
    )
    assert.deepStrictEqual({ limit, tls, url }, { limit: 7, tls: false, url: "" })
  }).pipe(
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({
        env: { THROTTLE_LIMIT: "7", RUNTIME_TLS: "true", MACP_AUTH_SERVICE_URL: "http://auth" }
      })
    )
  )
)

it.effect("a sandbox without signed tokens is called by name, also when an auth service is set", () =>
  Effect.gen(function* () {
    const given = { DEV_AUTH: "false", PROTO_AUTH_SERVICE_URL: "http://auth", MACP_AUTH_SERVICE_URL: "http://auth" }
    const environment = yield* environmentOf(given, { ...NEIGHBOURS, authUrl: undefined })
    assert.include(environment, {
      RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
      PROTO_AUTH_SERVICE_URL: "",
      PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "true"
    })
  })
)

it.effect("agents take cancel requests, on this machine too, unless the user sets otherwise", () =>
  Effect.gen(function* () {
    assert.include(yield* environmentOf({}), { PROTO_CANCEL_CALLBACK_PORT_BASE: String(CANCEL_CALLBACK_PORT_BASE) })
    assert.include(yield* environmentOf({ MACP_CANCEL_CALLBACK_PORT_BASE: "9000" }), {
      PROTO_CANCEL_CALLBACK_PORT_BASE: "9000"
    })
    assert.isTrue(defaultsOf(ControlPlaneSettings).CANCEL_CALLBACK_ALLOW_PRIVATE_TARGETS)
    assert.notProperty(yield* environmentOf({}), "CANCEL_CALLBACK_ALLOW_PRIVATE_TARGETS")
  })
)

it.effect("a given runtime is called as the settings say", () =>
  Effect.gen(function* () {
    const given = { RUNTIME_ADDRESS: "runtime:443", RUNTIME_TLS: "true", RUNTIME_BEARER_TOKEN: "secret" }
    const environment = yield* environmentOf(given, {
      ...NEIGHBOURS,
      runtimeAddress: "runtime:443",
      authUrl: undefined
    })
    assert.include(environment, {
      PROTO_RUNTIME_ADDRESS: "runtime:443",
      PROTO_RUNTIME_TLS: "true",
      PROTO_AUTH_DEVELOPMENT_CREDENTIALS: "true"
    })
    for (const name of ["RUNTIME_TLS", "RUNTIME_BEARER_TOKEN", "PROTO_AUTH_SERVICE_URL"]) {
      assert.notProperty(environment, name)
    }
  })
)

it.effect("the stack's own calls take the first key whose role is enough", () =>
  Effect.gen(function* () {
    const keyWith = (roles: string) =>
      Effect.map(read({ AUTH_API_KEYS: "first,second,third", AUTH_API_KEY_ROLES: roles }), ({ apiKey }) =>
        apiKey === undefined ? undefined : Redacted.value(apiKey)
      )
    assert.strictEqual(yield* keyWith(""), "first")
    assert.strictEqual(yield* keyWith("ingest,operator,admin"), "third")
    assert.strictEqual(yield* keyWith("ingest,viewer,operator"), "third")
    assert.strictEqual(yield* keyWith("ingest"), "second")
    const { message } = yield* Effect.flip(keyWith("ingest,viewer,ingest"))
    assert.include(message, "AUTH_API_KEY_ROLES must give one key the role admin or operator")
  })
)
