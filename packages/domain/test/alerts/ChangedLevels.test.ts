import { describe, expect, it } from "@effect/vitest"
import { changedLevel, needsRecheck } from "../../src/index.ts"

const levels = (...at: ReadonlyArray<number>) =>
  at.map((each) => ({ at: each, severity: "info" as const, actions: [] }))

describe("the firing of a rule whose levels change", () => {
  it.each([
    [80, levels(80, 100), { _tag: "Kept", level: 0 }],
    [80, levels(50, 80), { _tag: "Kept", level: 1 }],
    [80, levels(400, 500), { _tag: "Gone" }],
    [0.1, levels(0.1, 0.2), { _tag: "Kept", level: 0 }]
  ] as const)("of %d with %j", (at, after, expected) => {
    expect(changedLevel(at, after)).toEqual(expected)
  })

  it("compares values again after a change that decides what they reach", () => {
    const before = { levels: levels(80, 100), resolveBelow: 70 }
    expect(needsRecheck(before, { ...before })).toBe(false)
    expect(needsRecheck(before, { ...before, levels: levels(80, 120) })).toBe(true)
    expect(needsRecheck(before, { ...before, levels: levels(80) })).toBe(true)
    expect(needsRecheck(before, { ...before, minRuns: 2 })).toBe(true)
    expect(needsRecheck(before, { levels: levels(80, 100) })).toBe(true)
    const severe = levels(80, 100).map((level) => ({ ...level, severity: "critical" as const }))
    expect(needsRecheck(before, { ...before, levels: severe })).toBe(false)
  })
})
