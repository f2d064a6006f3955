import { assert, describe, it } from "@effect/vitest"
import { preferred } from "../../../src/queries/decisions/DecisionsHttp.ts"

const FORMS = ["application/json", "text/markdown", "text/html"] as const

describe("the form of an answer", () => {
  const cases: ReadonlyArray<readonly [string | undefined, string]> = [
    [undefined, "application/json"],
    ["", "application/json"],
    ["*/*", "application/json"],
    ["text/markdown", "text/markdown"],
    ["TEXT/HTML; charset=utf-8", "text/html"],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"],
    ["text/*", "text/markdown"],
    ["text/*, text/markdown;q=0.1", "text/html"],
    ["application/json;q=0.5, text/html;q=0.6", "text/html"],
    ["text/html;q=0", "application/json"],
    ["text/html;q=nonsense, text/markdown;q=0.2", "text/markdown"],
    ["image/png", "application/json"],
    [",;,;q=1,,", "application/json"]
  ]
  for (const [accept, form] of cases) {
    it(`is ${form} for ${JSON.stringify(accept)}`, () => {
      assert.strictEqual(preferred(FORMS, accept), form)
    })
  }
})
