import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as TestConsole from "effect/testing/TestConsole"
import { validateSettings } from "../src/settings/CheckSettings.ts"
import { formerSettings } from "../src/settings/FormerSettings.ts"
import { defaultsOf, readSetting, readSettings, sentenceOf } from "../src/settings/ReadSettings.ts"
import { PROGRAMS, row, settingsOf } from "../src/settings/Setting.ts"
import { settingNames, settingsOfProgram, settingsTable } from "../src/settings/SettingsTable.ts"
import { printSettings, settingsHelp } from "../src/settings/SettingTexts.ts"
import { flag, text, wholeNumber } from "../src/settings/SettingTypes.ts"
import { configuredNames, unknownSettings } from "../src/settings/UnknownSettings.ts"

const withEnv = (env: Record<string, string>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env, preserveEmptyStrings: true }))

const sample = settingsOf(["stack"], {
  A_NAME: row(text, "none", "A name.", { aliases: ["OLD_NAME"] }),
  A_LIMIT: row(wholeNumber({ min: 1 }), 5, "A limit."),
  A_DELAY_MS: row(wholeNumber({ whenBad: "default", atMost: 100 }), 7, "A delay."),
  A_FLAG: row(flag, true, "A flag."),
  A_HOST: row(text, "here", "A host, or nothing.", { emptyCounts: true })
})

describe("the reader of settings", () => {
  it.effect("takes defaults for unset and empty variables", () =>
    Effect.gen(function* () {
      const values = yield* readSettings(sample)
      assert.deepStrictEqual(values, { A_NAME: "none", A_LIMIT: 5, A_DELAY_MS: 7, A_FLAG: true, A_HOST: "" })
      assert.deepStrictEqual(defaultsOf(sample), { ...values, A_HOST: "here" })
    }).pipe(withEnv({ A_NAME: " ", A_LIMIT: "", A_HOST: "" }))
  )

  it.effect("takes an older name when the name itself is not set", () =>
    Effect.gen(function* () {
      const read = (env: Record<string, string>) => readSetting(sample.A_NAME).pipe(withEnv(env))
      assert.strictEqual(yield* read({ OLD_NAME: "old" }), "old")
      assert.strictEqual(yield* read({ OLD_NAME: "old", A_NAME: "new" }), "new")
      assert.strictEqual(yield* read({ OLD_NAME: "old", A_NAME: "" }), "none")
    })
  )

  it.effect("reports all faults that stop the start at once, and uses the default where the row allows it", () =>
    Effect.gen(function* () {
      const refused = yield* readSettings({ ...sample, other: sample.A_LIMIT }).pipe(
        withEnv({ A_LIMIT: "0", A_DELAY_MS: "soon", A_FLAG: "maybe" }),
        Effect.flip
      )
      const line = 'A_LIMIT must be a whole number of at least 1, got "0"'
      assert.strictEqual(refused.message, `${line}\n${line}`)
      const lenient = yield* readSettings(sample).pipe(withEnv({ A_DELAY_MS: "soon", A_FLAG: "maybe" }))
      assert.deepInclude(lenient, { A_DELAY_MS: 7, A_FLAG: false })
      assert.strictEqual(yield* readSetting(sample.A_DELAY_MS).pipe(withEnv({ A_DELAY_MS: "1000" })), 100)
    })
  )
})

describe("the table of settings", () => {
  it("has a name once for each program, and a meaning", () => {
    for (const program of PROGRAMS) {
      const names = settingsOfProgram(program).map(({ name }) => name)
      assert.isNotEmpty(names)
      assert.lengthOf(names, new Set(names).size)
    }
    for (const { meaning, name } of settingsTable.flatMap(({ settings }) => settings)) {
      assert.match(meaning, /^[A-Z`h].*\.$/, name)
    }
  })

  it("has defaults that its own types accept", () => {
    for (const { fallback, name, shownDefault, type } of settingsTable.flatMap(({ settings }) => settings)) {
      const value = fallback("development")
      if (value === undefined || value === "" || /[ /]/.test(shownDefault) || shownDefault === "") continue
      assert.notStrictEqual(type.read(shownDefault)._tag, "Fault", name)
    }
  })

  it("shows the settings of a program in lines of the page", () => {
    const help = settingsHelp("stack")
    for (const { name } of settingsOfProgram("stack")) assert.include(help, `  ${name} `)
    for (const line of help.split("\n")) assert.isAtMost(line.length, 120)
  })
})

describe("names that are not settings", () => {
  it("are reported with the nearest name when the prefix is ours", () => {
    assert.deepStrictEqual(unknownSettings(["WEBHOOK_TIMEOUT", "SESSION_MANAGER", "PATH", "WEBHOOK_POLL_MS"]), [
      { variable: "WEBHOOK_TIMEOUT", problem: "is not a setting; did you mean WEBHOOK_TIMEOUT_MS?" }
    ])
  })

  it.each([
    ["OIDC_ISUER", "OIDC_ISSUER"],
    ["OIDC_AUDIENCES", "OIDC_AUDIENCE"],
    ["OIDC_ROLECLAIM", "OIDC_ROLE_CLAIM"],
    ["AUTH_API_KEY", "AUTH_API_KEYS"],
    ["DATABSE_URL", "DATABASE_URL"],
    ["CORS_ORIGINS", "CORS_ORIGIN"],
    ["SHUTDOWN_DELAY", "SHUTDOWN_DELAY_MS"],
    ["TRUST_PROXYS", "TRUST_PROXY"],
    ["LOG_LEVL", "LOG_LEVEL"],
    ["RUNPLANE_ULR", "RUNPLANE_URL"],
    ["SANDBOX_RELASE", "SANDBOX_RELEASE"]
  ])("are reported: %s is meant to be %s", (variable, meant) => {
    const problem = `is not a setting; did you mean ${meant}?`
    assert.deepStrictEqual(unknownSettings([variable]), [{ variable, problem }])
  })

  it("are reported for every setting that loses or gains a letter or has two swapped", () => {
    for (const { name } of settingsTable.flatMap(({ settings }) => settings)) {
      if (name.length <= 8) continue
      const swapped = `${name.slice(0, -2)}${name.slice(-1)}${name.slice(-2, -1)}`
      const slips = [name.slice(0, -1), `${name}X`, ...(swapped === name ? [] : [swapped])]
      for (const slip of slips) assert.isNotEmpty(unknownSettings([slip]), slip)
    }
  })

  it("are none of ours when the system or another program sets them", () => {
    const foreign = ["PATH", "HOSTNAME", "HOME", "PORTS", "NODE_OPTIONS", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"]
    const more = ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_SERVICE_VERSION", "SESSION_MANAGER", "DATABASE_HOST"]
    assert.deepStrictEqual(unknownSettings([...foreign, ...more, "LOG_FORMAT", "REDIS_HOST", "AUTH_SECRET"]), [])
  })

  it.effect("are found in the configuration", () =>
    Effect.gen(function* () {
      assert.sameMembers([...(yield* configuredNames)], ["PROTO_A", "PROTO_A_B", "LIST_0", "LIST_1"])
    }).pipe(withEnv({ PROTO_A: "1", PROTO_A_B: "2", LIST_0: "3", LIST_1: "4" }))
  )
})

describe("settings of earlier releases", () => {
  it.effect("are reported in one line each, with the name of today or the reason of the removal", () =>
    Effect.gen(function* () {
      const env = {
        MACP_AUTH_SERVICE_URL: "http://auth:3200",
        MACP_RUNTIME_ADDRESS: "a:1",
        PROTO_RUNTIME_ADDRESS: "b:1"
      }
      const { faults, warnings } = yield* validateSettings("launcher").pipe(
        withEnv({ ...env, STREAM_HUB_STRATEGY: "x" })
      )
      assert.deepStrictEqual(faults, [])
      assert.deepStrictEqual(warnings.map(sentenceOf), ["MACP_AUTH_SERVICE_URL is renamed: use PROTO_AUTH_SERVICE_URL"])

      const plane = yield* validateSettings("control-plane").pipe(
        withEnv({ STREAM_HUB_STRATEGY: "redis", REDIS_URL: "" })
      )
      assert.deepStrictEqual(plane.warnings.map(sentenceOf), [
        "STREAM_HUB_STRATEGY is removed, because the processes notify each other through PostgreSQL"
      ])
    })
  )

  it("have no row any more, and a name of today that has one", () => {
    for (const former of PROGRAMS.flatMap(formerSettings)) {
      if ("now" in former) assert.isTrue(settingNames.has(former.now), former.name)
      else assert.isFalse(settingNames.has(former.name), former.name)
    }
  })
})

describe("the printed settings", () => {
  it.effect("show what a program starts with, and no secret", () =>
    Effect.gen(function* () {
      yield* printSettings("control-plane")
      const lines = yield* TestConsole.logLines
      assert.lengthOf(lines, settingsOfProgram("control-plane").length)
      assert.include(lines, "PORT=4000")
      assert.include(lines, "HOST=0.0.0.0 with API keys, 127.0.0.1 without (default)")
      assert.include(lines, "AUTH_API_KEYS=****")
      assert.notInclude(lines.join("\n"), "hush")
    }).pipe(
      withEnv({ PORT: "4000", AUTH_API_KEYS: "hush", DATABASE_URL: "postgres://u:hush@db/x" }),
      Effect.provide(NodeFileSystem.layer)
    )
  )

  it.effect("show the date of the catalogue of model prices, or why it has none", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const file = yield* files.makeTempFileScoped()
      const date = new Date("2026-02-03T04:05:06Z")
      yield* files.utimes(file, date, date)
      yield* printSettings("control-plane").pipe(withEnv({ MODEL_PRICES_FILE: file }))
      assert.include(yield* TestConsole.logLines, `MODEL_PRICES_FILE=${file} (2026-02-03)`)
      yield* printSettings("control-plane").pipe(withEnv({ MODEL_PRICES_FILE: "/nowhere/prices.json" }))
      assert.include(yield* TestConsole.logLines, "MODEL_PRICES_FILE=/nowhere/prices.json (cannot be read: NotFound)")
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
