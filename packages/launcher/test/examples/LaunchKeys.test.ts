import { assert, describe, it } from "@effect/vitest"
import type { ExampleRunRequest } from "@runplane/api"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { ExampleRuns } from "../../src/examples/ExampleRuns.ts"
import { ALL, manifest, type Scene, stage } from "./Stage.ts"

const V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const request: ExampleRunRequest = { scenarioRef: "demo/one@1.0.0", inputs: {}, idempotencyKey: "ci-1" }

/** One launch service over a scene; `starts` counts the launches that started agents. */
const makeService = (scene: Scene = {}) => {
  const { log, service, submitted } = stage(scene)
  return {
    service,
    submitted,
    starts: () => log.filter((line) => line === "attach lead").length
  }
}

const launch = (changes: Partial<ExampleRunRequest> = {}) =>
  Effect.flatMap(ExampleRuns, (runs) => runs.run({ ...request, ...changes }))

/** The hash that the run of a launch has. */
const hashOf = ([descriptor]: ReturnType<typeof stage>["submitted"]): string =>
  String(Reflect.get(Object(descriptor?.session.metadata?.["launchKey"]), "request"))

describe("a launch with an idempotency key", () => {
  it.effect("is one launch for the same body, in whatever order its keys are, and has one answer", () => {
    const { service, starts, submitted } = makeService()
    return Effect.gen(function* () {
      const first = yield* launch({ inputs: { a: 1, b: 2 } })
      assert.match(first.sessionId ?? "", V4)
      assert.deepStrictEqual(yield* launch({ inputs: { b: 2, a: 1 } }), first)
      assert.deepStrictEqual([starts(), submitted.length], [1, 1])
      const other = yield* launch({ idempotencyKey: "ci-2", inputs: { a: 1, b: 2 } })
      assert.notStrictEqual(other.sessionId, first.sessionId)
    }).pipe(Effect.provide(service))
  })

  it.effect("is one launch for two requests at the same time", () => {
    const { service, starts } = makeService({ attachment: Effect.yieldNow })
    return Effect.gen(function* () {
      const [one, other] = yield* Effect.all([launch(), launch()], { concurrency: 2 })
      assert.deepStrictEqual(other, one)
      assert.strictEqual(starts(), 1)
    }).pipe(Effect.provide(service))
  })

  it.effect("is 409 with another body, also while the first is under way", () => {
    const { service, starts } = makeService()
    return Effect.gen(function* () {
      yield* launch()
      const error = yield* Effect.flip(launch({ inputs: { a: 1 } }))
      assert.deepInclude(error, {
        statusCode: 409,
        errorCode: "CONFLICT",
        message: "the idempotencyKey ci-1 has been used with another body"
      })
      assert.strictEqual(starts(), 1)
    }).pipe(Effect.provide(service))
  })

  it.effect("goes on when its caller disconnects, and the repeated request has its answer", () =>
    Effect.gen(function* () {
      const open = yield* Deferred.make<void>()
      const { service, starts } = makeService({ attachment: Deferred.await(open) })
      yield* Effect.gen(function* () {
        const first = yield* Effect.forkChild(launch(), { startImmediately: true })
        yield* Fiber.interrupt(first)
        yield* Deferred.succeed(open, undefined)
        assert.lengthOf((yield* launch()).hostedAgents, 3)
        assert.strictEqual(starts(), 1)
      }).pipe(Effect.provide(service))
    })
  )

  it.effect("is found at the control plane by a service that has started again", () => {
    const before = makeService()
    const known = new Set<string>()
    let hash = ""
    const after = makeService({
      found: (sessionId) =>
        known.has(sessionId)
          ? { run: { runId: sessionId, sessionId, status: "completed" }, request: hash, isUnopened: false }
          : undefined
    })
    return Effect.gen(function* () {
      const { sessionId = "" } = yield* Effect.provide(launch(), before.service)
      known.add(sessionId)
      hash = hashOf(before.submitted)
      yield* Effect.gen(function* () {
        const again = yield* launch()
        assert.deepStrictEqual(again.controlPlaneRun, { runId: sessionId, sessionId, status: "completed" })
        assert.deepStrictEqual(
          again.hostedAgents.map(({ participantMetadata }) => participantMetadata.processAttached),
          [false, false, false]
        )
        assert.deepStrictEqual([after.starts(), after.submitted.length], [0, 0])
        hash = "of another body"
        const error = yield* Effect.flip(launch({ idempotencyKey: "ci-1", inputs: { a: 1 } }))
        assert.strictEqual(error.errorCode, "CONFLICT")
      }).pipe(Effect.provide(after.service))
    })
  })

  it.effect("frees its key when it fails before its session is open, for a launch with another session", () => {
    const sessions: Array<string> = []
    const failing = { current: true }
    const manifests = Object.fromEntries(ALL.map((ref) => [ref, manifest()]))
    const scene: Scene = {
      manifests,
      attachment: Effect.suspend(() => (failing.current ? Effect.die("no") : Effect.void)),
      found: (sessionId) => {
        sessions.push(sessionId)
        return undefined
      }
    }
    const { service } = makeService(scene)
    return Effect.gen(function* () {
      yield* Effect.exit(launch())
      failing.current = false
      const second = yield* launch()
      assert.strictEqual(second.sessionId, sessions[1])
      assert.notStrictEqual(sessions[1], sessions[0])
    }).pipe(Effect.provide(service))
  })

  it.effect("passes over runs whose sessions were never opened", () => {
    const asked: Array<string> = []
    const { service, starts } = makeService({
      found: (sessionId) => {
        asked.push(sessionId)
        const run = { runId: sessionId, sessionId, status: "failed" }
        return asked.length > 2 ? undefined : { run, request: undefined, isUnopened: true }
      }
    })
    return Effect.gen(function* () {
      assert.strictEqual((yield* launch()).sessionId, asked[2])
      assert.strictEqual(starts(), 1)
    }).pipe(Effect.provide(service))
  })

  it.effect("has no effect where nothing is started", () => {
    const { service, submitted } = makeService()
    return Effect.gen(function* () {
      const first = yield* launch({ bootstrapAgents: false })
      assert.deepStrictEqual(yield* launch({ bootstrapAgents: false, inputs: { a: 1 } }), first)
      assert.lengthOf(submitted, 0)
    }).pipe(Effect.provide(service))
  })
})
