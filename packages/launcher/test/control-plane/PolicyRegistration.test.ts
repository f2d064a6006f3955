import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Queue from "effect/Queue"
import { TestClock } from "effect/testing"
import { PolicyRegistration } from "../../src/control-plane/PolicyRegistration.ts"
import type { LauncherOptions } from "../../src/LauncherSettings.ts"
import { memoryFiles } from "../fixtures/MemoryFiles.ts"
import { settingsLayer } from "../fixtures/Settings.ts"
import { json, type StubRequest, stubHttp } from "../fixtures/StubHttp.ts"

const MODE = "macp.mode.decision.v1"
const rules = { voting: { algorithm: "majority", threshold: 0.5 } }
const policy = (id: string) => JSON.stringify({ policy_id: id, mode: MODE, schema_version: 3, description: "d", rules })

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

const held = (changes: object = {}) =>
  json(200, { policyId: "policy.a", mode: MODE, description: "old", schemaVersion: 3, rules, ...changes })
const already = json(201, { ok: false, error: "policy policy.a is already registered" })
const failure = (status: number, errorCode: string, message: string) =>
  json(status, { statusCode: status, errorCode, message })

/** The registration against answers given in turn; `calls` has each call as it is made, `warnings` each line. */
const register = Effect.fnUntraced(function* (answers: ReadonlyArray<Response>, options: LauncherOptions = on) {
  const calls = yield* Queue.unbounded<StubRequest>()
  const warnings: Array<string> = []
  let next = 0
  const http = stubHttp((request) =>
    Effect.as(Queue.offer(calls, request), (answers[next++] ?? json(201, { ok: true })).clone())
  )
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Warn") warnings.push(String(message))
  })
  const context = yield* Layer.build(
    PolicyRegistration.layer.pipe(
      Layer.provide([http, files, settingsLayer(options)]),
      Layer.provide(Logger.layer([logger]))
    )
  )
  return { calls, warnings, logger: Logger.layer([logger]), policies: Context.get(context, PolicyRegistration) }
})

const registered = (name: string) => ({ policy: name, state: "registered" })

const bodyOf = ({ body }: StubRequest) => body

describe("registration of the packs' policies", () => {
  it.effect("registers every readable policy but the default one, in the control plane's own names", () =>
    Effect.gen(function* () {
      const { calls, policies, warnings } = yield* register([])
      const [lost, ...outcomes] = yield* policies.settled
      assert.strictEqual(lost?.policy, "broken.json")
      assert.strictEqual(lost?.state, "refused")
      assert.deepStrictEqual(outcomes, [registered("policy.a"), registered("policy.b")])
      const [first, second] = yield* Queue.takeN(calls, 2)
      assert.deepStrictEqual(first && bodyOf(first), {
        policyId: "policy.a",
        mode: MODE,
        description: "d",
        rules,
        schemaVersion: 3
      })
      assert.include(JSON.stringify(second && bodyOf(second)), '"policyId":"policy.b"')
      assert.lengthOf(warnings, 1)
      assert.match(warnings[0] ?? "", /^policy file broken\.json left out: /)
    })
  )

  it.effect.each([
    [
      "the same rules, whatever the order of their keys",
      held({ rules: { voting: { threshold: 0.5, algorithm: "majority" } } }),
      1
    ],
    ["other rules, and says so", held({ rules: { voting: { algorithm: "none" } } }), 2]
  ] as const)("counts a policy as registered that is there already with %s", ([, answer, lines]) =>
    Effect.gen(function* () {
      const { policies, warnings } = yield* register([already, answer])
      assert.deepStrictEqual((yield* policies.settled).slice(1), [registered("policy.a"), registered("policy.b")])
      assert.lengthOf(warnings, lines)
    })
  )

  it.effect.each([
    ["by the runtime", [json(201, { ok: false, error: "unknown mode" })], "unknown mode"],
    [
      "for its rules",
      [failure(400, "INVALID_POLICY_DEFINITION", "rules.voting.x is unknown")],
      "rules.voting.x is unknown"
    ],
    ["for want of authority", [failure(403, "FORBIDDEN", "may not manage registries")], "may not manage registries"],
    [
      "by a registry that is read-only and lacks it",
      [failure(405, "REGISTRY_READ_ONLY", "registry is read-only"), failure(404, "NOT_FOUND", "no such policy")],
      "registry is read-only"
    ]
  ] as const)("says in one line that a policy was refused %s, and goes on", ([, answers, reason]) =>
    Effect.gen(function* () {
      const { policies, warnings } = yield* register(answers)
      assert.deepStrictEqual((yield* policies.settled).slice(1), [
        { policy: "policy.a", state: "refused", reason },
        registered("policy.b")
      ])
      assert.deepStrictEqual(warnings.slice(1), [`policy policy.a of the packs was refused: ${reason}`])
    })
  )

  it.effect("says that the folder of the policies cannot be listed", () =>
    Effect.gen(function* () {
      const policiesDir = "/packs/_policies/notes.txt"
      const { policies, warnings } = yield* register([], { ...on, policiesDir })
      const reason = "cannot be read: NotFound"
      assert.deepStrictEqual(yield* policies.settled, [{ policy: "notes.txt", state: "refused", reason }])
      assert.deepStrictEqual(warnings, [`policy file notes.txt left out: ${reason}`])
    })
  )

  it.effect("finds its policies in a registry that is read-only", () =>
    Effect.gen(function* () {
      const { policies } = yield* register([failure(405, "REGISTRY_READ_ONLY", "registry is read-only"), held()])
      assert.deepStrictEqual((yield* policies.settled)[1], registered("policy.a"))
    })
  )

  it.effect("tries again until the control plane is there, and says once that it is not", () =>
    Effect.gen(function* () {
      const down = failure(503, "RUNTIME_UNAVAILABLE", "not reachable")
      const { calls, policies, warnings } = yield* register([down, down, down])
      const settled = yield* Effect.forkChild(policies.settled)
      yield* Queue.take(calls)
      yield* TestClock.adjust("10 millis")
      assert.deepStrictEqual((yield* policies.outcomes).slice(1), [
        { policy: "policy.a", state: "pending", reason: "not reachable" },
        { policy: "policy.b", state: "pending", reason: "" }
      ])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual((yield* Fiber.join(settled)).slice(1), [registered("policy.a"), registered("policy.b")])
      assert.deepStrictEqual(warnings.slice(1), [
        "the policies of the packs are not registered at http://plane.test yet, trying again: not reachable"
      ])
    })
  )

  it.effect.each([
    ["without a control plane", { packsDir: "/packs" }],
    ["when it is switched off", { ...on, registerPolicies: false }]
  ] as const)("does nothing %s", ([, options]) =>
    Effect.gen(function* () {
      const { calls, policies } = yield* register([], options)
      assert.deepStrictEqual(yield* policies.settled, [])
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Queue.size(calls), 0)
    })
  )
})

describe("the policy of a launch", () => {
  const missing = failure(404, "NOT_FOUND", "no such policy")
  const settled = [json(201, { ok: true }), json(201, { ok: true })]

  const ensure = Effect.fnUntraced(function* (
    policyId: string | undefined,
    answers: ReadonlyArray<Response>,
    options: LauncherOptions = on
  ) {
    const { calls, logger, policies, warnings } = yield* register([...settled, ...answers], options)
    const registering = (yield* policies.settled).length === 0 ? 0 : 2
    const outcome = yield* Effect.result(policies.ensure(policyId)).pipe(Effect.provide(logger))
    const asked = (yield* Queue.takeAll(calls)).slice(registering).map(({ method, url }) => `${method} ${url}`)
    const refused = outcome._tag === "Failure" ? `${outcome.failure.errorCode}: ${outcome.failure.message}` : undefined
    return { asked, refused, warnings: warnings.slice(1) }
  })
  const GET = "GET http://plane.test/runtime/policies/policy.a"
  const POST = "POST http://plane.test/runtime/policies"

  it.effect.each([
    ["is there", "policy.a", [held()], [GET]],
    ["has been deleted, and is registered again", "policy.a", [missing, json(201, { ok: true })], [GET, POST]],
    ["is that of the runtime", "policy.default", [], []],
    ["is not named", undefined, [], []]
  ] as const)("lets it start when it %s", ([, policyId, answers, calls]) =>
    Effect.map(ensure(policyId, answers), ({ asked, refused }) => {
      assert.isUndefined(refused)
      assert.deepStrictEqual(asked, [...calls])
    })
  )

  it.effect.each([
    [
      "without a file",
      "policy.elsewhere",
      [missing],
      "INVALID_CONFIG: policy policy.elsewhere is not registered at the runtime (the packs have no file of it to register)"
    ],
    [
      "that the runtime refuses",
      "policy.a",
      [missing, json(201, { ok: false, error: "too many policies" })],
      "INVALID_CONFIG: policy policy.a is not registered at the runtime (too many policies)"
    ]
  ] as const)("is named when it is gone, %s", ([, policyId, answers, message]) =>
    Effect.map(ensure(policyId, answers), ({ refused }) => {
      assert.strictEqual(refused?.split(": register it")[0], message)
    })
  )

  it.effect("is not registered where that is switched off", () =>
    Effect.map(ensure("policy.a", [], { ...on, registerPolicies: false }), ({ asked, refused }) => {
      assert.isUndefined(refused)
      assert.deepStrictEqual(asked, [GET])
    })
  )

  it.effect("fails no launch when the control plane gives no answer", () =>
    Effect.map(ensure("policy.a", [failure(503, "RUNTIME_UNAVAILABLE", "down")]), ({ refused, warnings }) => {
      assert.isUndefined(refused)
      assert.deepStrictEqual(warnings, ["whether policy policy.a is registered is unknown: down"])
    })
  )
})
