import { assert, describe, it } from "@effect/vitest"
import { failureCodeIn, RUNTIME_FAILURE_CODES } from "@runplane/domain"

describe("FailureCodes", () => {
  it.each(RUNTIME_FAILURE_CODES)("finds %s anywhere in a failure text", (code) => {
    assert.strictEqual(failureCodeIn(`rpc error: ${code}: policy.x`), code)
  })

  it("finds nothing in other texts", () => {
    assert.isUndefined(failureCodeIn("runtime session expired"))
    assert.isUndefined(failureCodeIn(""))
  })
})
