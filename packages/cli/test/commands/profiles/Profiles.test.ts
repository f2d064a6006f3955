import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { command } from "../../support/Command.ts"

const NAMES = ["XDG_CONFIG_HOME", "RUNPLANE_PROFILE", "RUNPLANE_API_KEY", "RUNPLANE_URL"] as const
const before = NAMES.map((name) => [name, process.env[name]] as const)
afterAll(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
})

describe("profiles", () => {
  let folder = ""
  let file = ""
  beforeEach(() => {
    for (const name of NAMES) delete process.env[name]
    folder = mkdtempSync(join(tmpdir(), "runplane-profiles-"))
    process.env["XDG_CONFIG_HOME"] = folder
    file = join(folder, "runplane", "profiles.json")
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const TEAM = [
    "profiles",
    "add",
    "team",
    "--url",
    "https://runs.example.org/",
    "--launcher-url",
    "https://l.example.org"
  ]
  const stored = (): unknown => JSON.parse(readFileSync(file, "utf8"))
  const ok = (...args: ReadonlyArray<string>) =>
    Effect.tap(command(...args), ({ code, reason }) =>
      Effect.sync(() => assert.deepStrictEqual([code, reason], [0, ""], args.join(" ")))
    )

  it.live("are added with a key of the environment or a file, which only their owner can read and no list prints", () =>
    Effect.gen(function* () {
      process.env["RUNPLANE_API_KEY"] = "a-secret"
      const added = yield* ok(...TEAM)
      assert.include(added.stdout, `profile team is in ${file}, with a key`)
      assert.deepStrictEqual(stored(), {
        team: { url: "https://runs.example.org", launcherUrl: "https://l.example.org", apiKey: "a-secret" }
      })
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.strictEqual(statSync(join(folder, "runplane")).mode & 0o777, 0o700)

      delete process.env["RUNPLANE_API_KEY"]
      const keyFile = join(folder, "key")
      writeFileSync(keyFile, "another-secret\n")
      yield* ok("profiles", "add", "other", "--url", "http://127.0.0.1:9", "--key-file", keyFile)
      for (const format of [[], ["--json"], ["--jsonl"]]) {
        const { stderr, stdout } = yield* ok("profiles", "list", ...format)
        assert.include(stdout, "team")
        assert.notMatch(stdout + stderr, /secret/)
      }
      assert.deepStrictEqual(JSON.parse((yield* ok("profiles", "list", "--json")).stdout)[1], {
        name: "other",
        url: "http://127.0.0.1:9",
        hasKey: true,
        inUse: false
      })
    })
  )

  it.live("are used by name: the flag before the environment, the environment before the chosen one", () =>
    Effect.gen(function* () {
      for (const name of ["one", "two", "three", "default"]) {
        yield* ok("profiles", "add", name, "--url", `http://${name}.invalid`)
      }
      const usedBy = (...args: ReadonlyArray<string>) =>
        Effect.map(command("policies", "list", ...args), ({ reason }) => /http:\/\/(\w+)\.invalid/.exec(reason)?.[1])
      assert.strictEqual(yield* usedBy(), "default")
      yield* ok("profiles", "use", "one")
      assert.strictEqual(yield* usedBy(), "one")
      yield* ok("profiles", "use", "two")
      assert.strictEqual(yield* usedBy(), "two")
      process.env["RUNPLANE_PROFILE"] = "three"
      assert.strictEqual(yield* usedBy(), "three")
      assert.include((yield* ok("profiles", "use", "one")).stdout, "after RUNPLANE_PROFILE, which names three")
      assert.strictEqual(yield* usedBy("--profile", "two"), "two")
      process.env["RUNPLANE_URL"] = "http://environment.invalid"
      assert.strictEqual(yield* usedBy("--profile", "two"), "environment")
      assert.strictEqual(yield* usedBy("--profile", "two", "--url", "http://flag.invalid"), "flag")
    })
  )

  it.live("are replaced only on demand, and removed", () =>
    Effect.gen(function* () {
      yield* ok(...TEAM)
      yield* ok("profiles", "use", "team")
      assert.include((yield* command(...TEAM)).reason, "--replace")
      yield* ok("profiles", "add", "team", "--url", "http://new.example.org", "--replace")
      assert.deepStrictEqual(stored(), { team: { url: "http://new.example.org", inUse: true } })
      yield* ok("profiles", "remove", "team")
      assert.deepStrictEqual(stored(), {})
      assert.include((yield* command("profiles", "remove", "team")).reason, 'has no profile "team"')
    })
  )

  it.live("name the field of a wrong value, and change nothing", () =>
    Effect.gen(function* () {
      for (const [args, words] of [
        [["two words", "--url", "http://a"], 'the name "two words" must be'],
        [["__proto__", "--url", "http://a"], 'the name "__proto__" must be'],
        [["a"], "a profile needs --url, --launcher-url or both"],
        [["a", "--url", "ftp://a"], '"ftp://a" is not an address'],
        [["a", "--url", "http://a", "--key-file", join(folder, "none")], "none"]
      ] as const) {
        const { code, reason } = yield* command("profiles", "add", ...args)
        assert.strictEqual(code, 2)
        assert.include(reason, words)
      }
      process.env["RUNPLANE_API_KEY"] = "k\u00e9y"
      assert.include((yield* command("profiles", "add", "a", "--url", "http://a")).reason, "the API key must")
      assert.isFalse(existsSync(file))
    })
  )

  it.live("warn in one line when others can read the keys of the file", () =>
    Effect.gen(function* () {
      process.env["RUNPLANE_API_KEY"] = "a-secret"
      yield* ok(...TEAM)
      assert.strictEqual((yield* ok("profiles", "list")).stderr, "")
      for (const mode of [0o640, 0o604]) {
        chmodSync(file, mode)
        const warning = `runplane: ${file} has keys, and other users can read it: chmod 600 ${file}`
        assert.strictEqual((yield* ok("profiles", "list")).stderr, warning)
        assert.strictEqual((yield* command("runs", "list", "--url", "http://127.0.0.1:1")).stderr, warning)
      }
      writeFileSync(file, JSON.stringify({ team: { url: "http://a" } }))
      assert.strictEqual((yield* ok("profiles", "list")).stderr, "")
    })
  )
})
