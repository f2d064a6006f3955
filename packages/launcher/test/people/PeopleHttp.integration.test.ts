import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { LauncherClient } from "@runplane/api"
import { ParticipantClient } from "@runplane/runtime"
import { Sandbox } from "@runplane/sandbox"
import { createDatabase, until } from "@runplane/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { FetchHttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Launcher } from "../../src/Launcher.ts"
import type { LauncherOptions } from "../../src/LauncherSettings.ts"
import { layerPeopleDatabase } from "../../src/people/PeopleDatabase.ts"
import { SeatWork } from "../../src/people/SeatWork.ts"
import { writePacks } from "../fixtures/Roots.ts"
import { layerPersons } from "./SeatNames.ts"
import { addRow, itemWhen, propose, SEAT, start } from "./SeatStage.ts"

const SESSION = "00000000-0000-4000-8000-000000000001"

const decodeReadiness = Schema.decodeUnknownEffect(
  Schema.Struct({ checks: Schema.Record(Schema.String, Schema.Struct({ ok: Schema.Boolean, detail: Schema.String })) })
)

const serve = Effect.fnUntraced(function* (options: LauncherOptions) {
  const root = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  const settings = {
    ...{ packsDir: writePacks(root, { a: "attach", b: "attach" }), serviceRoot: root, registerPolicies: false },
    bootstrapDir: `${root}/bootstrap`,
    ...options
  }
  const launcher = yield* Layer.build(Launcher.layer({ host: "127.0.0.1", port: 0, settings }))
  const { url } = Context.get(launcher, Launcher)
  const client = LauncherClient.layer({ baseUrl: url }).pipe(Layer.provide(FetchHttpClient.layer))
  const metrics = Effect.promise(async () => (await fetch(`${url}/metrics`)).text())
  const ready = Effect.promise(async () => (await fetch(`${url}/readyz`)).json()).pipe(
    Effect.flatMap(decodeReadiness),
    Effect.map(({ checks }) => checks),
    Effect.orDie
  )
  return { metrics, ready, people: (yield* Effect.provide(LauncherClient, client)).people }
})

const codeOf = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error): unknown =>
    typeof error === "object" && error !== null && "errorCode" in error ? error.errorCode : error
  )

layer(NodeFileSystem.layer, { excludeTestServices: true })("the endpoints of auditors", (it) => {
  it.effect("answer the audit page by page, the figures, and refuse an erasure of a session that goes on", () =>
    Effect.gen(function* () {
      const { address } = Context.get(yield* Layer.build(Sandbox.layer({ port: 0 })), Sandbox)
      const database = { url: yield* createDatabase }
      yield* Effect.gen(function* () {
        yield* addRow(SESSION)
        yield* start(SESSION)
        yield* propose(SESSION)
        const runtime = { runtimeAddress: address, runtimeTls: false, runtimeAllowInsecure: true }
        const { metrics, people } = yield* serve({ database, ...runtime })
        const { id } = yield* itemWhen(SESSION, "open")
        const first = yield* people.audit({ query: { item: id, limit: 1 } })
        assert.deepInclude(first.data[0], { actor: "service", action: "item.opened", item: id, seat: SEAT })
        const second = yield* people.audit({ query: { item: id, limit: 1, cursor: first.nextCursor ?? "" } })
        assert.deepInclude(second.data[0], { action: "item.created", sessionId: SESSION })
        const end = yield* people.audit({ query: { item: id, cursor: second.nextCursor ?? "", limit: 50 } })
        assert.deepStrictEqual(end, { data: [], limit: 50 })
        const erase = (sessionId: string) => codeOf(people.erase({ payload: { sessionId, reason: "4711" } }))
        assert.strictEqual(yield* erase(SESSION), "CONFLICT")
        assert.strictEqual(yield* erase("another"), "ITEM_NOT_FOUND")
        const text = yield* until(metrics, (found) => found.includes('runplane_items_open{state="open"} 1'))
        assert.include(text, 'runplane_items_open{state="waiting"} 0')
        assert.include(text, 'runplane_answers_total{origin="person"} 0')
        assert.include(text, "runplane_items_expired_total 0")
        assert.include(text, "runplane_answer_ids_taken_total 0")
        assert.include(text, 'runplane_suspensions_total{outcome="refused"} 0')
        assert.include(text, 'runplane_sessions_waiting_for_people{suspended="other"} 0')
        assert.include(text, "runplane_answers_unsettled_age_seconds 0")
      }).pipe(
        Effect.provide(
          SeatWork.layer.pipe(
            Layer.provide(layerPersons()),
            Layer.provideMerge(layerPeopleDatabase(database)),
            Layer.merge(ParticipantClient.layerGrpc({ address }))
          )
        )
      )
    })
  )

  it.effect("name the setting that a service without a database lacks, and have no figures", () =>
    Effect.gen(function* () {
      const { metrics, people } = yield* serve({})
      assert.strictEqual(yield* codeOf(people.audit({ query: { limit: 1 } })), "INVALID_CONFIG")
      assert.notInclude(yield* metrics, "runplane_items_open")
    })
  )

  it.effect("report a database that is lost and comes back, by readiness and by their answers", () =>
    Effect.gen(function* () {
      const { address } = Context.get(yield* Layer.build(Sandbox.layer({ port: 0 })), Sandbox)
      const database = { url: yield* createDatabase }
      const runtime = { runtimeAddress: address, runtimeTls: false, runtimeAllowInsecure: true }
      const { people, ready } = yield* serve({ database, ...runtime })
      const audit = codeOf(people.audit({ query: { limit: 1 } }))
      assert.strictEqual((yield* ready).database?.ok, true)
      const name = new URL(database.url).pathname.slice(1)
      const elsewhere = layerPeopleDatabase({ url: yield* createDatabase })
      yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`).unprepared
        yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${name}`
        const { database: lost } = yield* until(ready, ({ database }) => database?.ok === false)
        assert.match(lost?.detail ?? "", /^LAUNCHER_DATABASE_URL: /)
        assert.strictEqual(yield* audit, "DATABASE_UNAVAILABLE")
        yield* sql.unsafe(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`).unprepared
      }).pipe(Effect.provide(elsewhere))
      yield* until(ready, ({ database }) => database?.ok === true)
      assert.deepStrictEqual((yield* people.audit({ query: { limit: 1 } })).data, [])
    })
  )
})
