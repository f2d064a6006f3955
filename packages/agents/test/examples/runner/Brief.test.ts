import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { briefOf } from "../../../src/examples/runner/Brief.ts"
import { balanced, balancedHints, bootstrapFor, degraded } from "../../support/Bridge.ts"

const launch = {
  runtimeUrl: "127.0.0.1:1",
  sessionId: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a21",
  policyVersion: balanced.policyId,
  hints: balancedHints,
  incident: degraded
}
const bootstrap = bootstrapFor("incident-commander", launch)
const seedOf = (session_context: Record<string, string | number>) =>
  Result.getOrThrow(briefOf({ ...bootstrap, metadata: { ...bootstrap.metadata, session_context } })).seed

describe("a brief", () => {
  it("takes its seed from the facts, and the session's id when they name none", () => {
    assert.strictEqual(seedOf({ seed: "spring" }), "spring")
    assert.strictEqual(seedOf({ seed: 7 }), "7")
    assert.strictEqual(seedOf({ seed: "" }), launch.sessionId)
    assert.strictEqual(seedOf({}), launch.sessionId)
    const metadata = { ...bootstrap.metadata, seed: 3, session_context: { seed: "spring" } }
    assert.strictEqual(Result.getOrThrow(briefOf({ ...bootstrap, metadata })).seed, "3")
  })

  it("describes the start of the session only to the initiator", () => {
    const { opening } = Result.getOrThrow(briefOf(bootstrap))
    assert.strictEqual(opening?.start.ttlMs, 120_000n)
    assert.deepStrictEqual(opening?.start.extensions, { "ops.bridge": new TextEncoder().encode("bridge-7") })
    assert.strictEqual(opening?.kickoff["option"], "fail_over_now")
    assert.isUndefined(Result.getOrThrow(briefOf(bootstrapFor("impact-analyst", launch))).opening)
  })

  it("names the extension that is not base64", () => {
    const { initiator } = bootstrap
    if (initiator === undefined) return assert.fail("no initiator")
    const session_start = { ...initiator.session_start, extensions: { "ops.bridge": "*" } }
    assert.deepStrictEqual(
      briefOf({ ...bootstrap, initiator: { ...initiator, session_start } }),
      Result.fail("extension ops.bridge of the bootstrap file is not base64")
    )
  })
})
