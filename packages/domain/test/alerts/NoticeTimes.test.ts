import { describe, expect, it } from "@effect/vitest"
import { ALERTMANAGER_RESEND_MS, type NoticeKind, type NoticeState, nextNotice } from "../../src/index.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface Day {
  readonly name: string
  /** Hours from and to, of silences that cover the run. */
  readonly silences: ReadonlyArray<readonly [from: number, to: number]>
  /** Silences that an operator ends early: number of the silence, and the hour. */
  readonly lifted?: ReadonlyArray<readonly [silence: number, at: number]>
  readonly repeatEvery?: number
  readonly acknowledgedAt?: number
  readonly endsAt?: number
  readonly isAlertmanager?: boolean
  /** Kind and hour, the end included. */
  readonly expected: ReadonlyArray<string>
}

/** A firing at hour 1, and the clock by the minute until hour 12. */
const dayOf = ({ acknowledgedAt, endsAt = 12, isAlertmanager, lifted = [], repeatEvery, silences }: Day) => {
  const notified: Array<string> = []
  const hourOf = (now: number) => Math.round((now / HOUR) * 100) / 100
  let state: NoticeState | undefined
  for (let now = HOUR; now < 12 * HOUR; now += MINUTE) {
    const until = silences.flatMap(([from, to], number) => {
      const end = Math.min(to, ...lifted.flatMap(([of, at]) => (of === number ? [at] : [])))
      return from * HOUR <= now && now < end * HOUR ? [end * HOUR] : []
    })
    const isChanged = [...silences.map(([from]) => from), ...lifted.map(([, at]) => at)].some((at) => at * HOUR === now)
    if (now >= endsAt * HOUR) {
      if (state?.isNotified === true) notified.push(`resolved ${hourOf(now)}`)
      break
    }
    const resendAt: number | undefined = isAlertmanager === true ? now : undefined
    const before: NoticeState = state ?? {
      ...{ isNotified: false, isSilenced: false, isAcknowledged: false, checkAt: now, repeatAt: undefined },
      ...{ repeatEveryMs: repeatEvery === undefined ? undefined : repeatEvery * HOUR, resendAt }
    }
    const given: NoticeState = {
      ...before,
      isAcknowledged: acknowledgedAt !== undefined && now >= acknowledgedAt * HOUR,
      checkAt: isChanged ? now : before.checkAt
    }
    const isDue = (at: number | undefined) => at !== undefined && at <= now
    const isLooked =
      isDue(given.checkAt) ||
      (!given.isSilenced && ((isDue(given.repeatAt) && !given.isAcknowledged) || isDue(given.resendAt)))
    if (!isLooked) {
      state = given
      continue
    }
    const next = nextNotice(given, until.length === 0 ? undefined : Math.max(...until), now)
    state = next.state
    const kind: NoticeKind | undefined = next.notice
    if (kind !== undefined) notified.push(`${kind} ${hourOf(now)}`)
  }
  return notified
}

describe("the notifications of a firing", () => {
  const days: ReadonlyArray<Day> = [
    { name: "without a silence", silences: [], expected: ["fired 1"] },
    { name: "that repeats", silences: [], repeatEvery: 4, expected: ["fired 1", "repeated 5", "repeated 9"] },
    { name: "that begins in a silence", silences: [[0, 3]], expected: ["fired 3"] },
    {
      name: "that begins in a silence and repeats from its end on",
      silences: [[0, 3]],
      repeatEvery: 4,
      expected: ["fired 3", "repeated 7", "repeated 11"]
    },
    {
      name: "that rings already when it is silenced",
      silences: [[2, 8]],
      repeatEvery: 2,
      expected: ["fired 1", "repeated 8", "repeated 10"]
    },
    {
      name: "in silences that overlap",
      silences: [
        [0, 3],
        [2, 5],
        [2, 4]
      ],
      expected: ["fired 5"]
    },
    {
      name: "in silences with a gap",
      silences: [
        [0, 2],
        [3, 6]
      ],
      repeatEvery: 2,
      expected: ["fired 2", "repeated 6", "repeated 8", "repeated 10"]
    },
    { name: "whose silence is lifted early", silences: [[0, 9]], lifted: [[0, 4]], expected: ["fired 4"] },
    {
      name: "of which one of two silences is lifted",
      silences: [
        [0, 9],
        [0, 6]
      ],
      lifted: [[0, 4]],
      expected: ["fired 6"]
    },
    { name: "that ends in its silence", silences: [[0, 9]], endsAt: 5, expected: [] },
    { name: "that rang, and ends in a silence", silences: [[2, 9]], endsAt: 5, expected: ["fired 1", "resolved 5"] },
    { name: "that ends after its silence", silences: [[0, 3]], endsAt: 5, expected: ["fired 3", "resolved 5"] },
    {
      name: "that is acknowledged in its silence",
      silences: [[0, 3]],
      acknowledgedAt: 2,
      repeatEvery: 1,
      endsAt: 5,
      isAlertmanager: true,
      expected: []
    },
    {
      name: "that is acknowledged and then silenced",
      silences: [[3, 5]],
      acknowledgedAt: 2,
      repeatEvery: 4,
      endsAt: 11,
      expected: ["fired 1", "resolved 11"]
    }
  ]
  it.each(days)("$name", (day) => {
    expect(dayOf(day)).toEqual(day.expected)
  })

  it("are sent to Alertmanager again, but in a silence", () => {
    const sent = dayOf({ name: "", silences: [[2, 3]], isAlertmanager: true, endsAt: 3.5, expected: [] })
    const resends = (from: number, to: number) =>
      sent.filter((one) => {
        const [kind, hour] = one.split(" ")
        return kind === "resent" && Number(hour) >= from && Number(hour) < to
      }).length
    const perHour = HOUR / ALERTMANAGER_RESEND_MS
    expect(resends(1, 2)).toBe(perHour - 1)
    expect(resends(2, 3)).toBe(0)
    expect(resends(3, 4)).toBe(perHour / 2)
    expect(sent.at(-1)).toBe("resolved 3.5")
  })
})
