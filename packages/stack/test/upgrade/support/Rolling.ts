import { cpSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { ControlPlaneClient } from "@runplane/api"
import { temporaryFolder } from "@runplane/postgres"
import { CONTROL_PLANE_IDENTITY } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { freePorts, type Program, startProgram } from "@runplane/testing"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { releaseBefore } from "./Fixtures.ts"
import { filesBelow, unpack } from "./Packed.ts"
import { isReady } from "./Served.ts"
import { sealKeyFile } from "./Yesterday.ts"

/** The programs of two neighbouring releases, each in a folder of its own. */
export interface Releases {
  readonly old: string
  readonly new: string
}

/** What the schema of a later release adds, beside what this one adds: the migrations of a release only add. */
const NEXT = `ALTER TABLE runs ADD COLUMN of_the_next_release text;
ALTER TABLE canonical_events ADD COLUMN of_the_next_release integer NOT NULL DEFAULT 7;
CREATE TABLE things_of_the_next_release (run_id uuid PRIMARY KEY, thing text NOT NULL);
CREATE INDEX runs_of_the_next_release ON runs (of_the_next_release) WHERE of_the_next_release IS NOT NULL;
`

/** Unpacks the program of the release before, and copies that of today, whose schema is one migration further. */
export const unpackReleases = Effect.fnUntraced(function* (today: string) {
  const folder = yield* temporaryFolder
  const releases: Releases = { old: join(folder, "old"), new: join(folder, "new") }
  unpack(releaseBefore().program, releases.old)
  for (const part of ["lib", "migrations", "package.json"]) {
    cpSync(join(today, part), join(releases.new, part), { recursive: true })
  }
  const migrations = filesBelow(join(releases.new, "migrations")).filter((file) => file.endsWith(".sql"))
  const number = String(migrations.length + 1).padStart(4, "0")
  writeFileSync(join(releases.new, "migrations", `${number}_next_release.sql`), NEXT)
  return releases
})

/** A process of a release on the database of the test. */
export interface Process {
  readonly program: Program
  readonly baseUrl: string
  readonly client: Context.Context<ControlPlaneClient>
}

/** Starts a process; `startProcess` waits until it is ready. */
export const spawn = Effect.fnUntraced(function* (folder: string, databaseUrl: string) {
  const [port = 0] = yield* freePorts(1)
  const program = yield* startProgram(join(folder, "lib/control-plane.js"), {
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "test",
      HOST: "127.0.0.1",
      PORT: String(port),
      OTLP_GRPC_PORT: "0",
      DATABASE_URL: databaseUrl,
      RUNTIME_ADDRESS: (yield* Sandbox).address,
      RUNTIME_ALLOW_INSECURE: "true",
      RUNTIME_BEARER_TOKEN: CONTROL_PLANE_IDENTITY,
      THROTTLE_LIMIT: "1000000",
      SEAL_PRIVATE_KEY_FILE: yield* sealKeyFile,
      CLUSTER_LEASE_MS: "3000",
      RUN_TAKE_OVER_INTERVAL_MS: "500",
      WEBHOOK_ALLOW_PRIVATE_TARGETS: "true",
      WEBHOOK_RETRY_MAX_MS: "1000"
    }
  })
  return { program, baseUrl: `http://127.0.0.1:${port}` }
})

export const startProcess = Effect.fnUntraced(function* (folder: string, databaseUrl: string) {
  const { baseUrl, program } = yield* spawn(folder, databaseUrl)
  yield* isReady(baseUrl).pipe(Effect.onError(() => Effect.sync(() => process.stderr.write(program.output()))))
  const client = yield* Layer.build(
    Layer.fresh(ControlPlaneClient.layer({ baseUrl }).pipe(Layer.provide(NodeHttpClient.layerNodeHttp)))
  )
  const started: Process = { program, baseUrl, client }
  return started
})
