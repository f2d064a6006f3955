import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, layer } from "@effect/vitest"
import { migrateDatabase } from "@runplane/control-plane"
import { createDatabase, until } from "@runplane/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { columnsOf, putRows, rowsOf } from "../support/DatabaseRows.ts"
import { startStack } from "../support/StackProcess.ts"

const MIGRATIONS = fileURLToPath(new URL("../../../../migrations/", import.meta.url))
const newest = Math.max(...readdirSync(MIGRATIONS).map((name) => Number.parseInt(name, 10)))

/** The schemas that the current program is started on: the first, one of the middle, the last before it. */
const SERVED_FROM = [1, Math.ceil(newest / 2), newest - 1]

/** A database that a whole stack has worked on, after its stop: a decided run and what surrounds it. */
const workedOn = Effect.gen(function* () {
  const url = yield* createDatabase
  const answers = yield* Effect.scoped(
    Effect.gen(function* () {
      const stack = yield* startStack({ env: { DATABASE_URL: url } })
      assert.isDefined(yield* stack.line("Serving"))
      const base = `http://127.0.0.1:${stack.ports.controlPlane}`
      yield* post(`${base}/webhooks`, {
        url: "https://hooks.example.org/a",
        events: [],
        secret: "long-enough-a-secret"
      })
      const answers = yield* served(base)
      yield* stack.stop("SIGINT")
      return answers
    })
  )
  return { url, answers }
})

const post = (url: string, body: unknown) =>
  Effect.promise(async () => {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  })

const get = (url: string) =>
  Effect.promise(async () => {
    const answer = await fetch(url)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`)
    return text
  })

/** What clients read of the only run, of lists and of overviews. */
const served = Effect.fnUntraced(function* (base: string) {
  const list = yield* get(`${base}/runs?includeArchived=true`)
  const id: string = JSON.parse(list).data[0].id
  const paths = [
    `/runs/${id}`,
    `/runs/${id}/state`,
    `/runs/${id}/events?limit=1000`,
    `/runs/${id}/messages`,
    `/runs/${id}/metrics`,
    `/runs/${id}/forecast`,
    "/events?limit=1000",
    "/webhooks",
    "/runs?q=failover",
    "/runs?status=completed&sortBy=createdAt&sortOrder=asc"
  ]
  const answers = yield* Effect.forEach(paths, (path) =>
    Effect.map(get(`${base}${path}`), (text) => [path, text] as const)
  )
  return [["/runs", list] as const, ...answers]
})

layer(Layer.empty, { excludeTestServices: true, timeout: "60 seconds" })("an upgrade from every schema", (it) => {
  it.effect("keeps all data, and the program serves the same answers afterwards", () =>
    Effect.gen(function* () {
      const { answers, url } = yield* workedOn
      const now = yield* columnsOf(url)
      const rows = yield* rowsOf(url, now)
      assert.isAbove(JSON.parse(rows.get("canonical_events") ?? "[]").length, 50)
      for (let start = 1; start <= newest; start++) {
        const old = yield* createDatabase
        yield* migrateDatabase({ url: old, maxConnections: 1 }, start)
        const then = yield* columnsOf(old)
        const kept = new Map([...then].filter(([table]) => now.has(table)))
        yield* putRows(old, kept, rows)
        const before = yield* rowsOf(old, kept)
        const applied = yield* migrateDatabase({ url: old, maxConnections: 1 })
        assert.deepStrictEqual(
          applied.map(([id]) => id),
          Array.from({ length: newest - start }, (_, place) => start + place + 1)
        )
        const after = yield* rowsOf(old, kept)
        for (const [table, text] of before) assert.strictEqual(after.get(table), text, `${table} from ${start}`)
        if (!SERVED_FROM.includes(start)) continue
        yield* Effect.scoped(
          Effect.gen(function* () {
            const stack = yield* startStack({ args: ["--no-demo"], env: { DATABASE_URL: old } })
            assert.isDefined(yield* stack.line("Serving"))
            const look = Effect.map(served(`http://127.0.0.1:${stack.ports.controlPlane}`), (found) =>
              // Subscriptions came with the second.
              found.filter(([path]) => start >= 2 || path !== "/webhooks")
            )
            const expected = answers.filter(([path]) => start >= 2 || path !== "/webhooks")
            // What is summed up in the background is there a little later.
            yield* until(look, (found) => JSON.stringify(found) === JSON.stringify(expected), "200 millis").pipe(
              Effect.timeoutOrElse({ duration: "20 seconds", orElse: () => Effect.void })
            )
            assert.deepStrictEqual(yield* look, expected, `from ${start}`)
            yield* stack.stop("SIGINT")
          })
        )
      }
    })
  )
})
