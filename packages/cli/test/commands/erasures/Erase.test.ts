import { assert, describe, it } from "@effect/vitest"
import { nextStep } from "../../../src/commands/erasures/Erase.ts"

describe("what follows the dry run of an erasure", () => {
  const deliveries = { of: "delivery" as const, count: 2 }
  for (const [name, found, words] of [
    ["a text of members", { members: 3, remaining: 0, rows: [] }, "with --plan"],
    ["a text of rows beside the log alone", { members: 0, remaining: 1, rows: [deliveries] }, "with --plan"],
    ["a text that cannot be erased", { members: 0, remaining: 2, rows: [] }, "only in the positions that remain"],
    ["a text that the run does not have", { members: 0, remaining: 0, rows: [] }, "there is nothing to erase"]
  ] as const) {
    it(name, () => assert.include(nextStep(found), words))
  }
})
