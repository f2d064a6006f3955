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

describe("a budget that others spend from as well", () => {
  it("sends each request once, and again when the exchange failed", () => {
    const { putBack, spend, takeSpent } = makeRequestBudget(budget)
    spend("a", 0)
    spend("a", 100)
    const taken = takeSpent(400)
    assert.deepStrictEqual(taken, [{ client: "a", spent: 2, windowMs: 600, blockedMs: 0 }])
    assert.deepStrictEqual(takeSpent(400), [])
    putBack(taken)
    spend("b", 500)
    assert.deepStrictEqual(
      takeSpent(500).map(({ client, spent }) => [client, spent]),
      [
        ["a", 2],
        ["b", 1]
      ]
    )
    spend("a", 900)
    assert.deepStrictEqual(takeSpent(900), [{ client: "a", spent: 1, windowMs: 100, blockedMs: 1000 }])
  })

  it("adopts the count of all processes, and adds the requests since then", () => {
    const { settle, spend, takeSpent } = makeRequestBudget({ limit: 10, windowMs: 1000 })
    spend("a", 0)
    takeSpent(0)
    spend("a", 100)
    settle({ client: "a", spent: 7, windowMs: 300, blockedMs: 0 }, 200)
    assert.deepStrictEqual(spend("a", 200), { allowed: true, remaining: 1, resetMs: 300 })
    settle({ client: "a", spent: 11, windowMs: 200, blockedMs: 900 }, 300)
    assert.deepStrictEqual(spend("a", 300), { allowed: false, retryAfterMs: 900 })
    settle({ client: "other", spent: 11, windowMs: 200, blockedMs: 900 }, 300)
    assert.isTrue(spend("other", 300).allowed)
  })
})
