import { assert, describe, it } from "@effect/vitest"
import { busyTicks, parseStat } from "../../src/process/CpuTime.ts"

describe("the files of /proc", () => {
  it("have a process's parent, its own ticks and those of its ended children, whatever its command is called", () => {
    const text = "42 (odd) name (x) S 7 42 42 0 -1 4194560 900 0 0 0 11 22 33 44 20 0 1 0 100 1 1"
    assert.deepStrictEqual(parseStat(text), { parent: 7, own: 33, reaped: 77 })
  })

  it("have the machine's busy ticks without idle time and without guests, who are in the user's time already", () => {
    assert.strictEqual(busyTicks("cpu  100 10 20 5000 300 4 5 6 70 8"), 145)
  })
})
