import { assert, describe, it } from "@effect/vitest"
import { newId } from "../../../src/view/format/NewId.ts"

describe("a new id", () => {
  it("is a UUID of version 4, another one each time", () => {
    const ids = Array.from({ length: 500 }, newId)
    for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.strictEqual(new Set(ids).size, ids.length)
  })
})
