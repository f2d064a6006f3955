import { assert, describe, it } from "@effect/vitest"
import { withoutSecrets } from "../../src/loops/WithoutSecrets.ts"

describe("withoutSecrets", () => {
  it.each([
    ["the user and password of an address", "GET https://u:p@host/a failed", "GET https://***@host/a failed"],
    ["a named secret", "api_key=abc, token: 'x y'; z", "api_key=***, token: ***; z"],
    ["a member of JSON", `{"clientSecret":"abc","id":1}`, `{"clientSecret":***,"id":1}`],
    ["a header", "Authorization: Bearer abc.def-ghi", "Authorization: ***"],
    ["a bearer token", "sent Bearer abc.def-ghi to it", "sent Bearer *** to it"],
    ["a long key", `key ${"aB3".repeat(20)} refused`, "key *** refused"],
    [
      "nothing else",
      'relation "runs" of 0b0f6b1e-9d4c-4f0e-8c38-0f2b7a7f1d11 does not exist',
      'relation "runs" of 0b0f6b1e-9d4c-4f0e-8c38-0f2b7a7f1d11 does not exist'
    ]
  ])("hides %s", (_, text, shown) => {
    assert.strictEqual(withoutSecrets(text), shown)
  })

  it("keeps the first line, cut", () => {
    assert.strictEqual(withoutSecrets("one\ntwo"), "one")
    assert.strictEqual(withoutSecrets("a b ".repeat(500)).length, 301)
  })
})
