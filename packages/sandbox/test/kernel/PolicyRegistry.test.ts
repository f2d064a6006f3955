import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { PINNED_RELEASE } from "@runplane/domain"
import { PolicyDescriptorSchema } from "@runplane/runtime"
import * as Effect from "effect/Effect"
import { PolicyRegistry } from "../../src/kernel/PolicyRegistry.ts"

const descriptor = (rules: object, mode = "macp.mode.quorum.v1") =>
  create(PolicyDescriptorSchema, {
    policyId: "policy.test.rules",
    mode,
    rules: JSON.stringify(rules),
    schemaVersion: 1
  })

const register = (policy: ReturnType<typeof descriptor>) =>
  Effect.flatMap(PolicyRegistry, (registry) => registry.register(policy))

describe("the policy registry", () => {
  it.effect("ignores unknown rules only in older releases", () =>
    Effect.gen(function* () {
      const misspelt = descriptor({ threshold_type: "count", threshold: { value: 2 } })
      yield* Effect.provide(register(misspelt), PolicyRegistry.layer("0.7.6"))
      const refusal = yield* Effect.flip(register(misspelt)).pipe(Effect.provide(PolicyRegistry.layer(PINNED_RELEASE)))
      assert.strictEqual(refusal.message, "INVALID_POLICY_DEFINITION: unknown rules: threshold_type")
    })
  )

  it.effect("takes annotations", () =>
    register(descriptor({ _note: "two of three", threshold: { $why: "enough", value: 2 } })).pipe(
      Effect.provide(PolicyRegistry.layer(PINNED_RELEASE))
    )
  )

  it.effect("has the reserved policies, which cannot be replaced or removed", () =>
    Effect.gen(function* () {
      const registry = yield* PolicyRegistry
      assert.deepStrictEqual(
        registry.list("").map(({ policyId }) => policyId),
        ["policy.default", "policy.std.majority", "policy.std.supermajority", "policy.std.unanimous"]
      )
      const majority = registry.find("policy.std.majority")
      assert(majority !== undefined)
      yield* Effect.flip(registry.register(majority))
      yield* Effect.flip(registry.unregister("policy.std.majority"))
    }).pipe(Effect.provide(PolicyRegistry.layer(PINNED_RELEASE)))
  )
})
