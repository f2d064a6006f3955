import { spawn, spawnSync } from "node:child_process"
import { chmodSync, existsSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { temporaryFolder } from "@runplane/postgres"
import { createDatabase, freePorts, request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { startService } from "./support/ServiceProcess.ts"

const PROGRAM = "/usr/sbin/pgbouncer"
/** A user of the system without rights: PgBouncer does not run as root. */
const UNPRIVILEGED = 65_534

const works = (command: string, args: ReadonlyArray<string>) =>
  spawnSync(command, args, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }).status === 0

/** Whether there is a PgBouncer, which is installed where that can be done. */
const hasPgBouncer = Effect.sync(() => {
  if (existsSync(PROGRAM)) return true
  if (process.getuid?.() !== 0 || !works("apt-get", ["--version"])) return false
  const packages = ["install", "--yes", "--no-install-recommends", "pgbouncer"]
  if (!works("apt-get", packages)) works("apt-get", ["update"]) && works("apt-get", packages)
  return existsSync(PROGRAM)
})

/** A PgBouncer in front of the database, until the scope closes; answers the URL through it, for each of its modes. */
const pgBouncer = Effect.fnUntraced(function* (url: string) {
  const folder = yield* temporaryFolder
  const [port = 0] = yield* freePorts(1)
  const { hostname, password, pathname, port: server, username } = new URL(url)
  const target = `host=${hostname} port=${server} dbname=${pathname.slice(1)} user=${username} password=${password}`
  const config = join(folder, "pgbouncer.ini")
  writeFileSync(
    config,
    `[databases]
transaction = ${target} pool_mode=transaction
session = ${target} pool_mode=session
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
`
  )
  chmodSync(config, 0o644)
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const identity = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}
      return spawn(PROGRAM, [config], { stdio: "ignore", ...identity })
    }),
    (child) => Effect.sync(() => child.kill("SIGTERM"))
  )
  const answers = Effect.callback<boolean>((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resume(Effect.succeed(true)))
    socket.once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => socket.destroy())
  })
  yield* until(answers, (answered) => answered)
  return (mode: "transaction" | "session") => `postgresql://${username}@127.0.0.1:${port}/${mode}`
})

describe("a control plane behind PgBouncer", () => {
  it.live("does not start in transaction mode, and serves in session mode", (test) =>
    Effect.scoped(
      Effect.gen(function* () {
        if (!(yield* hasPgBouncer)) return test.skip(`this machine has no ${PROGRAM} and cannot install one`)
        const through = yield* pgBouncer(yield* createDatabase)
        const settings = { RUNTIME_ADDRESS: "127.0.0.1:1", CLUSTER_LEASE_MS: "3000" }

        const refused = yield* startService({ ...settings, DATABASE_URL: through("transaction") })
        assert.strictEqual((yield* refused.ended).code, 1)
        const errors = refused.output().match(/ERROR.*/g) ?? []
        assert.lengthOf(errors, 1, refused.output())
        assert.match(errors[0] ?? "", /database unavailable: a pooler in transaction mode .*pool_mode=session/)

        const service = yield* startService({ ...settings, DATABASE_URL: through("session") })
        const url = yield* service.url
        const { body } = yield* request("GET", `${url}/readyz`)
        assert.deepInclude(body.checks, { database: "ok", streamConsumer: "ok" })
      })
    )
  )
})
