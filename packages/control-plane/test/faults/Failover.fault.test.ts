import { randomUUID } from "node:crypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { request, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { SHARDS } from "../../src/observe/placement/ShardLocks.ts"
import { postRun } from "../support/HttpService.ts"
import { ScriptedRuntime } from "../support/ScriptedRuntime.ts"
import { ownPostgres } from "./support/OwnPostgres.ts"
import { startService } from "./support/ServiceProcess.ts"

const on = <A, E>(url: string, effect: Effect.Effect<A, E, PgClient.PgClient>) =>
  Effect.provide(effect, Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))

/** Makes all sessions of a server take writes or not, the open ones too. */
const letWrite = (url: string, writable: boolean) =>
  on(
    url,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      yield* sql.unsafe(`ALTER SYSTEM SET default_transaction_read_only = ${writable ? "off" : "on"}`).unprepared
      yield* sql`SELECT pg_reload_conf()`
    })
  )

/** How many advisory locks a server holds, and how many sessions of the service. */
const held = (url: string) =>
  on(
    url,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [row] = yield* sql<{ readonly locks: number; readonly sessions: number }>`
        SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')::int AS locks,
               (SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'runplane%')::int AS sessions`
      return { locks: row?.locks ?? 0, sessions: row?.sessions ?? 0 }
    })
  )

describe("a service with two database servers", () => {
  it.live("follows a failover that leaves its connections open", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const [first, second] = [yield* ownPostgres, yield* ownPostgres]
        const { password, username } = new URL(first.url)
        yield* on(
          second.url,
          Effect.gen(function* () {
            const sql = yield* PgClient.PgClient
            yield* sql.unsafe(`ALTER ROLE ${username} PASSWORD '${password}'`).unprepared
          })
        )
        const secondUrl = first.url.replace(/:\d+\//, `:${second.port}/`)
        const runtime = yield* ScriptedRuntime.start
        // The second server has all tables, as a replica would.
        const before = yield* startService({ DATABASE_URL: secondUrl, RUNTIME_ADDRESS: runtime.address })
        yield* before.url
        yield* before.kill("SIGTERM")
        yield* letWrite(secondUrl, false)

        const service = yield* startService({
          DATABASE_URL: first.url.replace(/@[^/]+/, (host) => `${host},127.0.0.1:${second.port}`),
          RUNTIME_ADDRESS: runtime.address,
          CLUSTER_LEASE_MS: "3000"
        })
        yield* Effect.addFinalizer((exit) =>
          Effect.sync(() => exit._tag === "Failure" && console.error(service.output().slice(-4_000)))
        )
        const url = yield* service.url
        const post = Effect.map(
          Effect.suspend(() => postRun(url, randomUUID())),
          ({ status }) => status
        )
        // Many connections, all of them to the first server.
        const manyPosts = Effect.map(
          Effect.all(
            Array.from({ length: 20 }, () => post),
            { concurrency: "unbounded" }
          ),
          (statuses) => [...new Set(statuses)]
        )
        assert.deepStrictEqual(yield* manyPosts, [202])
        assert.strictEqual((yield* held(secondUrl)).sessions, 0)

        yield* letWrite(secondUrl, true)
        yield* letWrite(first.url, false)
        const refused: Array<number> = []
        yield* until(
          Effect.tap(post, (status) => Effect.sync(() => refused.push(status))),
          (status) => status === 202
        )
        assert.isBelow(refused.length, 20, "a second's worth of answers")
        assert.deepStrictEqual(yield* manyPosts, [202])
        yield* until(held(secondUrl), ({ locks }) => locks > SHARDS)
        yield* until(held(first.url), ({ locks }) => locks === 0)
        yield* until(
          request("GET", `${url}/readyz`),
          ({ body }) => body.checks.database === "ok" && body.checks.streamConsumer === "ok"
        )
      })
    )
  )
})
