// Makes the data of a release: starts the control plane of a checkout, plays sessions and traces against it, and
// writes a backup of its database. `node scripts/upgrade-fixture.mjs CHECKOUT FILE` calls it.
import { rmSync } from "node:fs"
import { join, resolve } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ControlPlaneClient } from "@runplane/api"
import { backupDatabase } from "@runplane/control-plane"
import { EmbeddedPostgres } from "@runplane/postgres"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { freePorts, startProgram, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { command } from "../../support/CommandLineReads.ts"
import { awaitStatus, exportSpan, playSessions, RUNS, sealKeyFile, TRACES } from "./Yesterday.ts"

const [checkout, file] = process.argv.slice(2).map((path) => resolve(path))
if (checkout === undefined || file === undefined) {
  process.stderr.write("usage: node scripts/upgrade-fixture.mjs CHECKOUT FILE\n")
  process.exit(2)
}

const sandbox = Sandbox.layer({ port: 0, sweepIntervalMs: 50, observers: [CONTROL_PLANE_IDENTITY] })

/** A command of the client; one that fails ends the making. */
const done = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const { code, complaint } = yield* command(args)
  if (code !== 0) return yield* Effect.die(new Error(`${args.join(" ")}: ${complaint}`))
})

const make = Effect.gen(function* () {
  const { url } = yield* EmbeddedPostgres
  const { address } = yield* Sandbox
  const [port = 0] = yield* freePorts(1)
  const baseUrl = `http://127.0.0.1:${port}`
  const program = yield* startProgram(join(checkout, "packages/control-plane/src/main.ts"), {
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "test",
      HOST: "127.0.0.1",
      PORT: String(port),
      DATABASE_URL: url,
      RUNTIME_ADDRESS: address,
      RUNTIME_ALLOW_INSECURE: "true",
      RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
      THROTTLE_LIMIT: "1000000",
      SESSION_DISCOVERY_GRACE_MS: "600000",
      SEAL_PRIVATE_KEY_FILE: yield* sealKeyFile,
      OTLP_INGEST_ENABLED: "true",
      OTLP_SETTLE_MS: "200"
    }
  })
  yield* Effect.gen(function* () {
    yield* until(Effect.option(Effect.tryPromise(() => fetch(`${baseUrl}/readyz`))), ({ _tag }) => _tag === "Some")
    yield* playSessions
    const at = Date.now() - 1_000
    for (const [name, trace] of Object.entries(TRACES)) {
      yield* exportSpan(baseUrl, trace, at, false)
      if (name === "ended") yield* exportSpan(baseUrl, trace, at, true)
    }
    yield* awaitStatus(TRACES.ended.run, "completed")
    yield* awaitStatus(TRACES.open.run, "running")
    const to = ["--url", baseUrl] as const
    yield* done(
      "marks",
      "add",
      RUNS.decided,
      "correct",
      "true",
      "--on",
      "decision",
      "--comment",
      "as it should be",
      ...to
    )
    yield* done("budgets", "add", "team", "--limit", "1000", ...to)
    for (const run of [RUNS.decided, RUNS.worked, RUNS.expired])
      yield* done("runs", "verify", run, "--keys", baseUrl, ...to)
  }).pipe(
    Effect.provide(ControlPlaneClient.layer({ baseUrl }).pipe(Layer.provide(NodeHttpClient.layerNodeHttp))),
    Effect.onError(() => Effect.sync(() => process.stderr.write(program.output())))
  )
  // As a machine that fails: nothing is written at the end.
  yield* program.kill("SIGKILL")
  rmSync(file, { force: true })
  return yield* backupDatabase({ url }, { file, progress: () => Effect.void })
})

const made = await Effect.runPromise(
  make.pipe(
    Effect.provide(Layer.mergeAll(sandbox, EmbeddedPostgres.layerTemporary(), NodeServices.layer)),
    Effect.scoped
  )
)
process.stdout.write(`${JSON.stringify(made)}\n`)
process.exit(0)
