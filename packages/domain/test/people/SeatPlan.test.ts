import { assert, describe, it } from "@effect/vitest"
import {
  BARRIER_MS,
  type ItemChange,
  planSeat,
  type RawEnvelope,
  type Seat,
  type SeatText,
  type StoredItem
} from "@runplane/domain"
import {
  boundTo,
  evaluates,
  HANDOFF,
  proposes,
  rulesOf,
  SEAT,
  START,
  says,
  starts,
  viewOf,
  votes
} from "./seatSessions.ts"

const PARTICIPANTS = ["lead", "a", "b", SEAT]
const seat = (text: Partial<SeatText> = {}, more: Partial<Seat> = {}): Seat => ({
  id: SEAT,
  seats: new Set([SEAT]),
  rules: rulesOf({ when: "proposed", ...text }),
  sessionRules: undefined,
  ...more
})
const open: StoredItem = {
  id: "i1",
  subject: 2,
  state: "open",
  basisOrdinal: 2,
  deadlineUnixMs: undefined,
  answer: undefined
}
const plan = (
  envelopes: ReadonlyArray<RawEnvelope>,
  items: ReadonlyArray<StoredItem>,
  of: Seat = seat(),
  at: { readonly unixMs?: number; readonly ended?: string } = {}
) => planSeat(viewOf(envelopes), of, items, { unixMs: at.unixMs ?? START, ended: at.ended })

/** The changes without what a test does not look at. */
const shown = (changes: ReadonlyArray<ItemChange>) =>
  changes.map((change) => (change._tag === "create" ? { ...change, subject: change.subject.ordinal } : change))

const session = [starts(), proposes()]
const own = votes(SEAT, "REJECT")
const answer = {
  act: "reject",
  messageId: own.messageId,
  payloadSha256: viewOf([own]).messages[0]?.payloadSha256 ?? "",
  basis: { ordinal: 2, sha256: "", withheld: [] }
} as const

describe("the plan of a seat", () => {
  it("creates an item for each proposal, and none before one or after the end", () => {
    assert.deepStrictEqual(shown(plan([starts()], []).changes), [])
    assert.deepStrictEqual(shown(plan([...session, proposes("p2")], []).changes), [
      { _tag: "create", subject: 2 },
      { _tag: "create", subject: 3 }
    ])
    assert.deepStrictEqual(shown(plan([...session, own], []).changes), [])
    assert.deepStrictEqual(shown(plan(session, [], seat(), { ended: "CANCELLED" }).changes), [])
    assert.deepStrictEqual(shown(plan([...session, says("lead", "Commitment")], []).changes), [])
  })

  it("creates no item for a handoff to another participant", () => {
    const offer = (target: string) =>
      says("lead", "HandoffOffer", { handoffId: target, targetParticipant: target, scope: "x" }, { mode: HANDOFF })
    const view = viewOf([starts(undefined, HANDOFF), offer("a"), offer(SEAT)], HANDOFF)
    const { changes } = planSeat(view, seat({}, { rules: rulesOf({}, HANDOFF) }), [], {
      unixMs: START,
      ended: undefined
    })
    assert.deepStrictEqual(shown(changes), [{ _tag: "create", subject: 3 }])
  })

  it("changes nothing twice", () => {
    assert.deepStrictEqual(plan(session, [open]), { changes: [], wakeAtUnixMs: undefined })
  })

  it("opens an item once the agents have evaluated, and wakes when their time is over", () => {
    const waiting = { ...open, state: "waiting", basisOrdinal: undefined } as const
    const patient = seat({ when: "evaluated", deadline: "1h" })
    assert.deepStrictEqual(plan(session, [waiting], patient), {
      changes: [],
      wakeAtUnixMs: START + 1_000 + BARRIER_MS
    })
    const evaluated = [...session, evaluates("a"), evaluates("b")]
    assert.deepStrictEqual(plan(evaluated, [waiting], patient).changes, [
      { _tag: "open", id: "i1", basisOrdinal: 4, deadlineUnixMs: START + 3_600_000 }
    ])
  })

  it("replaces an item after another proposal", () => {
    const later = [...session, proposes("p2")]
    const reason = "another proposal came in as message 3"
    const [close, other] = shown(plan(later, [open]).changes)
    assert.deepStrictEqual(close, { _tag: "close", id: "i1", state: "stale", reason })
    assert.deepStrictEqual(other, { _tag: "create", subject: 3 })
    const second = { ...open, id: "i2", subject: 3, basisOrdinal: 3 }
    assert.deepStrictEqual(shown(plan(later, [{ ...open, state: "stale" }, second]).changes), [
      { _tag: "create", subject: 2, replaces: "i1" }
    ])
  })

  it("withdraws an item when the session ends, or the seat has acted by another way", () => {
    assert.deepStrictEqual(plan(session, [open], seat(), { ended: "EXPIRED" }).changes, [
      { _tag: "close", id: "i1", state: "withdrawn", reason: "the session is EXPIRED" }
    ])
    assert.deepStrictEqual(plan([...session, own], [open]).changes, [
      { _tag: "close", id: "i1", state: "withdrawn", reason: "the seat has acted by message 3", hasActed: true }
    ])
  })

  it("expires an item at its deadline, or acts for the seat and says so", () => {
    const late = { ...open, deadlineUnixMs: START + 5_000 }
    assert.deepStrictEqual(plan(session, [late]), { changes: [], wakeAtUnixMs: START + 5_000 })
    const at = { unixMs: START + 5_000 }
    const reason = "no answer by 2027-01-15T08:00:05.000Z"
    assert.deepStrictEqual(plan(session, [late], seat(), at).changes, [
      { _tag: "close", id: "i1", state: "expired", reason }
    ])
    assert.deepStrictEqual(plan(session, [late], seat({ onDeadline: "reject", deadline: "5s" }), at).changes, [
      { _tag: "answer", id: "i1", act: "reject", reason }
    ])
  })

  it("reads the own message back, with the unseen messages before it", () => {
    const sent = { ...open, state: "sent", answer } as const
    assert.deepStrictEqual(plan(session, [sent]).changes, [])
    assert.deepStrictEqual(plan([...session, evaluates("a"), own], [sent]).changes, [
      { _tag: "accept", id: "i1", ordinal: 4, unseen: [3] }
    ])
  })

  it("reports another message with the id of the answer, by its sender or by its bytes", () => {
    const sent = { ...open, state: "answered", answer } as const
    for (const taken of [
      { ...own, sender: "a" },
      { ...votes(SEAT, "APPROVE", "p9"), messageId: own.messageId }
    ]) {
      const [change] = plan([...session, taken], [sent]).changes
      assert.strictEqual(change?._tag, "id-taken")
    }
  })

  it("follows an accepted evaluation with a question for the vote, and an accepted vote with none", () => {
    const done = { ...open, state: "accepted" } as const
    assert.deepStrictEqual(shown(plan(session, [{ ...done, answer: { ...answer, act: "evaluate" } }]).changes), [
      { _tag: "create", subject: 2, follows: "i1" }
    ])
    assert.deepStrictEqual(shown(plan(session, [{ ...done, answer }]).changes), [])
    assert.deepStrictEqual(shown(plan(session, [{ ...done, state: "refused", answer }]).changes), [])
  })

  it("closes a question that no longer counts, and puts it again when it counts again", () => {
    const sessionRules = boundTo({ voting: { algorithm: "majority", threshold: 0.5 } }, PARTICIPANTS)
    const pivotal = seat({ ask: "pivotal" }, { sessionRules })
    const decided = [...session, votes("lead"), votes("a"), votes("b")]
    const closed = { ...open, state: "not-needed" } as const
    assert.deepStrictEqual(shown(plan(decided, [], pivotal).changes), [])
    assert.strictEqual(plan(decided, [open], seat({ ask: "always" }, { sessionRules })).changes.length, 0)
    assert.deepStrictEqual(plan(decided, [open], pivotal).changes, [
      {
        _tag: "close",
        id: "i1",
        state: "not-needed",
        reason: "no act of this seat changes what can be decided"
      }
    ])
    assert.deepStrictEqual(shown(plan(decided, [closed], pivotal).changes), [])
    const reopened = [starts(), proposes(), proposes("p2"), ...decided.slice(2)]
    assert.deepStrictEqual(shown(plan(reopened, [closed], pivotal).changes), [
      { _tag: "create", subject: 2, replaces: "i1" },
      { _tag: "create", subject: 3 }
    ])
  })
})
