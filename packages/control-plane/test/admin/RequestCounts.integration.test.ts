import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { request, until } from "@runplane/testing"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import { makeRequestCounts } from "../../src/admin/limits/RequestCounts.ts"
import * as Server from "../../src/http/Server.ts"
import { RunDocuments } from "../../src/queries/runs/RunDocuments.ts"
import { routes } from "../../src/Routes.ts"
import { baseUrl, layerTestService } from "../support/HttpService.ts"

const settings = {
  NODE_ENV: "test",
  AUTH_API_KEYS: "ann,bob",
  AUTH_API_KEY_NAMES: "ann,bob",
  THROTTLE_LIMIT: "30",
  THROTTLE_STORE: "postgres"
}

/** Another edge with budgets of its own in front of the same database: what another process is to this one. */
const secondProcess = Effect.map(
  Layer.build(
    Layer.fresh(Server.layer({ host: "127.0.0.1", port: 0 }, routes)).pipe(
      Layer.provide(RunDocuments.layer),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: settings })))
    )
  ),
  (built) => HttpServer.formatAddress(Context.get(built, HttpServer.HttpServer).address)
)

// docs/reference/http.md#rate-limit
layer(layerTestService({ settings }), { excludeTestServices: true })("requests counted by all processes", (it) => {
  it.effect("spend one budget, and a client who is refused by one is refused by all", () =>
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const first = yield* baseUrl
      const second = yield* secondProcess
      const ask = (url: string, key: string) => request("GET", `${url}/me`, { headers: { "x-api-key": key } })
      const stored = Effect.map(
        sql<{ spent: number }>`SELECT spent::int AS spent FROM request_budgets WHERE client = 'all ann'`,
        ([row]) => row?.spent ?? 0
      )

      for (let count = 0; count < 30; count++) assert.strictEqual((yield* ask(first, "ann")).status, 200)
      const refused = yield* ask(first, "ann")
      assert.strictEqual(refused.status, 429)
      assert.strictEqual(refused.headers.get("x-ratelimit-counts"), "requests of ann, 60 s, all processes")

      // The second receives the count with its next exchange, so a few may pass.
      let passed = 0
      let answer = yield* ask(second, "ann")
      while (answer.status === 200 && passed < 5) {
        passed++
        yield* until(stored, (spent) => spent >= 31 + passed)
        answer = yield* ask(second, "ann")
      }
      assert.strictEqual(answer.status, 429)
      assert.strictEqual(answer.headers.get("x-ratelimit-counts"), "requests of ann, 60 s, all processes")
      assert.strictEqual((yield* ask(second, "bob")).status, 200)
    })
  )

  it.effect("are added up by what is left of the window that was opened first", () =>
    Effect.gen(function* () {
      const exchange = yield* makeRequestCounts
      const counted = (spent: number, windowMs: number, blockedMs = 0) =>
        Effect.map(exchange([{ client: "all carl", spent, windowMs, blockedMs }]), ([state]) => state)
      assert.strictEqual((yield* counted(3, 50_000))?.spent, 3)
      const sum = yield* counted(4, 60_000)
      assert.deepInclude(sum, { client: "all carl", spent: 7, blockedMs: 0 })
      assert.isAtMost(sum?.windowMs ?? 0, 50_000)
      assert.isAbove((yield* counted(1, 60_000, 60_000))?.blockedMs ?? 0, 50_000)
      // A block outlives the window; what is over counts no more.
      assert.strictEqual((yield* counted(1, 60_000))?.spent, 9)
      const sql = yield* PgClient.PgClient
      yield* sql`UPDATE request_budgets SET window_ends = now(), blocked_until = now() WHERE client = 'all carl'`
      assert.deepInclude(yield* counted(2, 60_000), { spent: 2, blockedMs: 0 })
    })
  )

  it.effect("of thousands of clients are exchanged in one statement", () =>
    Effect.gen(function* () {
      const exchange = yield* makeRequestCounts
      const many = Array.from({ length: 10_000 }, (_, at) => ({
        client: `all 10.0.${at >> 8}.${at & 255}`,
        spent: 1,
        windowMs: 60_000,
        blockedMs: 0
      }))
      assert.lengthOf(yield* exchange(many), 10_000)
      const [left, right] = yield* Effect.all([exchange(many), exchange(many.toReversed())], { concurrency: 2 })
      const sums = new Set([...left, ...right].map(({ spent }) => spent))
      assert.deepStrictEqual([...sums].toSorted(), [2, 3])
    })
  )
})
