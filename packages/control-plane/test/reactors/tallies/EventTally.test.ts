import { assert, it } from "@effect/vitest"
import {
  type CanonicalEventType,
  draftEvent,
  type JsonObject,
  RunId,
  recordEvent,
  type Subject
} from "@runplane/domain"
import { type EventTally, emptyTally, MAX_PARTICIPANT_ID, tally } from "../../../src/reactors/tallies/EventTally.ts"

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

const idsOf = (participants: EventTally["participants"]) =>
  [...participants.values()].map(({ participant_id }) => participant_id)

it("counts signals, and decisions with their outcome", () => {
  const decision = (decodedPayload: JsonObject) => ({ type: "decision.finalized", data: { decodedPayload } }) as const
  const { keyEvents } = tallyOf(
    { seq: 3, type: "signal.emitted" },
    { seq: 4, ...decision({ outcome_positive: true }) },
    { seq: 5, ...decision({ outcome_positive: false }) },
    { seq: 6, ...decision({ action: "step_up" }) },
    { seq: 7, type: "decision.finalized" },
    { seq: 8, type: "message.received" }
  )
  assert.deepStrictEqual(
    keyEvents.map(({ positive, seq }) => [seq, positive]),
    [
      [3, null],
      [4, true],
      [5, false],
      [6, null],
      [7, null]
    ]
  )
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
  assert.deepStrictEqual(
    [...participants.values()].map(Object.values),
    // Run, participant, messages, signals, sum and count of confidences, and of those that votes and evaluations state.
    [
      [runId, "a", 2, 0, 0, 0, 0, 0],
      [otherRun, "a", 1, 0, 0, 0, 0, 0],
      [runId, "b", 0, 3, 0.75, 2, 0, 0],
      [runId, "c", 0, 0, 0, 0, 0, 0]
    ]
  )
})

it("takes a participant event without sender as one of its subject, and other events as of no participant", () => {
  const { participants } = tallyOf(
    { type: "participant.seen", subject: { kind: "participant", id: "a" } },
    { type: "participant.seen", subject: { kind: "participant", id: "" } },
    { type: "run.created", subject: { kind: "run", id: runId } },
    { type: "message.received", data: { sender: "" } }
  )
  assert.deepStrictEqual(idsOf(participants), ["a"])
})

it("cuts ids that no index could hold", () => {
  const { participants } = tallyOf({ data: { sender: "x".repeat(10_000) } })
  assert.strictEqual(idsOf(participants)[0]?.length, MAX_PARTICIPANT_ID)
})
