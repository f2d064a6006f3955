import { assert, describe, it } from "@effect/vitest"
import {
  bucketsOf,
  type CalendarWindow,
  isInPeriod,
  isZoneName,
  minuteOf,
  type Period,
  periodOf
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const HOUR_MS = 3_600_000

/**
 * Half hours of difference (Lord Howe), quarters of an hour (Chatham), midnights that do not exist or occur twice
 * (Havana, St John's until 2011), a skipped day (Apia), and the usual.
 */
const ZONES = [
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "America/Havana",
  "America/St_Johns",
  "Pacific/Apia",
  "UTC"
] as const
const CALENDARS: ReadonlyArray<CalendarWindow> = ["day", "week", "month"]

const zones = Arbitrary.schema(Schema.Literals(ZONES))
/** The years 2007 to 2037. */
const times = Arbitrary.schema(
  Schema.Int.check(Schema.isBetween({ minimum: Date.UTC(2007, 0, 1), maximum: Date.UTC(2038, 0, 1) }))
)

/** The local time as an independent formatter writes it: `2026-03-29 03:00`. */
const localText = (zone: string, at: number): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" }).format(at)

const text = ({ end, key, start }: Period) => [key, new Date(start).toISOString(), new Date(end).toISOString()]

const period = (window: Parameters<typeof periodOf>[0], zone: string, at: string) =>
  text(periodOf(window, zone, Date.parse(at)))

describe("calendar periods", () => {
  it.each([
    // The clock goes forward at 02:00, and back at 03:00.
    ["day", "Europe/Berlin", "2026-03-29T12:00Z", "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"],
    ["day", "Europe/Berlin", "2026-10-25T12:00Z", "2026-10-25", "2026-10-24T22:00", "2026-10-25T23:00"],
    ["month", "Europe/Berlin", "2026-03-31T21:59Z", "2026-03", "2026-02-28T23:00", "2026-03-31T22:00"],
    ["month", "Europe/Berlin", "2026-03-31T22:00Z", "2026-04", "2026-03-31T22:00", "2026-04-30T22:00"],
    ["month", "America/New_York", "2024-02-29T23:00Z", "2024-02", "2024-02-01T05:00", "2024-03-01T05:00"],
    // Half an hour of difference between summer and winter.
    ["day", "Australia/Lord_Howe", "2026-04-05T00:00Z", "2026-04-05", "2026-04-04T13:00", "2026-04-05T13:30"],
    ["day", "Australia/Lord_Howe", "2026-10-04T00:00Z", "2026-10-04", "2026-10-03T13:30", "2026-10-04T13:00"],
    ["day", "Pacific/Chatham", "2026-04-05T00:00Z", "2026-04-05", "2026-04-04T10:15", "2026-04-05T11:15"],
    // The gap begins at midnight: the day begins at 01:00. In autumn midnight occurs twice.
    ["day", "America/Havana", "2026-03-08T12:00Z", "2026-03-08", "2026-03-08T05:00", "2026-03-09T04:00"],
    ["day", "America/Havana", "2026-11-01T05:30Z", "2026-11-01", "2026-11-01T04:00", "2026-11-02T05:00"],
    // One minute after midnight the clock went back to 23:01 of the day before.
    ["day", "America/St_Johns", "2010-11-07T02:45Z", "2010-11-07", "2010-11-07T02:30", "2010-11-08T03:30"],
    // The zone skipped 30 December 2011.
    ["day", "Pacific/Apia", "2011-12-30T09:59Z", "2011-12-29", "2011-12-29T10:00", "2011-12-30T10:00"],
    ["day", "Pacific/Apia", "2011-12-30T10:00Z", "2011-12-31", "2011-12-30T10:00", "2011-12-31T10:00"],
    // ISO weeks: 1 January 2027 is in the last week of 2026; 31 December 2024 in the first of 2025.
    ["week", "UTC", "2027-01-01T00:00Z", "2026-W53", "2026-12-28T00:00", "2027-01-04T00:00"],
    ["week", "UTC", "2024-12-31T00:00Z", "2025-W01", "2024-12-30T00:00", "2025-01-06T00:00"],
    ["week", "Europe/Berlin", "2026-03-29T22:00Z", "2026-W14", "2026-03-29T22:00", "2026-04-05T22:00"]
  ] as const)("%s in %s at %s is %s", (window, zone, at, key, start, end) => {
    assert.deepStrictEqual(period(window, zone, at), [key, `${start}:00.000Z`, `${end}:00.000Z`])
  })

  it.prop("contain their time, and follow each other without a gap", [zones, times], ([zone, at]) => {
    for (const window of CALENDARS) {
      const current = periodOf(window, zone, at)
      assert.isTrue(isInPeriod(current, at))
      assert.deepStrictEqual(periodOf(window, zone, current.start), current)
      assert.deepStrictEqual(periodOf(window, zone, current.end - 1), current)
      const next = periodOf(window, zone, current.end)
      assert.strictEqual(next.start, current.end)
      assert.isTrue(next.key > current.key)
      assert.isFalse(isInPeriod(current, current.end))
    }
  })

  it.prop("begin and end at the first occurrence of a local midnight", [zones, times], ([zone, at]) => {
    for (const window of CALENDARS) {
      const { end, key, start } = periodOf(window, zone, at)
      const first = localText(zone, start)
      const before = localText(zone, start - 1)
      assert.notStrictEqual(first.slice(0, 10), before.slice(0, 10))
      if (window !== "week") assert.strictEqual(first.slice(0, key.length), key)
      // A day has 24 hours and at most one more or less, a month 28 to 31 days.
      const days = (end - start) / (24 * HOUR_MS)
      const [low, high] = window === "day" ? [1, 1] : window === "week" ? [6, 7] : [28, 31]
      assert.isAtLeast(days, low - (window === "month" && zone === "Pacific/Apia" ? 1 : 0.05))
      assert.isAtMost(days, high + 0.05)
    }
  })

  it.prop("contain each day in one week and one month", [zones, times], ([zone, at]) => {
    const day = periodOf("day", zone, at)
    for (const window of ["week", "month"] as const) {
      const whole = periodOf(window, zone, at)
      assert.isTrue(whole.start <= day.start && day.end <= whole.end)
    }
  })
})

describe("rolling windows", () => {
  const minutes = { "1h": 60, "24h": 1_440 } as const

  it.prop("are the current minute and the ones before it", [zones, times], ([zone, at]) => {
    for (const window of ["1h", "24h"] as const) {
      const { first, last } = bucketsOf(window, at)
      assert.strictEqual(last, minuteOf(at))
      assert.strictEqual(last - first + 1, minutes[window])
      const rolling = periodOf(window, zone, at)
      assert.isTrue(isInPeriod(rolling, at))
      assert.strictEqual(rolling.end - rolling.start, minutes[window] * 60_000)
      assert.deepStrictEqual(periodOf(window, "UTC", rolling.end - 1), rolling)
      assert.notStrictEqual(periodOf(window, "UTC", rolling.end).key, rolling.key)
    }
  })

  it("have the name of their last minute", () => {
    assert.deepStrictEqual(period("1h", "UTC", "2026-11-26T14:03:59.999Z"), [
      "2026-11-26T14:03Z",
      "2026-11-26T13:04:00.000Z",
      "2026-11-26T14:04:00.000Z"
    ])
  })
})

describe("the window of a run", () => {
  it.prop("is one period at all times", [times], ([at]) => {
    const whole = periodOf("run", "UTC", at)
    assert.strictEqual(whole.key, "run")
    assert.isTrue(isInPeriod(whole, at))
  })
})

describe("zones", () => {
  it.each(["Europe/Berlin", "UTC", "Pacific/Chatham"])("%s is a zone", (name) => assert.isTrue(isZoneName(name)))
  it.each(["", "Europe/Nowhere", "+02:00", "berlin time", "x".repeat(10_000)])("%s is not a zone", (name) =>
    assert.isFalse(isZoneName(name))
  )
})
