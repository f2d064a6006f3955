import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { checkControlPlaneSettings } from "../../src/SettingsCheck.ts"
import { validate } from "./Validate.ts"

const production = { NODE_ENV: "production", AUTH_API_KEYS: "sixteen-letters-", RUNTIME_TLS: "true" }

describe("the check of the settings", () => {
  it("lets the defaults of development pass", () => {
    assert.deepStrictEqual(validate({}), { faults: [], warnings: [] })
  })

  it("lets a sound production pass", () => {
    assert.deepStrictEqual(validate({ ...production, DB_POOL_MAX: "2" }).faults, [])
  })

  for (const [what, values, lines] of [
    [
      "production without keys",
      { NODE_ENV: "production", RUNTIME_TLS: "true", AUTH_API_KEYS: " , " },
      ["AUTH_API_KEYS must hold at least one key when NODE_ENV is production"]
    ],
    [
      "any other deployment without keys",
      { NODE_ENV: "staging" },
      ["AUTH_API_KEYS must hold at least one key when NODE_ENV is staging"]
    ],
    [
      "more names than keys",
      { AUTH_API_KEYS: "a, ,b", AUTH_API_KEY_NAMES: "ci,,ops" },
      ["AUTH_API_KEY_NAMES names more keys than AUTH_API_KEYS holds"]
    ],
    [
      "keys of fewer than 16 characters outside of development",
      { ...production, AUTH_API_KEYS: "sixteen-letters-,fifteen-letters" },
      ["AUTH_API_KEYS must hold keys of at least 16 characters when NODE_ENV is production"]
    ],
    [
      "a key of one repeated letter outside of development",
      { ...production, AUTH_API_KEYS: `${"a".repeat(32)},sixteen-letters-` },
      ["AUTH_API_KEYS must hold keys of at least 5 different characters when NODE_ENV is production"]
    ],
    [
      "a key of a repeated word outside of development",
      { ...production, AUTH_API_KEYS: "testtesttesttest" },
      ["AUTH_API_KEYS must hold keys of at least 5 different characters when NODE_ENV is production"]
    ],
    [
      "a repeated key outside of development",
      { ...production, NODE_ENV: "staging", AUTH_API_KEYS: "sixteen-letters-, sixteen-letters-" },
      ["AUTH_API_KEYS must hold each key once when NODE_ENV is staging"]
    ],
    [
      "fewer roles than keys outside of development",
      { ...production, AUTH_API_KEYS: "sixteen-letters-,seventeen-letters", AUTH_API_KEY_ROLES: "viewer" },
      ["AUTH_API_KEY_ROLES must hold a role for each key of AUTH_API_KEYS when NODE_ENV is production"]
    ],
    ["an administrator's key without a role", { ...production, AUTH_API_KEY_NAMES: "ci" }, []],
    ["short keys in development", { AUTH_API_KEYS: "a,b,a", AUTH_API_KEY_ROLES: "viewer" }, []],
    ["fewer names than keys", { AUTH_API_KEYS: "a,b", AUTH_API_KEY_NAMES: "ci" }, []],
    [
      "production in plain text",
      { ...production, RUNTIME_TLS: "" },
      ["RUNTIME_TLS must be true in production, unless RUNTIME_ALLOW_INSECURE is true"]
    ],
    ["plain text by consent", { ...production, RUNTIME_TLS: "no", RUNTIME_ALLOW_INSECURE: "YES" }, []],
    [
      "the development header in production",
      { ...production, RUNTIME_USE_DEV_HEADER: "on" },
      ["RUNTIME_USE_DEV_HEADER is not allowed in production without RUNTIME_BEARER_TOKEN"]
    ],
    ["the same beside a bearer", { ...production, RUNTIME_USE_DEV_HEADER: "1", RUNTIME_BEARER_TOKEN: "t" }, []],
    [
      "a single connection in production",
      { ...production, DB_POOL_MAX: "1" },
      ["DB_POOL_MAX must be at least 2 in production"]
    ],
    ["a single connection in development", { DB_POOL_MAX: "1" }, []],
    ["a port that is none", { PORT: "70000" }, ['PORT must be a whole number from 0 to 65535, got "70000"']],
    ["an address without a port", { RUNTIME_ADDRESS: "runtime" }, ['RUNTIME_ADDRESS must be host:port, got "runtime"']],
    [
      "another database, without its password",
      { DATABASE_URL: "mysql://u:secret@h/d" },
      ["DATABASE_URL must be an address starting with postgres:// or postgresql://"]
    ],
    [
      "an unknown log level",
      { LOG_LEVEL: "loud" },
      ['LOG_LEVEL must be one of all, trace, debug, info, warn, warning, error, fatal, none, silent, got "loud"']
    ],
    [
      "a time to live below a day",
      { DATA_RETENTION_TTL_DAYS: "0" },
      ['DATA_RETENTION_TTL_DAYS must be a whole number of at least 1, got "0"']
    ],
    [
      "a listing without pages",
      { RUNTIME_LIST_SESSIONS_MAX_PAGES: "-5" },
      ['RUNTIME_LIST_SESSIONS_MAX_PAGES must be a whole number of at least 1, got "-5"']
    ],
    [
      "a collector that is not an address",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
      ["OTEL_EXPORTER_OTLP_ENDPOINT must be an address starting with http:// or https://"]
    ]
  ] as const) {
    it(`validates ${what}`, () => {
      const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""))
      assert.deepStrictEqual(
        validate(given).faults.map(({ problem, variable }) => `${variable} ${problem}`),
        [...lines]
      )
    })
  }

  it("warns when production serves others and its console cannot reach the launch service", () => {
    const warned = (values: Readonly<Record<string, string>>) =>
      validate({ ...production, ...values }).warnings.filter(({ variable }) => variable === "LAUNCHER_PUBLIC_URL")
    const line = { variable: "LAUNCHER_PUBLIC_URL", problem: "is not set: the console has no launch pages" }
    assert.deepStrictEqual(warned({}), [line])
    assert.deepStrictEqual(warned({ HOST: "10.0.0.7" }), [line])
    assert.deepStrictEqual(warned({ HOST: "127.0.0.1" }), [])
    assert.deepStrictEqual(warned({ LAUNCHER_PUBLIC_URL: "https://launch.example.org" }), [])
    assert.deepStrictEqual(warned({ CONSOLE_ENABLED: "false" }), [])
    assert.deepStrictEqual(warned({ NODE_ENV: "development" }), [])
  })

  it("forgives a number that does not parse, and says so", () => {
    assert.deepStrictEqual(validate({ DB_POOL_MAX: "many" }), {
      faults: [],
      warnings: [{ variable: "DB_POOL_MAX", problem: 'is not a number ("many"): the default is used' }]
    })
  })

  it.effect("reports everything at once, a line for each variable", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => {
        lines.push(`${logLevel}: ${[message].flat().join(" ")}`)
      })
      const env = { NODE_ENV: "production", LOG_LEVEL: "loud", PORT: "99999", DB_POOL_MAX: "x", THROTTLE_LIMIT: "0" }
      const refused = yield* checkControlPlaneSettings.pipe(
        Effect.flip,
        Effect.provide([
          NodeFileSystem.layer,
          Logger.layer([logger]),
          ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
        ])
      )
      assert.strictEqual(refused._tag, "SettingsRefused")
      assert.deepStrictEqual(
        lines.map((line) => line.split(" ").slice(0, 2).join(" ")),
        [
          "Warn: DB_POOL_MAX",
          "Error: AUTH_API_KEYS",
          "Error: RUNTIME_TLS",
          "Error: THROTTLE_LIMIT",
          "Error: LOG_LEVEL",
          "Error: PORT"
        ]
      )
    })
  )
})
