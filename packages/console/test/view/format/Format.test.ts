import { afterEach, assert, describe, it } from "@effect/vitest"
import {
  clockMinute,
  compact,
  counted,
  cut,
  dateTime,
  duration,
  exactTime,
  middleCut,
  modeLabel,
  percent,
  relativeTime
} from "../../../src/view/format/Format.ts"
import { readTimeSetting, setTimeSetting, timeSettingText } from "../../../src/view/format/TimeSetting.ts"

const NOW = Date.parse("2026-07-01T12:00:00.000Z")

describe("texts of the console", () => {
  it.each([
    [0, "just now"],
    [1_999, "just now"],
    [12_000, "12 s ago"],
    [5 * 60_000, "5 min ago"],
    [3 * 3_600_000, "3 h ago"],
    [2 * 86_400_000, "2 d ago"],
    [40 * 86_400_000, "2026-05-22"],
    [-5 * 60_000, "in 5 min"],
    [Number.NaN, "at an unknown time"]
  ])("%d ms before now is %s", (before, expected) => {
    assert.strictEqual(relativeTime(NOW - before, NOW), expected)
  })

  it.each([
    [-5, "0 ms"],
    [840, "840 ms"],
    [4_499, "4.4 s"],
    [59_999, "59.9 s"],
    [125_000, "2 min 05 s"],
    [11_220_000, "3 h 07 min"],
    [187_200_000, "2 d 4 h"],
    [Number.POSITIVE_INFINITY, "unknown"]
  ])("%d ms last %s", (ms, expected) => {
    assert.strictEqual(duration(ms), expected)
  })

  it("cuts an id in its middle and a text at its end, without breaking a character", () => {
    assert.strictEqual(middleCut("82fd0968-6181-4782-a13c-c7033c2834f3"), "82fd09…2834f3")
    assert.strictEqual(middleCut("short"), "short")
    assert.strictEqual(middleCut("🎈".repeat(40), 2), "🎈🎈…🎈🎈")
    assert.strictEqual(cut("🎈🎈🎈", 2), "🎈🎈…")
    assert.strictEqual(cut("two", 3), "two")
    const family = "\u{1F468}\u200d\u{1F469}\u200d\u{1F467}"
    assert.strictEqual(cut(`${family}${family}e\u0301x`, 3), `${family}${family}e\u0301…`)
    assert.strictEqual(middleCut(family.repeat(9), 1), `${family}…${family}`)
    assert.strictEqual(cut("می\u200cرود", 5), "می\u200cرود")
  })

  it("says numbers as people do", () => {
    assert.strictEqual(counted(1, "run"), "1 run")
    assert.strictEqual(counted(20_000, "run"), "20,000 runs")
    assert.strictEqual(compact(3_138), "3.1K")
    assert.strictEqual(percent(0.885), "89 %")
    assert.strictEqual(modeLabel("macp.mode.decision.v1"), "decision")
    assert.strictEqual(modeLabel("of another kind"), "of another kind")
  })
})

describe("the time setting", () => {
  afterEach(() => setTimeSetting({ zone: "", isAbsolute: false }))

  it("changes the zone of all formats, forth and back", () => {
    setTimeSetting({ zone: "UTC", isAbsolute: false })
    assert.deepStrictEqual([clockMinute(NOW), dateTime(NOW)], ["12:00", "1 Jul, 12:00"])
    setTimeSetting({ zone: "Asia/Tokyo", isAbsolute: false })
    assert.deepStrictEqual([clockMinute(NOW), dateTime(NOW)], ["21:00", "1 Jul, 21:00"])
    assert.include(exactTime(NOW), "GMT+09:00")
    setTimeSetting({ zone: "UTC", isAbsolute: true })
    assert.strictEqual(clockMinute(NOW), "12:00")
  })

  it("is read as it was written, and any other text is the default", () => {
    const setting = { zone: "Asia/Tokyo", isAbsolute: true }
    assert.deepStrictEqual(readTimeSetting(timeSettingText(setting)), setting)
    for (const text of [null, "", "ages", "x Nowhere/Land", "ages  UTC"]) {
      assert.deepStrictEqual(readTimeSetting(text), { zone: "", isAbsolute: false })
    }
  })
})
