import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { TestClock } from "effect/testing"
import { LaunchedRuns } from "../../src/control-plane/LaunchedRuns.ts"
import { GIVE_UP_MS, MOST_RUNS } from "../../src/control-plane/PendingRuns.ts"
import { compiledLaunch, SESSION_ID } from "../fixtures/Compiled.ts"
import { settingsLayer } from "../fixtures/Settings.ts"
import { json, type StubRequest, stubHttp } from "../fixtures/StubHttp.ts"

const accepted = { runId: SESSION_ID, sessionId: SESSION_ID, status: "queued" }
const away = json(503, "away")

/** A launch service whose control plane answers as the test says, with a folder when there is one. */
const makeService = (dataDir?: string) => {
  const requests: Array<StubRequest> = []
  const plane = { answer: (_request: StubRequest): Response => json(503, "away") }
  const http = stubHttp((request) =>
    Effect.sync(() => {
      requests.push(request)
      return plane.answer(request)
    })
  )
  const service = LaunchedRuns.layer.pipe(
    Layer.provide(http),
    Layer.provide(
      settingsLayer({ dataDir, controlPlane: { url: "http://plane.test", timeoutMs: 5_000, apiKey: undefined } })
    ),
    Layer.fresh
  )
  return { requests, plane, service }
}

const { runDescriptor } = compiledLaunch()
const submit = Effect.flatMap(LaunchedRuns, (runs) => runs.submit(runDescriptor))
const waiting = Effect.flatMap(LaunchedRuns, (runs) => Effect.map(runs.waiting, (state) => state.runs))
const dropped = Effect.flatMap(LaunchedRuns, (runs) => runs.dropped)

const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

layer(platform)("a run that the control plane did not accept", (it) => {
  it.effect("is submitted again until the control plane is back, once more and not again", () => {
    const { plane, requests, service } = makeService()
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* submit, Option.none())
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* waiting, 1)
      const before = requests.length
      assert.isAbove(before, 5)
      plane.answer = () => json(202, accepted)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([yield* waiting, requests.length], [0, before + 1])
      assert.deepStrictEqual(requests.at(-1)?.body, runDescriptor)
    }).pipe(Effect.provide(service))
  })

  it.effect("is settled when an earlier submission has made it after all", () => {
    const { plane, service } = makeService()
    return Effect.gen(function* () {
      yield* submit
      plane.answer = ({ method }) =>
        method === "POST"
          ? json(409, { errorCode: "SESSION_ALREADY_EXISTS", message: "taken" })
          : json(200, { id: SESSION_ID, runtimeSessionId: SESSION_ID, status: "running" })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* waiting, 0)
      assert.deepStrictEqual(yield* dropped, { refused: 0, expired: 0, full: 0 })
    }).pipe(Effect.provide(service))
  })

  it.effect("is abandoned once it is accepted, when its launch has failed meanwhile", () => {
    const { plane, requests, service } = makeService()
    return Effect.gen(function* () {
      yield* submit
      yield* (yield* LaunchedRuns).fail(SESSION_ID, "agent lead: exit 1")
      plane.answer = ({ url }) => (url.endsWith("/abandon") ? json(201, {}) : json(202, accepted))
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(requests.at(-1), {
        url: `http://plane.test/runs/${SESSION_ID}/abandon`,
        body: { reason: "agent lead: exit 1" }
      })
    }).pipe(Effect.provide(service))
  })

  it.effect("is given up, and counted, when the control plane refuses its descriptor", () => {
    const { plane, service } = makeService()
    return Effect.gen(function* () {
      yield* submit
      plane.answer = () => json(400, { errorCode: "VALIDATION_ERROR", message: ["no"] })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([yield* waiting, (yield* dropped).refused], [0, 1])
    }).pipe(Effect.provide(service))
  })

  it.effect("is given up, and counted, when the control plane does not come back for a day", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* fs.makeTempDirectoryScoped()
      yield* submit.pipe(Effect.provide(makeService(dataDir).service))
      yield* TestClock.adjust(GIVE_UP_MS - 10_000)
      const { service } = makeService(dataDir)
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual([yield* waiting, (yield* dropped).expired], [1, 0])
        yield* TestClock.adjust("10 seconds")
        // Its file is removed first.
        const turn = Effect.promise(() => new Promise((done) => setImmediate(done)))
        yield* Effect.andThen(turn, dropped).pipe(Effect.repeat({ until: ({ expired }) => expired > 0 }))
        assert.deepStrictEqual([yield* waiting, (yield* dropped).expired], [0, 1])
      }).pipe(Effect.provide(service))
    }).pipe(Effect.provide(platform))
  )

  it.effect("is not the only one: others have their turns, and too many are refused and counted", () => {
    const { plane, service } = makeService()
    const poison = "00000000-0000-4000-8000-000000000000"
    return Effect.gen(function* () {
      const runs = yield* LaunchedRuns
      for (let n = 0; n <= MOST_RUNS; n++) {
        const sessionId = n === 0 ? poison : `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
        yield* runs.submit({ ...runDescriptor, session: { ...runDescriptor.session, sessionId } })
      }
      assert.deepStrictEqual([yield* waiting, (yield* dropped).full], [MOST_RUNS, 1])
      plane.answer = ({ body }) => {
        const text = JSON.stringify(body)
        const sessionId = /"sessionId":"([^"]+)"/.exec(text)?.[1]
        return sessionId === poison ? away.clone() : json(202, { ...accepted, sessionId })
      }
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* waiting, 1)
    }).pipe(Effect.provide(service))
  })

  it.effect("survives a restart where there is a folder, closed to other users, and leaves no file", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* fs.makeTempDirectoryScoped()
      const first = makeService(dataDir)
      yield* Effect.andThen(
        submit,
        Effect.flatMap(LaunchedRuns, (runs) => runs.fail(SESSION_ID, "why"))
      ).pipe(Effect.provide(first.service))
      const folder = `${dataDir}/waiting-runs`
      const [file = ""] = yield* fs.readDirectory(folder)
      const { mode } = yield* fs.stat(`${folder}/${file}`)
      assert.strictEqual(mode & 0o777, 0o600)
      yield* fs.writeFileString(`${folder}/broken.run.json`, "{")

      const second = makeService(dataDir)
      const abandoned = yield* Deferred.make<void>()
      second.plane.answer = ({ url }) => {
        if (!url.endsWith("/abandon")) return json(202, accepted)
        Deferred.doneUnsafe(abandoned, Effect.void)
        return json(201, {})
      }
      yield* Effect.gen(function* () {
        yield* TestClock.adjust("10 seconds")
        yield* Deferred.await(abandoned)
        assert.strictEqual(yield* waiting, 0)
      }).pipe(Effect.provide(second.service))
      assert.deepStrictEqual(
        second.requests.map(({ body, url }) => [url, body]),
        [
          ["http://plane.test/runs", runDescriptor],
          [`http://plane.test/runs/${SESSION_ID}/abandon`, { reason: "why" }]
        ]
      )
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["broken.run.json"])
    }).pipe(Effect.scoped)
  )
})
