import { assert, describe, it } from "@effect/vitest"
import {
  type CanonicalEvent,
  divergenceCostInSlices,
  type EventDraft,
  flipsOf,
  medoidCandidates,
  medoidInSlices,
  outlineReader,
  partingInSlices,
  type RunOutline,
  runSliced,
  trialReader
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { commits, eventsOf, opened, proposes, says, votes } from "../support/deliberations.ts"
import { derived, draft } from "../support/events.ts"

type History = ReadonlyArray<EventDraft>

const outlineOf = (events: ReadonlyArray<CanonicalEvent>): RunOutline => {
  const reader = outlineReader()
  for (const event of events) reader.take(event)
  return reader.read()
}
const partingOf = (from: RunOutline, run: RunOutline) => runSliced(partingInSlices(from, run))
const divergenceCost = (left: RunOutline, right: RunOutline) => runSliced(divergenceCostInSlices(left, right))
const outline = (...histories: ReadonlyArray<History>) => outlineOf(eventsOf(...histories))

const evaluates = (by: string, recommendation: string, confidence = 0.9, reason = "because") =>
  says(by, "Evaluation", { recommendation, confidence, reason })
const beginning: History = [...opened(), proposes("a"), evaluates("b", "APPROVE"), evaluates("c", "APPROVE")]
const approved: History = [...beginning, votes("b", "APPROVE"), votes("c", "APPROVE"), commits(true)]
const rejected: History = [...beginning, votes("b", "REJECT"), votes("c", "APPROVE"), commits(false)]
const silent: History = [...beginning, votes("c", "APPROVE"), commits(false)]

describe("the parting of a run", () => {
  it("says who did what, and after which step", () => {
    assert.deepStrictEqual(partingOf(outline(approved), outline(rejected)), {
      participantId: "b",
      type: "Vote",
      what: "voted REJECT",
      after: "the second evaluation"
    })
    assert.strictEqual(partingOf(outline(approved), outline(silent))?.what, "did not send Vote")
    const doubtful = [...beginning.slice(0, -1), evaluates("c", "APPROVE", 0.2), ...approved.slice(beginning.length)]
    assert.strictEqual(
      partingOf(outline(approved), outline(doubtful))?.what,
      "evaluated APPROVE with another confidence"
    )
  })

  it.prop(
    "is null exactly for runs with the same steps, and has the cost 0 then",
    [arbitraryDrafts, arbitraryDrafts],
    ([left, right]) => {
      const [one, other] = [outline(left), outline(right)]
      assert.isNull(partingOf(one, one))
      assert.strictEqual(divergenceCost(one, one), 0)
      assert.strictEqual(divergenceCost(one, other), divergenceCost(other, one))
      assert.strictEqual(partingOf(one, other) === null, divergenceCost(one, other) === 0)
    }
  )
})

describe("the causes of flips", () => {
  const runs = (name: string, count: number, history: History) =>
    Array.from({ length: count }, (_, nth) => ({ runId: `${name}-${nth}`, outline: outline(history) }))

  it("are counted by participant, type and action, the largest first", () => {
    const other = [...beginning.slice(0, -2), evaluates("b", "APPROVE", 0.9, "other words"), ...rejected.slice(-4)]
    const flips = flipsOf(runs("yes", 5, approved), [
      ...runs("quiet", 1, silent),
      ...runs("no", 2, rejected),
      ...runs("worded", 1, other)
    ])
    assert.deepStrictEqual(
      flips.map(({ count, text }) => [count, text]),
      [
        [3, "b voted REJECT after the second evaluation"],
        [1, "b did not send Vote after the second evaluation"]
      ]
    )
    assert.deepStrictEqual([flips[0]?.exampleLeft, flips[0]?.exampleRight], ["yes-0", "no-0"])
  })

  it("are none without a minority, and none without a majority", () => {
    assert.deepStrictEqual(flipsOf(runs("yes", 3, approved), []), [])
    assert.deepStrictEqual(flipsOf([], runs("no", 3, rejected)), [])
  })

  it("are measured from the run that differs least from the others", () => {
    const odd = [...beginning, votes("a", "ABSTAIN"), ...approved.slice(beginning.length)]
    assert.strictEqual(runSliced(medoidInSlices([...runs("odd", 1, odd), ...runs("yes", 2, approved)]))?.runId, "yes-0")
  })

  it.prop(
    "take at most 11 candidates, evenly spaced",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 500 }))],
    ([size]) => {
      const candidates = medoidCandidates(Array.from({ length: size }, (_, at) => at))
      assert.strictEqual(candidates.length, Math.min(size, 11))
      const gaps = candidates.slice(1).map((at, nth) => at - (candidates[nth] ?? 0))
      if (gaps.length > 0) assert.isAtMost(Math.max(...gaps) - Math.min(...gaps), 1)
    }
  )
})

describe("a run as a trial", () => {
  const read = (history: History, status: "completed" | "failed" | "cancelled" | "running" = "completed") => {
    const reader = trialReader()
    for (const event of eventsOf(history)) reader.take(event)
    return reader.read({ runId: "r", status, durationMs: 5 })
  }

  it("has the outcome of its last commitment", () =>
    assert.deepStrictEqual(read([...rejected, commits(true)]).outcome, { action: "decision.selected", positive: true }))

  it("counts votes that changed", () => {
    assert.strictEqual(read([...beginning, votes("b", "APPROVE"), votes("b", "APPROVE")]).mindChanges, 0)
    assert.strictEqual(read([...beginning, votes("b", "APPROVE"), votes("b", "REJECT")]).mindChanges, 1)
  })

  it("sums its cost, and lists its models", () => {
    const call = (model: string, usd: number) =>
      derived("llm.call.completed", "Signal", "b", { model, estimatedCostUsd: usd })
    const { costUsd, models } = read([...approved, call("m2", 0.1), call("m1", 0.2)])
    assert.deepStrictEqual([costUsd, models], [0.3, ["m1", "m2"]])
  })

  it("without a decision has the outcome none, or is excluded by the way it ended", () => {
    const expired = draft("run.failed", { errorCode: "SESSION_EXPIRED" })
    const ends = [
      [read(beginning), "none", undefined],
      [read(beginning, "failed"), "failed", "failed"],
      [read([...beginning, expired], "failed"), "expired", "expired"],
      [read(beginning, "cancelled"), "cancelled", "cancelled"],
      [read(beginning, "running"), "unfinished", "unfinished"],
      [read(approved, "cancelled"), "decision.selected", undefined]
    ] as const
    for (const [trial, action, excluded] of ends) {
      assert.deepStrictEqual([trial.outcome.action, trial.excluded], [action, excluded])
    }
  })
})
