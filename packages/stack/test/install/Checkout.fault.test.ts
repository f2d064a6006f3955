import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, layer, it as test } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { copyOfCheckout, foreignPrograms, megabytes, npmStart, portSettings } from "../support/CheckoutCopy.ts"
import { descendants, isRunning } from "../support/Processes.ts"
import { refusingRegistry } from "../support/RefusingRegistry.ts"
import { untilGone } from "../support/StackRuns.ts"

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url))
/** The folder of the package manager in `.tools/`, which the run of these tests has brought. */
const PNPM = readdirSync(join(ROOT, ".tools")).find((name) => name.startsWith("pnpm-")) ?? "pnpm"

/** The packages that `npm start` installs, MB. */
const INSTALLED_MB = 250
/** All that `npm start` puts into a checkout, the checkout included, without the data. MB. */
const LIMIT_MB = 300

class Checkout extends Context.Service<Checkout, string>()("runplane/stack/test/Checkout") {}

/** The command line of a process; empty without /proc. */
const commandOf = (pid: number) => {
  const file = `/proc/${pid}/cmdline`
  return existsSync(file) ? readFileSync(file, "utf8").replaceAll("\0", " ") : ""
}

/** A stack that serves, and everything that `npm start` has become. */
const serving = Effect.fnUntraced(function* (folder: string, ports: Readonly<Record<string, string>>) {
  const npm = yield* npmStart(folder, ports, "--no-demo")
  yield* until(
    Effect.sync(() => npm.output.stdout),
    (text) => text.includes("Serving;")
  )
  return { npm, started: [npm.pid, ...descendants(npm.pid)] }
})

/** The address of the console. */
const pageOf = ({ CONTROL_PLANE_PORT }: { readonly CONTROL_PLANE_PORT: string }) =>
  `http://127.0.0.1:${CONTROL_PLANE_PORT}/console/`

const fresh = Layer.effect(Checkout, copyOfCheckout)

// The first test installs what the others run.
layer(fresh, { excludeTestServices: true, timeout: "60 seconds" })("npm start in a fresh checkout", (it) => {
  it.effect("installs only the dependencies of this platform", () =>
    Effect.gen(function* () {
      const folder = yield* Checkout
      const npm = yield* npmStart(folder, yield* portSettings, "--demo-only")
      assert.strictEqual(yield* npm.code, 0, npm.output.stderr)
      assert.include(npm.output.stdout, "commits an approval")
      assert.deepStrictEqual(foreignPrograms(`${folder}/node_modules`), [])
      assert.isBelow(megabytes(`${folder}/node_modules`), INSTALLED_MB)
      assert.isFalse(existsSync(`${folder}/packages/console/dist`))
    })
  )

  it.effect("serves on without a console that cannot be built, with one line and a page that says why", () =>
    Effect.gen(function* () {
      const folder = yield* Checkout
      const ports = yield* portSettings
      const source = `${folder}/packages/console/src/main.tsx`
      const text = readFileSync(source, "utf8")
      yield* Effect.addFinalizer(() => Effect.sync(() => writeFileSync(source, text)))
      writeFileSync(source, `${text}\nconst broken =\n`)
      const { npm, started } = yield* serving(folder, ports)
      const output = yield* until(
        Effect.sync(() => npm.output.stderr),
        (printed) => / the web console .*\n/.test(printed.replace(/.* (?:beside it|still building).*\n/g, ""))
      )
      const lines = output.split("\n").filter((line) => line.includes("cannot be built"))
      assert.lengthOf(lines, 1, output)
      assert.match(lines[0] ?? "", /^runplane: the web console cannot be built: .*; its output is in \S+\.log$/)
      const page = yield* until(
        Effect.promise(() => fetch(pageOf(ports)).then((answer) => answer.text())),
        (shown) => shown.includes("could not be built")
      )
      assert.include(page, "console-build.log")
      process.kill(npm.pid, "SIGTERM")
      yield* untilGone(started)
    })
  )

  it.effect("builds the console while it serves, says so on its page, and leaves no tools of the build", () =>
    Effect.gen(function* () {
      const folder = yield* Checkout
      const ports = yield* portSettings
      const { npm, started } = yield* serving(folder, ports)
      const program = started.map(commandOf).find((command) => command.includes("packages/stack/src/main.ts"))
      assert.match(program ?? "", / --max-old-space-size=\d+ --max-semi-space-size=\d+ packages\//)
      const unbuilt = yield* Effect.promise(() => fetch(pageOf(ports)))
      assert.strictEqual(unbuilt.status, 503)
      assert.strictEqual(unbuilt.headers.get("retry-after"), "2")
      assert.include(yield* Effect.promise(() => unbuilt.text()), "The console is being built")

      yield* until(
        Effect.sync(() => npm.output.stderr),
        (text) => /the web console (is built|cannot be built)/.test(text)
      )
      assert.match(npm.output.stderr, /the web console is built, after \d+ s/)
      yield* until(
        Effect.promise(() => fetch(pageOf(ports))),
        ({ status }) => status === 200
      )
      yield* until(
        Effect.sync(() => readdirSync(`${folder}/.tools`).filter((name) => !name.endsWith(".log"))),
        (names) => names.every((name) => name === "compile-cache")
      )
      const weight = megabytes(folder) - megabytes(`${folder}/.data`)
      assert.isBelow(weight, LIMIT_MB)
      process.stdout.write(`npm start weighs ${Math.round(weight)} MB, at most ${LIMIT_MB}\n`)
      process.kill(npm.pid, "SIGTERM")
      yield* untilGone(started)
    })
  )

  for (const victim of ["npm", "the process under npm", "run.mjs"] as const) {
    it.effect(`leaves nothing when ${victim} is killed`, () =>
      Effect.gen(function* () {
        const { npm, started } = yield* serving(yield* Checkout, yield* portSettings)
        const victims = {
          npm: npm.pid,
          // A shell, or run.mjs itself where the shell has replaced itself by it.
          "the process under npm": started.find((pid) => pid !== npm.pid),
          "run.mjs": started.find((pid) => /^\S*node\S* scripts\/run\.mjs /.test(commandOf(pid)))
        }
        process.kill(victims[victim] ?? assert.fail(`no process for ${victim}`), "SIGKILL")
        yield* untilGone(started)
      })
    )
  }

  it.effect("ends a second start with one line that says where Runplane already runs", () =>
    Effect.gen(function* () {
      const folder = yield* Checkout
      const ports = yield* portSettings
      const { npm, started } = yield* serving(folder, ports)
      const second = yield* npmStart(folder, ports)
      assert.strictEqual(yield* second.code, 1)
      assert.strictEqual(second.output.stdout, "")
      assert.strictEqual(
        second.output.stderr.trim(),
        `runplane: Runplane already runs at http://127.0.0.1:${ports.CONTROL_PLANE_PORT}; stop it first, or give ` +
          "this one a LAUNCHER_PORT, CONTROL_PLANE_PORT, SANDBOX_PORT and RUNPLANE_DATA_DIR of its own"
      )
      assert.isTrue(isRunning(npm.pid))
      process.kill(npm.pid, "SIGTERM")
      yield* untilGone(started)
    })
  )
})

/** Caches of npm and pnpm that hold nothing, as on a new machine. */
const emptyCaches = Effect.map(temporaryFolder, (folder) => ({ npm_config_cache: folder, XDG_DATA_HOME: folder }))

test.live("a start without its registry ends soon, with one line that names the registry and the cause", () =>
  Effect.gen(function* () {
    const folder = yield* copyOfCheckout
    const npm = yield* npmStart(folder, {
      ...(yield* emptyCaches),
      npm_config_registry: "http://user:secret@127.0.0.1:9/"
    })
    assert.strictEqual(yield* npm.code, 1)
    const lines = npm.output.stderr.trim().split("\n")
    assert.match(
      lines.at(-1) ?? "",
      /^runplane: the npm registry http:\/\/127\.0\.0\.1:9\/ cannot be used: the connection was refused\. .*npm_config_registry$/
    )
  }).pipe(Effect.scoped, Effect.timeout("40 seconds"))
)

test.live("npm and pnpm both fetch from the registry that npm_config_registry names", () =>
  Effect.gen(function* () {
    const registry = yield* refusingRegistry
    const settings = { ...(yield* emptyCaches), npm_config_registry: registry.url }
    const withoutPnpm = yield* npmStart(yield* copyOfCheckout, settings)
    assert.strictEqual(yield* withoutPnpm.code, 1)
    assert.include(registry.requested.splice(0).join("\n"), "/pnpm")
    const folder = yield* copyOfCheckout
    cpSync(join(ROOT, ".tools", PNPM), join(folder, ".tools", PNPM), { recursive: true, verbatimSymlinks: true })
    const withPnpm = yield* npmStart(folder, settings)
    assert.strictEqual(yield* withPnpm.code, 1)
    assert.match(registry.requested.join("\n"), /\/-\/\S+\.tgz/)
  }).pipe(Effect.scoped)
)
