import { assert, describe, it } from "@effect/vitest"
import { makeRequestBudget } from "../../src/http/RequestBudget.ts"

const budget = { limit: 2, windowMs: 1000 }

describe("a request budget", () => {
  it("lets a client spend its limit in a window", () => {
    const { spend } = makeRequestBudget(budget)
    assert.deepStrictEqual(spend("a", 0), { allowed: true, remaining: 1, resetMs: 1000 })
    assert.deepStrictEqual(spend("a", 400), { allowed: true, remaining: 0, resetMs: 600 })
    assert.deepStrictEqual(spend("b", 400), { allowed: true, remaining: 1, resetMs: 1000 })
    assert.deepStrictEqual(spend("a", 1000), { allowed: true, remaining: 1, resetMs: 1000 })
  })

  it("refuses a client until the window has passed since the excess, without adding to it", () => {
    const { spend } = makeRequestBudget(budget)
    spend("a", 0)
    spend("a", 0)
    assert.deepStrictEqual(spend("a", 900), { allowed: false, retryAfterMs: 1000 })
    assert.deepStrictEqual(spend("a", 1100), { allowed: false, retryAfterMs: 800 })
    assert.deepStrictEqual(spend("a", 1899), { allowed: false, retryAfterMs: 1 })
    assert.deepStrictEqual(spend("a", 1900), { allowed: true, remaining: 1, resetMs: 1000 })
  })

  it("keeps a bounded number of accounts, the expired ones going first", () => {
    const { spend, size } = makeRequestBudget(budget, 3)
    spend("old", 0)
    spend("a", 900)
    spend("b", 900)
    spend("c", 1000)
    assert.strictEqual(size(), 3)
    assert.deepStrictEqual(spend("a", 1000), { allowed: true, remaining: 0, resetMs: 900 })
    for (let client = 0; client < 100; client++) spend(String(client), 1000)
    assert.strictEqual(size(), 3)
  })
})
