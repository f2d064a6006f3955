import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { jsonDifferences, ruleDifferences } from "../../../src/view/policies/PolicyDifferences.ts"

describe("the differences of two policies", () => {
  const policy = (over: object) => ({
    policyId: "p",
    mode: "macp.mode.decision.v1",
    description: "",
    schemaVersion: 3,
    rules: { voting: { algorithm: "majority", threshold: 0.5 }, commitment: { designated_roles: [] }, ...over }
  })
  const strict = policy({ voting: { algorithm: "majority", threshold: 0.75 }, extra: [1, { deep: null }] })

  it("are the leaves of their JSON, and the rules in words", () => {
    assert.deepStrictEqual(jsonDifferences(policy({}).rules, strict.rules), [
      { at: "/voting/threshold", left: "0.5", right: "0.75" },
      { at: "/extra/0", left: undefined, right: "1" },
      { at: "/extra/1/deep", left: undefined, right: "null" }
    ])
    const [rule, ...others] = ruleDifferences(policy({}), policy({ voting: { algorithm: "unanimous" } }))
    assert.deepStrictEqual(others, [])
    assert.deepInclude(rule, { right: "Every participant must approve." })
    assert.match(rule?.left ?? "", /at least 50 %/)
  })

  it.prop("are none of a value and itself", [Schema.Json], ([value]) => {
    assert.deepStrictEqual(jsonDifferences(value, structuredClone(value)), [])
  })
})
