import { mkdirSync, writeFileSync } from "node:fs"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
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
import { Launcher } from "../../src/Launcher.ts"
import type { LauncherOptions } from "../../src/LauncherSettings.ts"
import { ItemRows } from "../../src/people/ItemRows.ts"
import { ItemLimits } from "../../src/people/OpenLimits.ts"
import { layerPeopleDatabase } from "../../src/people/PeopleDatabase.ts"
import { SeatRows } from "../../src/people/SeatRows.ts"
import { profile } from "../fixtures/Compiled.ts"
import { scenarioYaml } from "../fixtures/Packs.ts"
import { writePacks } from "../fixtures/Roots.ts"
import { propose, start } from "./SeatStage.ts"

const REF = "demo/one@1.0.0"
const PERSON = profile("agent-b", {
  framework: "person",
  bootstrapStrategy: "seat",
  bootstrapMode: "deferred",
  entrypoint: ""
})
const SCHEMA = "{ type: object, properties: { officer: { type: string, default: ana } } }"
const PEOPLE = 'people: { second: { assign: ["person:{{ inputs.officer }}"], when: proposed } }'

/** Packs with an agent (`first`) and a person (`second`). */
const packsIn = (root: string, a: string) => {
  const packs = writePacks(root, { a, b: "attach" })
  writeFileSync(`${packs}/_agents/profiles/agent-b.json`, JSON.stringify(PERSON))
  mkdirSync(`${packs}/demo/scenarios/two/1.0.0`, { recursive: true })
  writeFileSync(`${packs}/demo/scenarios/one/1.0.0/scenario.yaml`, scenarioYaml({ schema: SCHEMA, launch: PEOPLE }))
  const agents = scenarioYaml().replace("agentRef: agent-b", "agentRef: agent-a")
  writeFileSync(`${packs}/demo/scenarios/two/1.0.0/scenario.yaml`, agents)
  return packs
}

const serve = Effect.fnUntraced(function* (
  a: string,
  options: LauncherOptions = {},
  limits: typeof ItemLimits.Service = { service: 10_000, name: 1_000 }
) {
  const root = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  const launcher = yield* Layer.build(
    Launcher.layer({
      host: "127.0.0.1",
      port: 0,
      settings: {
        packsDir: packsIn(root, a),
        serviceRoot: root,
        bootstrapDir: `${root}/bootstrap`,
        registerPolicies: false,
        ...options
      }
    }).pipe(Layer.provide(Layer.succeed(ItemLimits, limits)))
  )
  const { url } = Context.get(launcher, Launcher)
  const client = LauncherClient.layer({ baseUrl: url }).pipe(Layer.provide(FetchHttpClient.layer))
  return { url, client: yield* Effect.provide(LauncherClient, client) }
})

/** A runtime, a database, the service over both, and the rows as another process sees them. */
const stage = Effect.fnUntraced(function* (a: string, limits?: typeof ItemLimits.Service) {
  const { address } = Context.get(yield* Layer.build(Sandbox.layer({ port: 0 })), Sandbox)
  const database = { url: yield* createDatabase }
  const options = { database, runtimeAddress: address, runtimeTls: false, runtimeAllowInsecure: true }
  const service = yield* serve(a, options, limits)
  const rows = yield* Layer.build(
    Layer.mergeAll(SeatRows.layer, ItemRows.layer).pipe(Layer.provide(layerPeopleDatabase(database)))
  )
  const client = yield* Layer.build(ParticipantClient.layerGrpc({ address }))
  return { ...service, seats: Context.get(rows, SeatRows), items: Context.get(rows, ItemRows), runtime: client }
})

layer(NodeFileSystem.layer, { excludeTestServices: true })("a launch with a seat", (it) => {
  it.effect("opens an item for the seat once the session has a subject, and starts no process for it", () =>
    Effect.gen(function* () {
      const { client, items, runtime, seats } = yield* stage("attach")
      const payload = { scenarioRef: REF, inputs: { officer: "bo" }, idempotencyKey: "k1" }
      const launched = yield* client.launch.runExample({ payload })
      assert.deepStrictEqual(
        launched.hostedAgents.map(({ participantId, participantMetadata }) => [
          participantId,
          participantMetadata.processAttached
        ]),
        [
          ["first", true],
          ["second", false]
        ]
      )
      assert.strictEqual((yield* client.launch.queue()).agents.running, 1)
      assert.deepStrictEqual(launched.compiled.people, { second: { assign: ["person:bo"], when: "proposed" } })
      const session = launched.compiled.sessionId
      assert.deepInclude(yield* seats.find(session, "second"), {
        scenarioRef: REF,
        seats: ["second"],
        requester: undefined
      })
      const again = yield* client.launch.runExample({ payload })
      assert.strictEqual(again.compiled.sessionId, session)
      assert.lengthOf(yield* seats.unfinished, 1)
      yield* Effect.provideContext(start(session, ["lead", "first", "second"]), runtime)
      yield* Effect.provideContext(propose(session), runtime)
      yield* until(items.ofSeat(session, "second"), (found) => found.length === 1 && found[0]?.state === "open")
    }).pipe(Effect.scoped)
  )

  it.effect("is refused where people have as many open items as they may", () =>
    Effect.gen(function* () {
      const { client, seats } = yield* stage("attach", { service: 0, name: 1 })
      const error = yield* Effect.flip(client.launch.runExample({ payload: { scenarioRef: REF, inputs: {} } }))
      assert.strictEqual(Reflect.get(error, "errorCode"), "LAUNCHES_FULL")
      assert.strictEqual(
        error.message,
        "no free items for the people of another launch: 0 items are open, of at most 0"
      )
      assert.lengthOf(yield* seats.unfinished, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("leaves no seat behind when its agents fail", () =>
    Effect.gen(function* () {
      const { client, seats } = yield* stage("exit")
      const payload = { scenarioRef: REF, inputs: {} }
      const error = yield* Effect.flip(client.launch.runExample({ payload }))
      assert.deepInclude(error, { errorCode: "AGENT_ATTACH_FAILED" })
      yield* until(seats.unfinished, (left) => left.length === 0)
    }).pipe(Effect.scoped)
  )

  it.effect("is refused without a database, and agents alone are launched as ever", () =>
    Effect.gen(function* () {
      const { client, url } = yield* serve("attach")
      const payload = { scenarioRef: REF, inputs: {} }
      const compiling = yield* Effect.flip(client.launch.compile({ payload }))
      const launching = yield* Effect.flip(client.launch.runExample({ payload }))
      for (const error of [compiling, launching]) {
        assert.strictEqual(Reflect.get(error, "statusCode"), 500)
        assert.strictEqual(Reflect.get(error, "errorCode"), "INVALID_CONFIG")
        assert.match(String(error.message), /^LAUNCHER_DATABASE_URL is not set: demo\/one@1\.0\.0 has a seat/)
      }
      const compiled = yield* client.launch.compile({ payload: { scenarioRef: "demo/two@1.0.0", inputs: {} } })
      assert.notInclude(Object.keys(compiled), "people")
      const ready: unknown = yield* Effect.promise(() => fetch(`${url}/readyz`).then((answer) => answer.json()))
      assert.notInclude(Object.keys(Object(Reflect.get(Object(ready), "checks"))), "database")
    }).pipe(Effect.scoped)
  )

  it.effect("keeps a service without its database from starting, in a line with the setting", () =>
    Effect.gen(function* () {
      const database = { url: "postgresql://seats@127.0.0.1:1/none" }
      const error = yield* Effect.flip(serve("attach", { database, runtimeAddress: "127.0.0.1:1" }))
      assert.match(error.message, /^database unavailable: LAUNCHER_DATABASE_URL: .*ECONNREFUSED/)
      const aimless = yield* Effect.flip(serve("attach", { database, runtimeAddress: "" }))
      assert.strictEqual(
        aimless.message,
        "LAUNCHER_DATABASE_URL needs PROTO_RUNTIME_ADDRESS: seats act in that runtime"
      )
    }).pipe(Effect.scoped)
  )
})
