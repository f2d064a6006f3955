import { assert, describe, it } from "@effect/vitest"
import { delegationFault, delegationState, statedTime } from "@runplane/domain"
import * as Result from "effect/Result"
import { DAY, HOUR, OPENED } from "./escalationModel.ts"

const NEW = { by: "ana", to: "ben", fromUnixMs: OPENED, untilUnixMs: OPENED + DAY }

describe("a new delegation", () => {
  it.each([
    ["to another person", {}, undefined],
    ["of 90 days", { untilUnixMs: OPENED + 90 * DAY }, undefined],
    ["of 90 days from a day on", { fromUnixMs: OPENED + DAY, untilUnixMs: OPENED + 91 * DAY }, undefined],
    ["from a minute ago", { fromUnixMs: OPENED - 60_000 }, undefined],
    ["to itself", { to: "ana" }, "to"],
    ["to itself in other letters", { to: "ANA " }, "to"],
    ["to itself in other signs", { to: "ａｎａ" }, "to"],
    ["of more than 90 days", { untilUnixMs: OPENED + 90 * DAY + 1 }, "until"],
    ["that ends as it begins", { fromUnixMs: OPENED + HOUR, untilUnixMs: OPENED + HOUR }, "until"],
    ["that ends before it begins", { fromUnixMs: OPENED + DAY, untilUnixMs: OPENED + HOUR }, "until"],
    ["that is over", { fromUnixMs: OPENED - 60_000, untilUnixMs: OPENED }, "until"],
    ["from an hour ago", { fromUnixMs: OPENED - HOUR }, "from"],
    ["from a year on", { fromUnixMs: OPENED + 365 * DAY, untilUnixMs: OPENED + 366 * DAY }, "from"]
  ] as const)("%s has its field in the refusal", (_, members, field) => {
    assert.strictEqual(delegationFault({ ...NEW, ...members }, OPENED)?.field, field)
  })

  it.each([
    ["planned", -1, undefined],
    ["active", 0, undefined],
    ["active", DAY - 1, undefined],
    ["ended", DAY, undefined],
    ["active", HOUR - 1, HOUR],
    ["revoked", HOUR, HOUR],
    ["revoked", 2 * DAY, HOUR]
  ] as const)("is %s %d ms after its beginning", (state, after, revoked) => {
    const revokedAtUnixMs = revoked && OPENED + revoked
    assert.strictEqual(delegationState({ ...NEW, revokedAtUnixMs }, OPENED + after), state)
  })
})

describe("a time as a person writes it", () => {
  const read = (text: string) =>
    Result.match(statedTime(text), { onSuccess: (ms) => new Date(ms).toISOString(), onFailure: (reason) => reason })

  it.each([
    ["2026-12-24T18:00:00+01:00", "2026-12-24T17:00:00.000Z"],
    ["2026-12-24T18:00-03:30", "2026-12-24T21:30:00.000Z"],
    ["2026-12-24T18:00:00.5Z", "2026-12-24T18:00:00.500Z"],
    ["2026-12-24T18:00[Europe/Berlin]", "2026-12-24T17:00:00.000Z"],
    ["2026-07-24T18:00[Europe/Berlin]", "2026-07-24T16:00:00.000Z"],
    ["2026-10-25T01:59:59[Europe/Berlin]", "2026-10-24T23:59:59.000Z"],
    ["2026-10-25T03:00[Europe/Berlin]", "2026-10-25T02:00:00.000Z"],
    ["2026-03-29T03:00[Europe/Berlin]", "2026-03-29T01:00:00.000Z"],
    ["2026-04-05T02:15[Australia/Lord_Howe]", "2026-04-04T15:45:00.000Z"]
  ])("%s is an instant", (text, instant) => {
    assert.strictEqual(read(text), instant)
  })

  it.each([
    ["2026-10-25T02:30[Europe/Berlin]", "write 2026-10-25T02:30:00.000+02:00 or 2026-10-25T02:30:00.000+01:00"],
    ["2026-11-01T01:30[America/New_York]", "write 2026-11-01T01:30:00.000-04:00 or 2026-11-01T01:30:00.000-05:00"],
    ["2026-03-29T02:30[Europe/Berlin]", "has no 2026-03-29T02:30, as its clocks go forward"],
    ["2026-10-04T02:15[Australia/Lord_Howe]", "write 2026-10-04T02:45:00.000+11:00"],
    ["2026-02-30T10:00Z", "no calendar has this time"],
    ["2026-12-24T24:00Z", "no calendar has this time"],
    ["2026-12-24T18:00+14:01", "no zone has the offset"],
    ["2026-12-24T18:00+01:60", "no zone has the offset"],
    ["2026-12-24T18:00[Mars/Olympus]", "no time zone has the name Mars/Olympus"],
    ["2026-12-24T18:00", "write a time with an offset"],
    ["2026-12-24", "write a time with an offset"],
    ["2026-12-24T18:00+01:00[Europe/Berlin]", "write a time with an offset"],
    ["tomorrow", "write a time with an offset"]
  ])("%s is refused with what to write", (text, reason) => {
    assert.include(read(text), reason)
  })

  it("an hour that is written with its offset is that hour", () => {
    const [first, second] = ["+02:00", "+01:00"].map((offset) => read(`2026-10-25T02:30:00.000${offset}`))
    assert.deepStrictEqual([first, second], ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"])
  })
})
