import { assert, describe, it } from "@effect/vitest"
import { grpcStatusName } from "@runplane/domain"
import { RuntimeError, saysHistoryGone } from "@runplane/runtime"

describe("RuntimeError", () => {
  it("names every gRPC status and takes other numbers for UNKNOWN", () => {
    for (let code = 1; code <= 16; code++) {
      const reason = grpcStatusName(code)
      assert.strictEqual(new RuntimeError({ reason, method: "Send", message: "" }).grpcCode, code)
    }
    assert.strictEqual(grpcStatusName(99), "UNKNOWN")
  })

  it("is worth a retry for transport trouble and not for answers about the request", () => {
    const retryable = (code: number) =>
      new RuntimeError({ reason: grpcStatusName(code), method: "StreamSession", message: "" }).retryable
    const codes = Array.from({ length: 16 }, (_, index) => index + 1).filter(retryable)
    assert.deepStrictEqual(codes.map(grpcStatusName), [
      "CANCELLED",
      "UNKNOWN",
      "DEADLINE_EXCEEDED",
      "RESOURCE_EXHAUSTED",
      "ABORTED",
      "INTERNAL",
      "UNAVAILABLE"
    ])
  })

  it("recognises compacted history in the texts of old and new runtimes", () => {
    assert.isTrue(saysHistoryGone("FAILED: session history before ordinal 6 was compacted; use GetSession"))
    assert.isTrue(saysHistoryGone("HISTORY_UNAVAILABLE: resume below base"))
    assert.isFalse(saysHistoryGone("SessionNotOpen"))
  })
})
