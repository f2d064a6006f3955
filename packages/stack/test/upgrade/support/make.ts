// Makes the fixtures of a release: starts the control plane of a checkout, plays sessions and traces against it, and
// keeps a backup of its database, what it served, its archive and its program. `node scripts/upgrade-fixture.mjs` calls
// it.
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ControlPlaneClient } from "@runplane/api"
import { backupDatabase } from "@runplane/control-plane"
import { EmbeddedPostgres, temporaryFolder } from "@runplane/postgres"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { freePorts, startProgram, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { command } from "../../support/CommandLineReads.ts"
import { fixtureOf, type ReleaseFixture, removeReplaced } from "./Fixtures.ts"
import { filesBelow, pack } from "./Packed.ts"
import { receiver } from "./Receiver.ts"
import { isReady, serve } from "./Served.ts"
import {
  ALERT,
  archiveIsWritten,
  awaitStatus,
  exportSpan,
  HOOKS,
  playSessions,
  RUNS,
  sealKeyFile,
  TRACES
} from "./Yesterday.ts"

const USAGE = "usage: node scripts/upgrade-fixture.mjs [CHECKOUT] [--version VERSION]\n"
const VERSION = /^\d+\.\d+\.\d+(-[a-z0-9.]+)?$/

const refuse = (reason: string): never => {
  process.stderr.write(`${reason}\n${USAGE}`)
  process.exit(2)
}

const readArguments = () => {
  try {
    return parseArgs({ allowPositionals: true, options: { version: { type: "string" } } })
  } catch (error) {
    return refuse(String(error))
  }
}

const { positionals, values } = readArguments()
if (positionals.length > 1) refuse("one checkout at most")
const checkout = resolve(positionals[0] ?? join(import.meta.dirname, "../../../../.."))
const { version = "" } = { ...JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")), ...values }
if (!VERSION.test(version)) refuse(`"${version}" is not a version such as 1.0.0 or 1.0.0-pre`)

const sandbox = Sandbox.layer({ port: 0, sweepIntervalMs: 50, observers: [CONTROL_PLANE_IDENTITY] })

/** A command of the client; one that fails ends the making. */
const done = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { code, complaint } = yield* command(args)
  if (code !== 0) return yield* Effect.die(new Error(`${args.join(" ")}: ${complaint}`))
})

const make = Effect.fnUntraced(function* (fixture: ReleaseFixture) {
  const { url } = yield* EmbeddedPostgres
  const { address } = yield* Sandbox
  const [port = 0] = yield* freePorts(1)
  const baseUrl = `http://127.0.0.1:${port}`
  const archive = yield* temporaryFolder
  const program = yield* startProgram(join(checkout, "packages/control-plane/src/main.ts"), {
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "test",
      HOST: "127.0.0.1",
      PORT: String(port),
      OTLP_GRPC_PORT: "0",
      DATABASE_URL: url,
      RUNTIME_ADDRESS: address,
      RUNTIME_ALLOW_INSECURE: "true",
      RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
      THROTTLE_LIMIT: "1000000",
      SESSION_DISCOVERY_GRACE_MS: "600000",
      SEAL_PRIVATE_KEY_FILE: yield* sealKeyFile,
      ARCHIVE_URL: pathToFileURL(archive).href,
      ARCHIVE_INTERVAL_MS: "1000",
      WEBHOOK_ALLOW_PRIVATE_TARGETS: "true",
      WEBHOOK_RETRY_MAX_MS: "1000",
      OTLP_INGEST_ENABLED: "true",
      OTLP_SETTLE_MS: "200"
    }
  })
  const served = yield* Effect.gen(function* () {
    yield* isReady(baseUrl)
    const { api } = yield* ControlPlaneClient
    const { received, url: hook } = yield* receiver
    const subscribe = (to: string) =>
      api.webhooks.create({ payload: { url: to, events: ["run.completed"], secret: "of the fixtures" } })
    const hooks = [
      yield* subscribe(hook(HOOKS.delivered)),
      // No program listens there: its deliveries wait for the upgrade.
      yield* subscribe(`http://127.0.0.1:1${HOOKS.waiting}`)
    ]
    yield* api.alerts.addRule({ payload: ALERT })
    const to = ["--url", baseUrl] as const
    yield* done("budgets", "add", "team", "--limit", "1000", ...to)
    yield* playSessions
    const at = Date.now() - 1_000
    for (const [name, trace] of Object.entries(TRACES)) {
      yield* exportSpan(baseUrl, trace, at, false)
      if (name === "ended") yield* exportSpan(baseUrl, trace, at, true)
    }
    yield* awaitStatus(TRACES.ended.run, "completed")
    yield* awaitStatus(TRACES.open.run, "running")
    const mark = ["marks", "add", RUNS.decided, "correct", "true", "--on", "decision"]
    yield* done(...mark, "--comment", "as it should be", ...to)
    const ended = [RUNS.decided, RUNS.worked, RUNS.expired, TRACES.ended.run]
    for (const run of ended) yield* done("runs", "verify", run, "--keys", baseUrl, ...to)
    const completed = ended.length - 1
    yield* until(
      Effect.sync(() => received.length),
      (count) => count === completed
    )
    const openRuns = 2
    yield* until(
      api.alerts.list({ query: { limit: 100, offset: 0 } }),
      ({ data, total }) =>
        total === ended.length + openRuns && data.filter(({ status }) => status === "open").length === openRuns
    )
    yield* archiveIsWritten
    return yield* serve(baseUrl, [
      ...ended.flatMap((run) => ["", "/events?limit=1000", "/marks", "/seal"].map((path) => `/runs/${run}${path}`)),
      "/alerts/rules",
      "/alerts?limit=100",
      `/alerts/budgets?at=${new Date(at).toISOString()}`,
      "/webhooks",
      ...hooks.map(({ id }) => `/webhooks/${id}/deliveries?status=${id === hooks[0]?.id ? "delivered" : "pending"}`)
    ])
  }).pipe(
    Effect.provide(ControlPlaneClient.layer({ baseUrl }).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))),
    Effect.onError(() => Effect.sync(() => process.stderr.write(program.output())))
  )
  // As a machine that fails: nothing is written at the end.
  yield* program.kill("SIGKILL")
  rmSync(fixture.backup, { force: true })
  writeFileSync(fixture.served, `${JSON.stringify(served, undefined, 1)}\n`)
  pack(archive, filesBelow(archive), fixture.archive)
  return yield* backupDatabase({ url }, { file: fixture.backup, progress: () => Effect.void })
})

const NAMED = /["'`](?:\.\/)?([\w-]+\.js)["'`]/g

/** A program of a bundle and the files that it loads, at its start or later. */
const filesOfProgram = (lib: string, program: string): ReadonlyArray<string> => {
  const all = new Set(readdirSync(lib))
  const found = new Set([program])
  for (const file of found) {
    for (const [, name = ""] of readFileSync(join(lib, file), "utf8").matchAll(NAMED))
      if (all.has(name)) found.add(name)
  }
  return [...found].map((file) => `lib/${file}`).sort()
}

/** The control plane of the checkout as it is shipped, without the console. */
const makeProgram = Effect.fnUntraced(function* (fixture: ReleaseFixture) {
  const folder = join(yield* temporaryFolder, "programs")
  const bundle = [join(checkout, "scripts/bundle.mjs"), folder, "--no-console", "--no-database"]
  yield* Effect.sync(() =>
    execFileSync(process.execPath, bundle, { cwd: checkout, stdio: ["ignore", "ignore", "inherit"] })
  )
  const beside = ["package.json", "LICENSE", "lib/LICENSES.txt"]
  const migrations = filesBelow(join(folder, "migrations")).map((file) => `migrations/${file}`)
  pack(folder, [...filesOfProgram(join(folder, "lib"), "control-plane.js"), ...beside, ...migrations], fixture.program)
})

const fixture = fixtureOf(version)
const made = await Effect.runPromise(
  make(fixture).pipe(
    Effect.tap(() => makeProgram(fixture)),
    Effect.provide(Layer.mergeAll(sandbox, EmbeddedPostgres.layerTemporary(), NodeServices.layer)),
    Effect.scoped
  )
)
removeReplaced(version)
process.stdout.write(`${JSON.stringify({ version, ...made })}\n`)
process.exit(0)
