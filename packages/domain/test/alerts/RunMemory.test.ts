import { assert, describe, it } from "@effect/vitest"
import { noMemory, remember } from "@runplane/domain"
import { draft, stored } from "../support/events.ts"

const HOUR = 3_600_000
const ARRIVED = Date.parse("2026-01-03T10:00:00.000Z")
const iso = (at: number) => new Date(at).toISOString()

/** The durations that events of a run report, each with the minutes after the first arrival. */
const durations = (...events: ReadonlyArray<readonly [minute: number, ReturnType<typeof draft>]>) => {
  const memory = noMemory()
  return events.map(([minute, event], index) => {
    const facts = remember(memory, stored({ ...event, ts: iso(ARRIVED + minute * 60_000) }, index + 1))
    return facts.durationMs
  })
}

const span = (from: number, to: number) => draft("tool.called", { startedAt: iso(from), endedAt: iso(to) })
const started = (at: number) => draft("run.started", { runtimeKind: "otlp", startedAt: iso(at) })
const end = (from: number, to: number) => draft("run.completed", { startedAt: iso(from), endedAt: iso(to) })

describe("the duration of a run from OpenTelemetry", () => {
  it("is that of its spans, however fast and late they arrive", () => {
    const day = ARRIVED - 48 * HOUR
    const found = durations(
      [0, started(day)],
      [0, span(day, day + HOUR)],
      [1, span(day + HOUR, day + 2 * HOUR)],
      [20, end(day, day + 30 * HOUR)]
    )
    assert.deepStrictEqual(found, [0, HOUR, 2 * HOUR, 30 * HOUR])
  })

  it("is not longer because the run ended by silence", () => {
    const found = durations(
      [0, started(ARRIVED - 1_000)],
      [0, span(ARRIVED - 1_000, ARRIVED)],
      [3, end(ARRIVED - 1_000, ARRIVED)]
    )
    assert.deepStrictEqual(found, [0, 1_000, 1_000])
  })

  it("is that of the spans where their clock is wrong", () => {
    assert.deepStrictEqual(
      durations([0, started(ARRIVED)], [0, span(5_000, 9_000)], [1, span(3_000, 6_000)]),
      [0, 4_000, 6_000]
    )
  })
})

it("counts every other run from its start", () => {
  const runtime = draft("run.started", { runtimeKind: "rust", startedAt: iso(ARRIVED) })
  assert.deepStrictEqual(
    durations([0, runtime], [1, span(0, 1)], [2, draft("run.completed", {})]),
    [0, 60_000, 120_000]
  )
})

describe("the correction of an end", () => {
  const facts = (...events: ReadonlyArray<ReturnType<typeof draft>>) => {
    const memory = noMemory()
    const found = events.map((event, index) => remember(memory, stored({ ...event, ts: iso(ARRIVED) }, index + 1)))
    return found.map(({ durationMs, end, isFailedAfterAll }) => ({
      durationMs,
      isEnd: end !== undefined,
      isFailedAfterAll
    }))
  }
  const corrected = (status: string) =>
    draft("run.corrected", { status, startedAt: iso(ARRIVED - HOUR), endedAt: iso(ARRIVED) })

  it("adds a failure to a run that ended already, and its duration", () => {
    const found = facts(started(ARRIVED), end(ARRIVED, ARRIVED), span(0, 1), corrected("failed"), corrected("failed"))
    assert.deepStrictEqual(
      found.map(({ isEnd }) => isEnd),
      [false, true, false, false, false]
    )
    assert.deepStrictEqual(
      found.map(({ isFailedAfterAll }) => isFailedAfterAll),
      [false, false, false, true, false]
    )
    assert.deepStrictEqual(
      found.map(({ durationMs }) => durationMs),
      [0, 0, undefined, HOUR, HOUR]
    )
  })

  it("takes no failure back", () => {
    const failed = draft("run.failed", { startedAt: iso(ARRIVED), endedAt: iso(ARRIVED) })
    for (const status of ["completed", "failed"]) {
      assert.isFalse(facts(started(ARRIVED), failed, corrected(status)).at(-1)?.isFailedAfterAll)
    }
  })
})

describe("a row of equal messages", () => {
  const message = (number: number, messageType: string, payload: Readonly<Record<string, string>>) =>
    stored(
      draft("message.received", {
        sender: "ana",
        messageId: `m${number}`,
        messageType,
        decodedPayload: payload
      }),
      number
    )
  const streaks = (...messages: ReadonlyArray<readonly [type: string, payload: Readonly<Record<string, string>>]>) => {
    const memory = noMemory()
    return messages.map(([type, payload], at) => remember(memory, message(at + 1, type, payload)).streak)
  }

  it("counts repetitions, without ids and times", () => {
    assert.deepStrictEqual(streaks(["Note", { text: "a", id: "1" }], ["Note", { text: "a", id: "2" }]), [1, 2])
  })

  it("has no votes: who approves three proposals does not repeat a message", () => {
    const yes = (proposalId: string) => ["Vote", { vote: "APPROVE", proposalId }] as const
    assert.deepStrictEqual(streaks(yes("a"), yes("b"), yes("c")), [0, 0, 0])
    assert.deepStrictEqual(streaks(["Note", { text: "a" }], yes("a"), ["Note", { text: "a" }]), [1, 0, 2])
  })
})
