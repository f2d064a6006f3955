import { assert, describe, it } from "@effect/vitest"
import { deepMerge, type Json } from "../../src/common/Json.ts"

describe("deep merge", () => {
  it.each<[name: string, base: Json, override: Json | undefined, expected: Json]>([
    ["objects merge key by key, at any depth", { a: { x: 1, y: 2 } }, { a: { y: 3 } }, { a: { x: 1, y: 3 } }],
    ["arrays replace arrays", { a: [1, 2] }, { a: [] }, { a: [] }],
    ["null replaces", { a: { x: 1 } }, { a: null }, { a: null }],
    [
      "a scalar replaces an object, and the other way round",
      { a: { x: 1 }, b: 1 },
      { a: 2, b: { y: 1 } },
      { a: 2, b: { y: 1 } }
    ],
    ["an absent override changes nothing", { a: 1 }, undefined, { a: 1 }]
  ])("%s", (_, base, override, expected) => {
    assert.deepStrictEqual(deepMerge(base, override), expected)
  })

  it("treats __proto__ as a key like any other", () => {
    const override: Json = JSON.parse('{"__proto__":{"polluted":true}}')
    const merged = deepMerge({ a: 1 }, override)
    assert.strictEqual(JSON.stringify(merged), '{"a":1,"__proto__":{"polluted":true}}')
    assert.isUndefined(Reflect.get({}, "polluted"))
  })
})
