import { assert, describe, it } from "@effect/vitest"
import { isSessionId, isUuid, isUuidSessionId } from "@runplane/domain"

const V4 = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const V7 = "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a01"
const V1 = "5b1f6c0e-6f0a-1c53-9a56-0d9c6f5f7a10"

describe("Ids", () => {
  it.each([
    [V4, true],
    [V7, true],
    [V1, false],
    [V4.toUpperCase(), false],
    ["5b1f6c0e-6f0a-4c53-7a56-0d9c6f5f7a10", false],
    ["A".repeat(22), true],
    ["abc-DEF_0123456789xyz-", true],
    ["A".repeat(21), false],
    [`${"A".repeat(22)}=`, false],
    ["", false],
    ["session 1 with spaces in it", false]
  ])("judges the session id %s: %s", (id, expected) => {
    assert.strictEqual(isSessionId(id), expected)
  })

  it("lets a session id be a run id only when it is a UUID v4 or v7", () => {
    assert.isTrue(isUuidSessionId(V4))
    assert.isTrue(isUuidSessionId(V7))
    assert.isFalse(isUuidSessionId(V1))
    assert.isFalse(isUuidSessionId("A".repeat(22)))
  })

  it("recognises a UUID of any version in any case", () => {
    for (const id of [V1, V4, V7, V4.toUpperCase()]) assert.isTrue(isUuid(id))
    assert.isFalse(isUuid(`${V4}\n`))
    assert.isFalse(isUuid("not-a-uuid"))
  })
})
