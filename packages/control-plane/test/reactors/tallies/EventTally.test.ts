import { assert, it } from "@effect/vitest"
import {
  type CanonicalEventType,
  draftEvent,
  type JsonObject,
  RunId,
  recordEvent,
  type Subject
} from "@runplane/domain"
import { emptyTally, MAX_PARTICIPANT_ID, tally } from "../../../src/reactors/tallies/EventTally.ts"

const runId = RunId.make("00000000-0000-4000-8000-000000000001")
const otherRun = RunId.make("00000000-0000-4000-8000-000000000002")

interface Said {
  readonly runId?: RunId
  readonly seq?: number
  readonly type?: CanonicalEventType
  readonly subject?: Subject
  readonly data?: JsonObject
}

const event = ({ data = {}, seq = 1, subject, type = "message.received", ...over }: Said) =>
  recordEvent(
    draftEvent(
      type,
      {
        ts: "2026-07-01T10:00:00.000Z",
        ...(subject !== undefined && { subject }),
        source: { kind: "runtime", name: "rust-runtime" }
      },
      data
    ),
    { id: "e", runId: over.runId ?? runId, seq, index: 1 }
  )

const tallyOf = (...events: ReadonlyArray<Said>) => {
  const into = emptyTally()
  for (const one of events) tally(into, event(one))
  return into
}

it("marks signals, and decisions with their outcome", () => {
  const decision = (decodedPayload: JsonObject) => ({ type: "decision.finalized", data: { decodedPayload } }) as const
  const { marks } = tallyOf(
    { seq: 3, type: "signal.emitted" },
    { seq: 4, ...decision({ outcome_positive: true }) },
    { seq: 5, ...decision({ outcome_positive: false }) },
    { seq: 6, ...decision({ action: "step_up" }) },
    { seq: 7, type: "decision.finalized" },
    { seq: 8, type: "message.received" }
  )
  assert.deepStrictEqual(marks.seq, [3n, 4n, 5n, 6n, 7n])
  assert.deepStrictEqual(marks.positive, ["", "true", "false", "", ""])
})

it("counts messages and signals by sender, run by run", () => {
  const { participants } = tallyOf(
    { data: { sender: "a" } },
    { data: { sender: "a" } },
    { runId: otherRun, data: { sender: "a" } },
    { type: "signal.emitted", data: { sender: "b", decodedPayload: { confidence: 0.5 } } },
    { type: "signal.emitted", data: { sender: "b", decodedPayload: { confidence: 0.25 } } },
    { type: "signal.emitted", data: { sender: "b", decodedPayload: { confidence: "high" } } },
    { type: "proposal.created", data: { sender: "c" } }
  )
  assert.deepStrictEqual(participants, {
    runId: [runId, otherRun, runId, runId],
    participantId: ["a", "a", "b", "c"],
    messages: [2, 1, 0, 0],
    signals: [0, 0, 3, 0],
    confidenceSum: ["0", "0", "0.75", "0"],
    confidenceCount: [0, 0, 2, 0]
  })
})

it("takes a participant event without sender as one of its subject, and other events as of no participant", () => {
  const { participants } = tallyOf(
    { type: "participant.seen", subject: { kind: "participant", id: "a" } },
    { type: "participant.seen", subject: { kind: "participant", id: "" } },
    { type: "run.created", subject: { kind: "run", id: runId } },
    { type: "message.received", data: { sender: "" } }
  )
  assert.deepStrictEqual(participants.participantId, ["a"])
})

it("cuts ids that no index could hold", () => {
  const { participants } = tallyOf({ data: { sender: "x".repeat(10_000) } })
  assert.strictEqual(participants.participantId[0]?.length, MAX_PARTICIPANT_ID)
})
