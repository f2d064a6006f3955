import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, layer } from "@effect/vitest"
import { RuntimeClient } from "@runplane/runtime"
import { RuntimeFake } from "@runplane/runtime/testing"
import * as Effect from "effect/Effect"
import { call, layerTestService } from "../../support/HttpService.ts"

const policy = {
  policyId: "policy.fraud.strict",
  mode: "macp.mode.decision.v1",
  description: "strict",
  rules: { voting: { algorithm: "unanimous" } },
  schemaVersion: 2
}
const path = `/runtime/policies/${policy.policyId}`
const register = (body: unknown) => call("POST", "/runtime/policies", { body })

layer(layerTestService(), { excludeTestServices: true })("policies over HTTP", (it) => {
  it.effect("registers, lists, shows and removes a policy, and audits it", () =>
    Effect.gen(function* () {
      const registered = yield* register(policy)
      assert.strictEqual(registered.status, 201, registered.text)
      assert.deepStrictEqual(registered.body, { ok: true })
      const listed = yield* call("GET", "/runtime/policies?mode=macp.mode.decision.v1")
      assert.include(
        listed.body.map((entry: { policyId: string }) => entry.policyId),
        policy.policyId
      )
      const shown = yield* call("GET", path)
      assert.deepInclude(shown.body, policy)
      const removed = yield* call("DELETE", path)
      assert.strictEqual(removed.status, 200)
      assert.deepStrictEqual(removed.body, { ok: true })
      assert.strictEqual((yield* call("GET", path)).status, 404)
      const sql = yield* PgClient.PgClient
      const rows = yield* sql<{ readonly action: string }>`SELECT action FROM audit_log ORDER BY created_at`
      assert.deepStrictEqual(
        rows.map(({ action }) => action),
        ["policy.register", "policy.delete"]
      )
    })
  )

  it.effect("refuses a schema version that the runtime takes and does not evaluate", () =>
    Effect.gen(function* () {
      const fake = yield* RuntimeFake
      const identity = yield* Effect.flatMap(RuntimeClient, ({ initialize }) => initialize)
      yield* Effect.addFinalizer(() => fake.configure({ identity }))
      const versioned = Effect.fnUntraced(function* (version: string, schemaVersion: number) {
        yield* fake.configure({ identity: { ...identity, name: "macp-runtime", version } })
        const answer = yield* register({ ...policy, policyId: `policy.v${version}.${schemaVersion}`, schemaVersion })
        return answer.status === 201 ? "ok" : `${answer.status} ${answer.body.errorCode} ${answer.body.message}`
      })
      assert.strictEqual(yield* versioned("0.13.0", 3), "ok")
      assert.strictEqual(yield* versioned("0.7.0", 2), "ok")
      assert.match(
        yield* versioned("0.7.0", 3),
        /^400 INVALID_POLICY_DEFINITION macp-runtime 0\.7\.0 does not evaluate policies of schema version 3: .* schemaVersion 2/
      )
    }).pipe(Effect.scoped)
  )

  for (const [what, over, errorCode, message] of [
    ["a missing id", { policyId: "" }, "VALIDATION_ERROR", ["policyId is required"]],
    ["the reserved id", { policyId: "policy.default" }, "VALIDATION_ERROR", "policy.default is reserved"],
    [
      "a numeric string as version",
      { schemaVersion: "1" },
      "VALIDATION_ERROR",
      ["schemaVersion must be one of 1, 2, 3"]
    ],
    ["null as version", { schemaVersion: null }, "VALIDATION_ERROR", ["schemaVersion must be one of 1, 2, 3"]],
    ["rules that are no object", { rules: "{}" }, "VALIDATION_ERROR", ["rules must be a JSON object"]],
    ["unknown rules", { rules: { vote: {} } }, "INVALID_POLICY_DEFINITION", '(root): unrecognized key "vote"']
  ] as const) {
    it.effect(`refuses ${what} without a call of the runtime`, () =>
      Effect.gen(function* () {
        const { body, status } = yield* register({ ...policy, ...over })
        assert.strictEqual(status, 400)
        assert.strictEqual(body.errorCode, errorCode)
        assert.deepStrictEqual(body.message, message)
      })
    )
  }

  it.effect("reports a runtime that is away", () =>
    Effect.gen(function* () {
      yield* RuntimeFake.use((fake) => fake.fail({ method: "ListPolicies" }, "UNAVAILABLE", "gone"))
      const { body, status } = yield* call("GET", "/runtime/policies")
      assert.strictEqual(status, 503)
      assert.strictEqual(body.errorCode, "RUNTIME_UNAVAILABLE")
    })
  )
})
