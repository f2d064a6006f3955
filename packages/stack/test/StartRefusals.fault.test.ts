import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, layer } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { createDatabase, freePorts, listenAnywhere } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type StackProcessOptions, startStack } from "./support/StackProcess.ts"

const PACKS = fileURLToPath(new URL("../../../packs", import.meta.url))

/** The one line that a start which is refused writes. */
const refusalOf = Effect.fnUntraced(function* (options: StackProcessOptions) {
  const { code, stderr, stdout } = yield* Effect.scoped(Effect.flatMap(startStack(options), ({ ended }) => ended))
  assert.strictEqual(code, 1)
  assert.deepStrictEqual(stdout, [])
  assert.lengthOf(stderr, 1, stderr.join("\n"))
  return stderr[0] ?? ""
})

const brokenPacks = Effect.fnUntraced(function* (file: string) {
  const folder = yield* temporaryFolder
  cpSync(PACKS, folder, { recursive: true })
  writeFileSync(join(folder, file), "{")
  return folder
})

layer(Layer.empty, { excludeTestServices: true })("npm start refuses with one line", (it) => {
  it.effect("a port that is taken", () =>
    Effect.gen(function* () {
      const port = yield* listenAnywhere
      const other = yield* listenAnywhere
      assert.strictEqual(
        yield* refusalOf({ env: { CONTROL_PLANE_PORT: String(port) } }),
        `runplane: port ${port} for the control plane is already in use; set CONTROL_PLANE_PORT to another one`
      )
      assert.strictEqual(
        yield* refusalOf({ env: { SANDBOX_PORT: String(other) } }),
        `runplane: port ${other} for the sandbox runtime is already in use; set SANDBOX_PORT to another one`
      )
    })
  )

  it.effect("a data folder that cannot be used", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      writeFileSync(join(folder, "file"), "")
      const dataDir = join(folder, "file", "data")
      assert.strictEqual(
        yield* refusalOf({ env: { RUNPLANE_DATA_DIR: dataDir } }),
        `runplane: data folder ${dataDir} cannot be used: a part of its path is a file`
      )
    })
  )

  it.effect("packs that are missing or broken", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryFolder
      const missing = join(dataDir, "nowhere")
      assert.strictEqual(
        yield* refusalOf({ env: { PACKS_DIR: missing } }),
        `runplane: PACKS_DIR names no folder: ${missing}`
      )
      const env = { RUNPLANE_DATA_DIR: dataDir, PACKS_DIR: yield* brokenPacks("incident/pack.yaml") }
      assert.match(yield* refusalOf({ env }), /^runplane: the packs cannot be used: .*incident\/pack\.yaml/)
    })
  )

  it.effect("settings that the services in it would not start with", () =>
    Effect.gen(function* () {
      const env = { DATABASE_URL: yield* createDatabase, NODE_ENV: "production", DATA_RETENTION_TTL_DAYS: "0" }
      assert.strictEqual(
        yield* refusalOf({ env }),
        "runplane: AUTH_API_KEYS must hold at least one key when NODE_ENV is production " +
          'DATA_RETENTION_TTL_DAYS must be a whole number of at least 1, got "0"'
      )
    })
  )

  it.effect("nothing for a broken policy or a misspelt setting, but names it, and the example that needs it", () =>
    Effect.gen(function* () {
      const policy = "policy.incident.balanced"
      const packs = yield* brokenPacks(`_policies/${policy}.json`)
      const env = { DATABASE_URL: yield* createDatabase, PACKS_DIR: packs, OIDC_ISUER: "https://login.example.com" }
      const stack = yield* startStack({ args: ["--demo-only"], env })
      const { code, stderr, stdout } = yield* stack.ended
      assert.strictEqual(code, 1)
      assert.isDefined(stdout.find((line) => /policies +\d+ of \d+ registered/.test(line)))
      assert.isDefined(stdout.find((line) => line.includes(`${policy}.json refused: `)))
      // A check of the readiness that takes more than 2 s has no answer on a busy machine.
      const lines = stderr.filter((line) => !/no answer within \d+ ms" loop=readiness/.test(line))
      assert.lengthOf(lines, 3, lines.join("\n"))
      assert.include(lines[0], "OIDC_ISUER is not a setting; did you mean OIDC_ISSUER?")
      assert.include(lines[1], `policy file ${policy}.json left out: `)
      assert.include(lines[2], `runplane: the example did not finish: its policy ${policy} is not registered: `)
    })
  )

  it.effect("nothing for packs without the example, but names it where only the example was wanted", () =>
    Effect.gen(function* () {
      const env = { DATABASE_URL: yield* createDatabase, PACKS_DIR: yield* temporaryFolder }
      const { code, stderr, stdout } = yield* Effect.flatMap(
        startStack({ args: ["--demo-only"], env }),
        ({ ended }) => ended
      )
      assert.strictEqual(code, 1)
      assert.isDefined(stdout.find((line) => line.endsWith(env.PACKS_DIR)))
      assert.include(stderr.at(-1), "the example did not finish: the packs do not hold incident/region-failover@1.0.0")
      const serving = yield* startStack({ env })
      assert.isDefined(yield* serving.line("No example run: the packs do not hold incident/region-failover@1.0.0"))
      assert.isDefined(yield* serving.line("Serving;"))
    })
  )

  it.effect("a database, a runtime or a setting that cannot be used", () =>
    Effect.gen(function* () {
      const [free] = yield* freePorts(1)
      const closed = `127.0.0.1:${free}`
      assert.strictEqual(
        yield* refusalOf({ env: { DATABASE_URL: `postgresql://user@${closed}/runplane` } }),
        `runplane: database unavailable: connect ECONNREFUSED ${closed}`
      )
      const env = { DATABASE_URL: "postgresql://unused@127.0.0.1:1/runplane", RUNTIME_ADDRESS: closed }
      assert.strictEqual(
        yield* refusalOf({ env }),
        `runplane: the runtime at ${closed} cannot be used: connect ECONNREFUSED ${closed}`
      )
      assert.strictEqual(
        yield* refusalOf({ env: { LAUNCHER_PORT: "http" } }),
        'runplane: LAUNCHER_PORT must be a port from 1 to 65535, got "http"'
      )
    })
  )

  it.effect("an argument that it does not know", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* refusalOf({ args: ["--fast"] }),
        "runplane: Unrecognized flag: --fast in command npm start --; npm start -- --help lists the flags"
      )
    })
  )
})
