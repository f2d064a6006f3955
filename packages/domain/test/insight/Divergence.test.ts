import { assert, describe, it } from "@effect/vitest"
import { type Divergence, decisionRecord, type EventDraft, firstDivergence } from "@runplane/domain"
import { arbitraryDrafts } from "../support/arbitraries.ts"
import { commits, eventsOf, opened, proposes, says, votes } from "../support/deliberations.ts"
import { derived, draft, number, received } from "../support/events.ts"

type History = ReadonlyArray<EventDraft>

const evaluates = (by: string, recommendation: string, confidence: number, about = "p1", reason = "looked at it") =>
  says(by, "Evaluation", { recommendation, confidence, reason }, about)

const beginning = [...opened(), proposes("a")]
const history: History = [
  ...beginning,
  evaluates("b", "APPROVE", 0.9),
  votes("a", "APPROVE"),
  votes("b", "APPROVE"),
  commits(true),
  draft("run.completed", {})
]

const without = (types: ReadonlyArray<string>) => (events: History) =>
  events.filter(({ data }) => !("messageType" in data && types.includes(data.messageType)))

/** The history with one event in position of another. */
const changed = (at: number, ...events: History): History => [
  ...history.slice(0, beginning.length + at),
  ...events,
  ...history.slice(beginning.length + at + 1)
]

const task = [...opened({ mode: "task" }), says("lead", "TaskRequest", { instructions: "x" }, "t1")]
const offer = (target: string) => [
  ...opened({ mode: "handoff" }),
  says("lead", "HandoffOffer", { target_participant: target }, "h1")
]
const negotiation = [...opened({ mode: "proposal" }), proposes("a")]

/** Two runs, and what a person would call their first difference; null when they say the same. */
const table: ReadonlyArray<readonly [name: string, left: History, right: History, sentence: string | null]> = [
  ["the same history twice", history, history, null],
  [
    "one vote turned",
    history,
    changed(2, votes("b", "REJECT")),
    "b voted APPROVE on p1; in the right run b voted REJECT on p1"
  ],
  ["a vote less", history, changed(2), "only in the left run b voted APPROVE on p1"],
  ["a vote more", changed(2), history, "only in the right run b voted APPROVE on p1"],
  [
    "votes in another order",
    history,
    [...history.slice(0, 4), ...[...history.slice(4, 6)].reverse(), ...history.slice(6)],
    null
  ],
  ["other words for the same", history, changed(0, evaluates("b", "APPROVE", 0.9, "p1", "tested it")), null],
  ["a confidence that is nearly the same", history, changed(0, evaluates("b", "APPROVE", 0.91)), null],
  [
    "another confidence",
    history,
    changed(0, evaluates("b", "APPROVE", 0.4)),
    "b evaluated p1: APPROVE, confidence 0.9; in the right run b evaluated p1: APPROVE, confidence 0.4"
  ],
  [
    "another recommendation",
    history,
    changed(0, evaluates("b", "BLOCK", 0.9)),
    "b evaluated p1: APPROVE, confidence 0.9; in the right run b evaluated p1: BLOCK, confidence 0.9"
  ],
  [
    "an objection that makes a vote change",
    history,
    changed(1, says("c", "Objection", { severity: "critical" }), votes("a", "REJECT")),
    "only in the right run c objected to p1, critical"
  ],
  [
    "one did this, and there something else",
    changed(0, says("b", "Objection", { severity: "low" })),
    history,
    "b objected to p1, low; in the right run b evaluated p1: APPROVE, confidence 0.9"
  ],
  [
    "another proposal",
    history,
    [...opened(), says("a", "Proposal", { option: "wait" }), ...history.slice(beginning.length)],
    "a proposed p1 (option of p1); in the right run a proposed p1 (wait)"
  ],
  [
    "proposals under other ids",
    [...opened(), says("a", "Proposal", { option: "ship" }, "x1"), votes("b", "APPROVE", "x1")],
    [...opened(), says("a", "Proposal", { option: "ship" }, "y7"), votes("b", "APPROVE", "y7")],
    null
  ],
  [
    "a vote on the other proposal",
    [...beginning, proposes("b", "p2"), votes("c", "APPROVE", "p1")],
    [...beginning, proposes("b", "p2"), votes("c", "APPROVE", "p2")],
    "c voted APPROVE on p1; in the right run c voted APPROVE on p2"
  ],
  [
    "proposals of two in another order",
    [...beginning, proposes("b", "p2"), votes("c", "APPROVE", "p2")],
    [...opened(), proposes("b", "p2"), proposes("a"), votes("c", "APPROVE", "p2")],
    null
  ],
  [
    "another outcome of the same votes",
    history,
    changed(3, commits(false)),
    "lead committed decision.selected; in the right run lead committed decision.rejected"
  ],
  [
    "another committer",
    history,
    changed(3, commits(true, "a")),
    "lead committed decision.selected; in the right run a committed decision.selected"
  ],
  [
    "no commitment, and a run that failed",
    history,
    [...history.slice(0, -2), draft("run.failed", { errorCode: "SESSION_EXPIRED" })],
    "only in the left run lead committed decision.selected"
  ],
  [
    "a refusal of the policy on the way",
    history,
    changed(3, derived("policy.denied", "PolicyDenied", "lead", { reasons: ["too early"] }), commits(true)),
    "only in the right run the policy refused a message of lead"
  ],
  [
    "another assignee",
    [...task, says("a", "TaskAccept", {}, "t1")],
    [...task, says("b", "TaskAccept", {}, "t1")],
    "only in the left run a accepted t1"
  ],
  [
    "a task without its output",
    [...task, says("a", "TaskAccept", {}, "t1"), says("a", "TaskComplete", { output: "AAAA" }, "t1")],
    [...task, says("a", "TaskAccept", {}, "t1"), says("a", "TaskComplete", {}, "t1")],
    "a completed t1 with an output; in the right run a completed t1 without an output"
  ],
  [
    "a handoff to another participant",
    offer("a"),
    offer("b"),
    "lead offered h1 to a; in the right run lead offered h1 to b"
  ],
  [
    "a refusal for good",
    [...negotiation, says("b", "Reject")],
    [...negotiation, says("b", "Reject", { terminal: true })],
    "b rejected p1; in the right run b rejected p1 for good"
  ],
  [
    "signals and usage, which say nothing of the course",
    history,
    [...beginning, derived("signal.emitted", "Signal", "a", {}), ...history.slice(3)],
    null
  ],
  [
    "a message of an unknown kind",
    history,
    [...beginning, received("ContextUpdate", "c"), ...history.slice(3)],
    "only in the right run c sent ContextUpdate"
  ]
]

const divergence = (left: History, right: History): Divergence | null =>
  firstDivergence(eventsOf(left), eventsOf(right))

const MIRRORED = { different: "different", "only-left": "only-right", "only-right": "only-left" } as const

describe("the first divergence", () => {
  for (const [name, left, right, sentence] of table) {
    it(`of ${name}`, () => {
      const found = divergence(left, right)
      assert.strictEqual(found?.what ?? null, sentence)
      const mirrored = divergence(right, left)
      if (found === null) assert.isNull(mirrored)
      else if (found.participantId === mirrored?.participantId) {
        assert.strictEqual(mirrored.kind, MIRRORED[found.kind])
        assert.deepStrictEqual([mirrored.left, mirrored.right], [found.right, found.left])
      }
    })
  }

  it("says where, by whom, in which details, and with which consequence", () => {
    const call = (estimatedCostUsd: number) => derived("llm.call.completed", "Signal", "a", { estimatedCostUsd })
    const right = changed(2, votes("b", "REJECT"), call(0.75), call(0.5))
    const found = divergence(
      [...history.slice(0, 3), call(9), ...history.slice(3)],
      [...right.slice(0, 3), call(9), ...right.slice(3).filter(({ type }) => type !== "decision.finalized")]
    )
    assert.deepStrictEqual(found, {
      left: { seq: 70, index: 7 },
      right: { seq: 70, index: 7 },
      kind: "different",
      participantId: "b",
      what: "b voted APPROVE on p1; in the right run b voted REJECT on p1",
      details: ["vote"],
      leftText: "b voted APPROVE on p1",
      rightText: "b voted REJECT on p1",
      consequence: {
        outcomeLeft: "positive",
        outcomeRight: "none",
        eventsAfterLeft: 2,
        eventsAfterRight: 3,
        costDeltaUsd: 1.25
      }
    })
  })

  it("says how much of the money that both runs spent after it is a guess", () => {
    const call = (estimatedCostUsd: number, costBasis = "fallback") =>
      derived("llm.call.completed", "Signal", "a", { estimatedCostUsd, costBasis })
    const left = [...changed(2, votes("b", "APPROVE"), call(0.1), call(5, "catalogue"))]
    const right = changed(2, votes("b", "REJECT"), call(0.2), call(5.2, "supplied"))
    const before = call(9)
    const { consequence } = divergence([before, ...left], [before, ...right]) ?? {}
    assert.strictEqual(consequence?.costDeltaUsd, 0.3)
    assert.strictEqual(consequence?.guessedCostUsd, 0.3)
  })

  it("positions a step that one run lacks behind the last one that both have", () => {
    const found = divergence(history, changed(2))
    assert.deepInclude(found, { kind: "only-left", left: { seq: 60, index: 6 }, right: { seq: 50, index: 5 } })
    assert.deepInclude(divergence([], history), { kind: "only-right", left: { seq: 0, index: 0 } })
  })

  it("takes a message for what it means, once", () => {
    const twice = (events: History) =>
      events.flatMap((event) => {
        const { data } = event
        if (!("messageType" in data) || !("proposalId" in data)) return [event]
        const { messageId, messageType, sender } = data
        return [draft("message.received", { messageType, sender, messageId }), event]
      })
    assert.isNull(divergence(twice(history), without(["message.received"])(history)))
  })

  it("finds the one vote at the end of long runs", () => {
    const shared: History = [
      ...opened(),
      ...Array.from({ length: 500 }, (_, at) => proposes("a", `p${at}`)),
      ...Array.from({ length: 4_000 }, (_, at) => evaluates("bc"[at % 2] ?? "b", "APPROVE", 0.9, `p${at % 500}`))
    ]
    const found = divergence([...shared, votes("a", "APPROVE", "p499")], [...shared, votes("a", "REJECT", "p499")])
    assert.strictEqual(found?.what, "a voted APPROVE on p499; in the right run a voted REJECT on p499")
    assert.strictEqual(found?.left.index, 4_503)
  })

  it.prop(
    "is null of a run and itself, and total over any two",
    { left: arbitraryDrafts, right: arbitraryDrafts },
    ({ left, right }) => {
      const [one, other] = [number(left), number(right)]
      assert.isNull(firstDivergence(one, one))
      const [found, mirrored] = [firstDivergence(one, other), firstDivergence(other, one)]
      assert.strictEqual(found === null, mirrored === null)
      assert.strictEqual(decisionRecord(one).acts.length, one.filter(({ type }) => type.startsWith("proposal.")).length)
    }
  )
})
