import { randomUUID } from "node:crypto"
import { assert } from "@effect/vitest"
import { RunId } from "@runplane/domain"
import { createDatabase, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import { layerDatabase } from "../../../src/platform/postgres/Database.ts"
import { postRun } from "../../support/HttpService.ts"
import { assertLogIsExact } from "../../support/LogChecks.ts"
import { ScriptedRuntime } from "../../support/ScriptedRuntime.ts"
import { shares } from "./Fleet.ts"
import { startService } from "./ServiceProcess.ts"

const LENGTH = 400
const LEASE_MS = "3000"

export interface ClusterOptions {
  readonly processes: number
  readonly runs: number
}

/** Processes on one database and one runtime that share runs, for a test that takes some of them away. */
export const startCluster = Effect.fnUntraced(function* ({ processes, runs }: ClusterOptions) {
  const databaseUrl = yield* createDatabase
  const runtime = yield* ScriptedRuntime.start
  const start = startService({
    DATABASE_URL: databaseUrl,
    RUNTIME_ADDRESS: runtime.address,
    CLUSTER_LEASE_MS: LEASE_MS,
    DB_POOL_MAX: "4",
    THROTTLE_LIMIT: "1000000"
  })
  /** The shards are shared evenly by that many processes. */
  const settled = (count: number) =>
    Effect.provide(
      until(shares, (each) => each.length === count && Math.max(...each) - Math.min(...each) <= 1),
      layerDatabase({ url: databaseUrl, maxConnections: 1 })
    )
  const all = yield* Effect.forEach(Array.from({ length: processes }), () => start, { concurrency: processes })
  const [first] = all
  if (first === undefined) return assert.fail("no process")
  const url = yield* first.url
  yield* Effect.forEach(all, (each) => each.url)
  yield* settled(processes)

  const sessions = Array.from({ length: runs }, () => randomUUID())
  const open = () => sessions.map((id) => runtime.open.get(id) ?? 0)
  for (const id of sessions) runtime.openSession(id, LENGTH)
  // All posts come to one process, which has but a share of the shards.
  yield* Effect.forEach(sessions, (id) => postRun(url, id), { concurrency: 4, discard: true })
  /** Each session has one observer. */
  const observed = until(Effect.sync(open), (counts) => counts.every((count) => count === 1))
  yield* observed

  let accepted = 1
  /** The runtime accepts more of every session. */
  const accept = (count: number) => {
    accepted = Math.min(accepted + count, LENGTH - 1)
    for (const id of sessions) runtime.accept(id, accepted)
  }
  /** The sessions end; every run is complete, each envelope is there once, in order, and the log is exact. */
  const finish = Effect.gen(function* () {
    for (const id of sessions) runtime.accept(id, LENGTH)
    for (const id of sessions) {
      const { decoded, head } = yield* until(
        assertLogIsExact(RunId.make(id)),
        (log) => log.head?.status === "completed"
      )
      assert.strictEqual(Number(head?.stream_cursor), LENGTH)
      assert.deepStrictEqual(
        decoded.filter(({ type }) => type === "message.received").map(({ recorded }) => recorded.data["messageId"]),
        Array.from({ length: LENGTH }, (_, position) => `message-${position + 1}`)
      )
      assert.strictEqual(decoded.filter(({ type }) => type === "run.completed").length, 1)
    }
  }).pipe(Effect.provide(layerDatabase({ url: databaseUrl, maxConnections: 2 })))
  return { all, start, settled, sessions, open, observed, accept, finish, runtime }
})

export type Cluster = Effect.Success<ReturnType<typeof startCluster>>
export type Member = Cluster["all"][number]

/** Sends the signal to a process that goes on living. */
export const signal = ({ pid }: Member, name: "SIGSTOP" | "SIGCONT") => Effect.sync(() => process.kill(pid, name))
