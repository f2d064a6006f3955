import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { TestClock } from "effect/testing"
import { LaunchedRuns } from "../../src/control-plane/LaunchedRuns.ts"
import type { ControlPlaneSettings } from "../../src/LauncherSettings.ts"
import { compiledLaunch, SESSION_ID } from "../fixtures/Compiled.ts"
import { memoryFiles } from "../fixtures/MemoryFiles.ts"
import { settingsLayer } from "../fixtures/Settings.ts"
import { json, type StubRequest, stubHttp } from "../fixtures/StubHttp.ts"

const controlPlane: ControlPlaneSettings = {
  url: "http://plane.test",
  timeoutMs: 5_000,
  apiKey: Redacted.make("key-1")
}
const accepted = {
  runId: SESSION_ID,
  sessionId: SESSION_ID,
  status: "queued",
  traceId: "0af7651916cd43dd8448eb211c80319c"
}

const withPlane = (answer: Effect.Effect<Response>, settings: ControlPlaneSettings | "none" = controlPlane) => {
  const requests: Array<StubRequest> = []
  const http = stubHttp((request) =>
    Effect.andThen(
      Effect.sync(() => requests.push(request)),
      answer
    )
  )
  const layer = LaunchedRuns.layer.pipe(
    Layer.provide([http, memoryFiles({})]),
    Layer.provide(settingsLayer({ controlPlane: settings === "none" ? undefined : settings }))
  )
  return { requests, layer }
}

const submit = Effect.flatMap(LaunchedRuns, (runs) => runs.submit(compiledLaunch().runDescriptor))

describe("submission to the control plane", () => {
  it.effect("posts the descriptor with the key, and answers the accepted run", () => {
    const { requests, layer } = withPlane(Effect.sync(() => json(202, accepted)))
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* submit, Option.some(accepted))
      assert.deepInclude(requests[0], { method: "POST", url: "http://plane.test/runs" })
      assert.strictEqual(requests[0]?.headers["authorization"], "Bearer key-1")
      assert.deepStrictEqual(requests[0]?.body, compiledLaunch().runDescriptor)
    }).pipe(Effect.provide(layer))
  })

  it.effect.each([
    ["200", json(200, accepted), accepted],
    ["201 and more than is needed", json(201, { ...accepted, extra: 1 }), accepted],
    [
      "no trace id",
      json(202, { runId: "r", sessionId: SESSION_ID, status: "s" }),
      { runId: "r", sessionId: SESSION_ID, status: "s" }
    ]
  ] as const)("takes %s as accepted", ([, response, run]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* submit, Option.some(run))
    }).pipe(Effect.provide(withPlane(Effect.succeed(response)).layer))
  )

  it.effect("fails with the message of a budget that refuses the run", () => {
    const message = "budget support (Budget) of all admits no more runs"
    const metadata = { rule: "support", endsAt: "2026-08-01T00:00:00.000Z", expectedUsd: 1, limitUsd: 10 }
    const answer = json(409, { statusCode: 409, errorCode: "BUDGET_EXHAUSTED", message, metadata })
    return Effect.gen(function* () {
      const failure = yield* Effect.flip(submit)
      assert.deepInclude(failure, { errorCode: "BUDGET_EXHAUSTED", message, statusCode: 409, metadata })
    }).pipe(Effect.provide(withPlane(Effect.succeed(answer)).layer))
  })

  it.effect.each([
    ["another conflict", json(409, { statusCode: 409, errorCode: "SESSION_ALREADY_EXISTS", message: "used" })],
    ["a refusal", json(400, { statusCode: 400, errorCode: "VALIDATION_ERROR", message: ["no"], error: "Bad Request" })],
    ["a fault", json(503, "down")],
    ["an answer that is not a run", json(202, { runId: "" })],
    ["a run without an id", json(202, { ...accepted, runId: "" })],
    ["a run without a status", json(202, { ...accepted, status: "" })],
    ["a run of another session", json(202, { ...accepted, sessionId: "other" })]
  ] as const)("answers none, once, on %s", ([, response]) => {
    const { requests, layer } = withPlane(Effect.succeed(response))
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* submit, Option.none())
      assert.lengthOf(requests, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("gives up after its time", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(submit)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* Fiber.join(waiting), Option.none())
    }).pipe(Effect.provide(withPlane(Effect.never).layer))
  )

  it.effect("does nothing without a control plane", () => {
    const { requests, layer } = withPlane(Effect.never, "none")
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* submit, Option.none())
      assert.lengthOf(requests, 0)
    }).pipe(Effect.provide(layer))
  })
})
