import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import { TestClock } from "effect/testing"
import type { LauncherOptions } from "../src/LauncherSettings.ts"
import { policyRegistration } from "../src/PolicyRegistration.ts"
import { memoryFiles } from "./fixtures/MemoryFiles.ts"
import { settingsLayer } from "./fixtures/Settings.ts"
import { json, type StubRequest, stubHttp } from "./fixtures/StubHttp.ts"

const policy = (id: string) =>
  JSON.stringify({ policy_id: id, mode: "macp.mode.decision.v1", schema_version: 3, description: "d", rules: { a: 1 } })

const files = memoryFiles({
  "/packs/_policies/a.json": policy("policy.a"),
  "/packs/_policies/b.json": policy("policy.b"),
  "/packs/_policies/broken.json": "{",
  "/packs/_policies/default.json": policy("policy.default"),
  "/packs/_policies/notes.txt": "n"
})

const on: LauncherOptions = {
  packsDir: "/packs",
  controlPlane: { url: "http://plane.test", timeoutMs: 5_000, apiKey: undefined }
}

/** Runs the registration against answers given in turn; the queue tells each call as it is made. */
const register = Effect.fnUntraced(function* (answers: ReadonlyArray<Response>, options: LauncherOptions = on) {
  const calls = yield* Queue.unbounded<StubRequest>()
  let next = 0
  const http = stubHttp((request) =>
    Effect.as(Queue.offer(calls, request), (answers[next++] ?? json(201, { ok: true })).clone())
  )
  yield* Layer.build(
    policyRegistration.pipe(Layer.provide(http), Layer.provide(files), Layer.provide(settingsLayer(options)))
  )
  return calls
})

const policyIds = (calls: ReadonlyArray<StubRequest>) =>
  calls.map(({ body }) => (typeof body === "object" && body !== null && "policyId" in body ? body.policyId : body))

describe("registration of the packs' policies", () => {
  it.effect("registers every readable policy but the default one, in the control plane's own names", () =>
    Effect.gen(function* () {
      const calls = yield* register([])
      const [first, second] = yield* Queue.takeN(calls, 2)
      assert.deepStrictEqual(first?.body, {
        policyId: "policy.a",
        mode: "macp.mode.decision.v1",
        description: "d",
        rules: { a: 1 },
        schemaVersion: 3
      })
      assert.deepStrictEqual(policyIds(second === undefined ? [] : [second]), ["policy.b"])
    })
  )

  it.effect("goes on after a policy that is there already or refused", () =>
    Effect.gen(function* () {
      const calls = yield* register([json(201, { ok: false, error: "policy already registered" })])
      assert.deepStrictEqual(policyIds(yield* Queue.takeN(calls, 2)), ["policy.a", "policy.b"])
    })
  )

  it.effect("tries again until the control plane is there", () =>
    Effect.gen(function* () {
      const calls = yield* register([json(503, "down"), json(503, "down")])
      yield* Queue.take(calls)
      yield* TestClock.adjust("1 second")
      yield* Queue.take(calls)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(policyIds(yield* Queue.takeN(calls, 2)), ["policy.a", "policy.b"])
    })
  )

  it.effect.each([
    ["without a control plane", { packsDir: "/packs" }],
    ["when it is switched off", { ...on, registerPolicies: false }]
  ] as const)("does nothing %s", ([, options]) =>
    Effect.gen(function* () {
      const calls = yield* register([], options)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Queue.size(calls), 0)
    })
  )
})
