import { create } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
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
  it.effect("ignores unknown rules unless its rule sets are closed", () =>
    Effect.gen(function* () {
      const misspelt = descriptor({ threshold_type: "count", threshold: { value: 2 } })
      yield* Effect.provide(register(misspelt), PolicyRegistry.layer)
      const refusal = yield* Effect.flip(register(misspelt)).pipe(Effect.provide(PolicyRegistry.layerClosed))
      assert.strictEqual(refusal.message, "INVALID_POLICY_DEFINITION: unknown rules: threshold_type")
    })
  )

  it.effect("takes annotations even then", () =>
    register(descriptor({ _note: "two of three", threshold: { $why: "enough", value: 2 } })).pipe(
      Effect.provide(PolicyRegistry.layerClosed)
    )
  )
})
