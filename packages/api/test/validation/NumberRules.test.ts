import { assert, describe, it } from "@effect/vitest"
import { integerAtLeast, numberAtLeast, queryNumberAtLeast, queryUuid } from "../../src/validation/NumberRules.ts"
import type { Rule } from "../../src/validation/Rule.ts"

const check = <A>(rule: Rule<A>, value: unknown) => {
  const messages: Array<string> = []
  const checked = rule.check(value, { key: "n", prefix: "" }, (message) => messages.push(message))
  return checked === undefined ? messages : checked.value
}

const SMALL = "n must not be less than 1"
const INTEGER = "n must be an integer number"
const NUMBER = "n must be a number conforming to the specified constraints"

describe("rules of numbers", () => {
  for (const [name, rule, value, expected] of [
    ["an integer", integerAtLeast(1), 1, 1],
    ["an integer", integerAtLeast(1), 0, [SMALL]],
    ["an integer", integerAtLeast(1), 1.5, [INTEGER]],
    ["an integer", integerAtLeast(1), "1", [SMALL, INTEGER]],
    ["an integer", integerAtLeast(1), undefined, [SMALL, INTEGER]],
    ["a number", numberAtLeast(1), 1.5, 1.5],
    ["a number", numberAtLeast(1), 0.5, [SMALL]],
    ["a number", numberAtLeast(1), Number.POSITIVE_INFINITY, [NUMBER]],
    ["a number", numberAtLeast(1), "2", [SMALL, NUMBER]],
    ["a number of a query", queryNumberAtLeast(1), "1.5", 1.5],
    ["a number of a query", queryNumberAtLeast(1), "0", [SMALL]],
    ["a number of a query", queryNumberAtLeast(1), "x", [SMALL, NUMBER]],
    ["a number of a query", queryNumberAtLeast(1), " ", [SMALL, NUMBER]],
    ["a number of a query", queryNumberAtLeast(1), ["1", "2"], [SMALL, NUMBER]],
    ["a UUID of a query", queryUuid(), "5B1F6C0E-6F0A-4C53-9A56-0D9C6F5F7A10", "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"],
    ["a UUID of a query", queryUuid(), "5b1f6c0e", ["n must be a UUID"]]
  ] as const) {
    it(`check ${name}: ${String(value)}`, () => {
      assert.deepStrictEqual<unknown>(check<unknown>(rule, value), expected)
    })
  }
})
