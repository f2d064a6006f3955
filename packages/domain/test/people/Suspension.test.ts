import { assert, describe, it } from "@effect/vitest"
import {
  MAX_SUSPENSIONS,
  planSuspension,
  type RawEnvelope,
  type SeatText,
  type SessionNow,
  type StoredItem,
  SUSPENSION_PAUSES,
  type SuspendableSeat,
  type SuspensionAct,
  suspensionText,
  whyExpired
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

const END = START + 600_000
const item = (state: StoredItem["state"], more: Partial<StoredItem> = {}): StoredItem => ({
  id: "i1",
  subject: 2,
  state,
  basisOrdinal: 2,
  deadlineUnixMs: undefined,
  answer: undefined,
  ...more
})
const seat = (
  items: ReadonlyArray<StoredItem>,
  text: Partial<SeatText> = {},
  { id = SEAT, mode }: { readonly id?: string; readonly mode?: string } = {}
): SuspendableSeat => ({ id, items, rules: rulesOf({ wait: "suspend", ...text }, mode) })

const acts = (...given: ReadonlyArray<Partial<SuspensionAct>>): ReadonlyArray<SuspensionAct> =>
  given.map((one, at) => ({
    n: at + 1,
    kind: "suspend",
    by: "service",
    expiresAtUnixMs: END,
    atUnixMs: START,
    isCalled: true,
    outcome: "done",
    reason: undefined,
    ...one
  }))
const suspended = (expiresAtUnixMs = END): SessionNow => ({ state: "SUSPENDED", expiresAtUnixMs })
const open = (expiresAtUnixMs = END): SessionNow => ({ state: "OPEN", expiresAtUnixMs })

const voted: ReadonlyArray<RawEnvelope> = [starts(), proposes(), votes("lead"), votes("a"), votes("b")]
/** When the last of them is received. */
const LAST = START + 4_000

const plan = (
  given: ReadonlyArray<SuspensionAct>,
  now: SessionNow,
  {
    at = LAST + 60_000,
    messages = voted,
    mode,
    rules,
    seats = [seat([item("open")])]
  }: {
    readonly at?: number
    readonly messages?: ReadonlyArray<RawEnvelope>
    readonly mode?: string
    readonly rules?: Parameters<typeof boundTo>[0]
    readonly seats?: ReadonlyArray<SuspendableSeat>
  } = {}
) =>
  planSuspension(
    {
      view: viewOf(messages, mode),
      sessionRules: rules === undefined ? undefined : boundTo(rules, ["lead", "a", "b", SEAT]),
      now,
      seats,
      acts: given,
      pauses: SUSPENSION_PAUSES
    },
    at
  )

const SUSPEND = { _tag: "call", kind: "suspend" } as const
const RESUME = { _tag: "call", kind: "resume" } as const
const rests = (wakeAtUnixMs?: number) => ({ _tag: "rest", wakeAtUnixMs }) as const

describe("given an open session that waits for a person", () => {
  it("when each agent has voted, then it is suspended soon after the last message", () => {
    assert.deepStrictEqual(plan([], open(), { at: LAST + 1_999 }).step, rests(LAST + 2_000))
    assert.deepStrictEqual(plan([], open(), { at: LAST + 2_000 }).step, SUSPEND)
  })

  it("when an agent has not, then it has a minute from the last message on", () => {
    const messages = voted.slice(0, -1)
    assert.deepStrictEqual(plan([], open(), { at: LAST, messages }).step, rests(START + 63_000))
    assert.deepStrictEqual(plan([], open(), { at: START + 63_000, messages }).step, SUSPEND)
  })

  it("when the person may still evaluate, then the agents hold their votes, and their evaluations are due", () => {
    const messages = [starts(), proposes(), evaluates("a"), evaluates("b")]
    const seats = [seat([item("open")], { acts: ["evaluate", "vote"] })]
    assert.deepStrictEqual(plan([], open(), { at: START + 5_000, messages, seats }).step, SUSPEND)
    const some = messages.slice(0, -1)
    assert.deepStrictEqual(plan([], open(), { at: START + 5_000, messages: some, seats }).step, rests(START + 62_000))
    // After a vote no evaluation follows: then the votes are due.
    const after = [...messages, votes("a")]
    assert.deepStrictEqual(plan([], open(), { at: START + 7_000, messages: after, seats }).step, rests(LAST + 60_000))
  })

  it("when a commitment would be accepted, then its committer has the minute", () => {
    const rules = { voting: { algorithm: "majority" } }
    assert.deepStrictEqual(plan([], open(), { at: LAST + 2_000, rules }).step, rests(LAST + 60_000))
  })

  it("when it is a handoff, then the offer may still get a context", () => {
    const messages = [
      starts(["lead", SEAT], HANDOFF),
      says("lead", "HandoffOffer", { handoffId: "h1", targetParticipant: SEAT, scope: "x" }, { mode: HANDOFF })
    ]
    const given = { messages, mode: HANDOFF, seats: [seat([item("open")], {}, { mode: HANDOFF })] }
    assert.deepStrictEqual(plan([], open(), { ...given, at: START + 5_000 }).step, rests(START + 61_000))
    assert.deepStrictEqual(plan([], open(), { ...given, at: START + 61_000 }).step, SUSPEND)
  })

  for (const [what, seats] of [
    ["another seat does not suspend it", [seat([item("open")]), seat([item("open")], { wait: "open" }, { id: "two" })]],
    ["an item waits for the agents", [seat([item("open")]), seat([item("waiting")], {}, { id: "two" })]],
    ["an answer is not delivered", [seat([item("open")]), seat([item("answered")], {}, { id: "two" })]],
    ["an answer is not read back", [seat([item("open")]), seat([item("sent")], {}, { id: "two" })]],
    ["no item is left", [seat([item("accepted")])]],
    ["there was none", [seat([])]]
  ] as const) {
    it(`when ${what}, then it is not suspended`, () => {
      assert.deepStrictEqual(plan([], open(), { seats }).step, rests())
    })
  }

  it("when it is over, then nothing is done", () => {
    assert.deepStrictEqual(plan([], { state: "RESOLVED", expiresAtUnixMs: END }).step, rests())
    const unknown = acts({ outcome: undefined })
    assert.deepStrictEqual(plan(unknown, { state: "EXPIRED", expiresAtUnixMs: END }).step, rests())
  })

  it("when it has been suspended as often as a runtime allows, then it stays open, and the item says so", () => {
    const cycles = Array.from({ length: MAX_SUSPENSIONS * 2 }, (_, at) => ({
      kind: at % 2 === 0 ? ("suspend" as const) : ("resume" as const)
    }))
    const { state, step } = plan(acts(...cycles), open())
    assert.deepStrictEqual(step, rests())
    assert.match(suspensionText(state) ?? "", /it has been suspended 1024 times/)
    // One cycle less: the last one.
    assert.deepStrictEqual(plan(acts(...cycles.slice(2)), open()).step, SUSPEND)
  })

  it("when the runtime has refused to suspend it, then it is tried again later and later", () => {
    const refused = { outcome: "refused", reason: "PERMISSION_DENIED: no", atUnixMs: LAST } as const
    const first = plan(acts(refused), open(), { at: LAST + 9_999 })
    assert.deepStrictEqual(first.step, rests(LAST + 10_000))
    assert.match(suspensionText(first.state) ?? "", /takes answers until its time is over: .*PERMISSION_DENIED: no/)
    assert.deepStrictEqual(plan(acts(refused), open(), { at: LAST + 10_000 }).step, SUSPEND)
    const second = plan(acts(refused, refused), open(), { at: LAST + 10_000 })
    assert.deepStrictEqual(second.step, rests(LAST + 20_000))
  })
})

describe("given a session that the service has suspended", () => {
  it("when nothing is answered, then it stays suspended", () => {
    const { state, step } = plan(acts({}), suspended())
    assert.deepStrictEqual(step, rests())
    assert.strictEqual(suspensionText(state), "the session is suspended until it has an answer")
  })

  for (const [what, seats] of [
    ["an answer is stored", [seat([item("answered")])]],
    ["an answer of one of two seats is stored", [seat([item("answered")]), seat([item("open")], {}, { id: "two" })]],
    ["its items have ended", [seat([item("expired")])]],
    ["its items are gone", [seat([])]]
  ] as const) {
    it(`when ${what}, then it is resumed`, () => {
      assert.deepStrictEqual(plan(acts({}), suspended(), { seats }).step, RESUME)
    })
  }

  it("when the runtime has refused the resume, then it is tried again, and the item says so", () => {
    const given = acts({}, { kind: "resume", outcome: "refused", reason: "UNAVAILABLE: down", atUnixMs: LAST })
    const seats = [seat([item("answered")])]
    const { state, step } = plan(given, suspended(), { at: LAST + 999, seats })
    assert.deepStrictEqual(step, rests(LAST + 1_000))
    assert.match(suspensionText(state) ?? "", /does not resume it; your answer waits: UNAVAILABLE: down/)
    assert.deepStrictEqual(plan(given, suspended(), { at: LAST + 1_000, seats }).step, RESUME)
  })

  it("when another party resumes it, then that is noted, and it is suspended again after a minute", () => {
    const resumed = plan(acts({}), open(END + 5_000))
    assert.deepStrictEqual(resumed.step, { _tag: "observe", kind: "resume" })
    const noted = acts({}, { kind: "resume", by: "other", expiresAtUnixMs: END + 5_000, atUnixMs: LAST + 5_000 })
    const pausing = plan(noted, open(END + 5_000), { at: LAST + 6_000 })
    assert.deepStrictEqual(pausing.step, rests(LAST + 65_000))
    assert.match(suspensionText(pausing.state) ?? "", /another party has resumed it/)
    assert.deepStrictEqual(plan(noted, open(END + 5_000), { at: LAST + 65_000 }).step, SUSPEND)
  })

  it("when another party resumes and suspends it unseen, then its end gives that away, and it is not resumed", () => {
    const seats = [seat([item("answered")])]
    const moved = suspended(END + 5_000)
    assert.deepStrictEqual(plan(acts({}), moved, { seats }).step, { _tag: "observe", kind: "resume" })
    const resumed = { kind: "resume", by: "other", expiresAtUnixMs: END + 5_000 } as const
    assert.deepStrictEqual(plan(acts({}, resumed), moved, { seats }).step, { _tag: "observe", kind: "suspend" })
    const both = acts({}, resumed, { by: "other", expiresAtUnixMs: END + 5_000 })
    const { state, step } = plan(both, moved, { seats })
    assert.deepStrictEqual(step, rests())
    assert.match(suspensionText(state) ?? "", /suspended by another party; your answer waits/)
  })
})

describe("given a suspension that no row has", () => {
  it("when an answer is stored, then it waits until the party resumes the session", () => {
    const seats = [seat([item("answered")])]
    assert.deepStrictEqual(plan([], suspended(), { seats }).step, { _tag: "observe", kind: "suspend" })
    const held = acts({ by: "other" })
    assert.deepStrictEqual(plan(held, suspended(), { seats }).step, rests())
    assert.deepStrictEqual(plan(held, open(END + 1), { seats }).step, { _tag: "observe", kind: "resume" })
  })
})

describe("given a call whose result is not known", () => {
  const unknown = { outcome: undefined, atUnixMs: LAST } as const
  const settled = { at: LAST + SUSPENSION_PAUSES.callMs }
  const settles = (outcome: "done" | "not-made") => ({ _tag: "settle", n: 1, outcome }) as const

  it("when it was not made, then that is known at once", () => {
    assert.deepStrictEqual(
      plan(acts({ ...unknown, isCalled: false }), suspended(), { at: LAST }).step,
      settles("not-made")
    )
  })

  it("when it may still arrive, then it is waited for", () => {
    assert.deepStrictEqual(plan(acts(unknown), open(), { at: LAST }).step, rests(LAST + SUSPENSION_PAUSES.callMs))
  })

  it("when it was a suspension, then the session says whether it was made", () => {
    assert.deepStrictEqual(plan(acts(unknown), suspended(), settled).step, settles("done"))
    assert.deepStrictEqual(plan(acts(unknown), open(), settled).step, settles("not-made"))
    // Made, and undone by another party.
    assert.deepStrictEqual(plan(acts(unknown), open(END + 1), settled).step, settles("done"))
  })

  it("when it was a resume, then the session says whether it was made", () => {
    const resume = acts({ ...unknown, kind: "resume" })
    assert.deepStrictEqual(plan(resume, open(END + 1), settled).step, settles("done"))
    assert.deepStrictEqual(plan(resume, suspended(), settled).step, settles("not-made"))
    assert.deepStrictEqual(plan(resume, suspended(END + 1), settled).step, settles("done"))
  })
})

describe("the reason of an expired session", () => {
  const times = { maxSuspendMs: 100_000, ttlMs: 600_000 }

  it("is its time, with why it was not suspended", () => {
    assert.strictEqual(whyExpired([], times, START), "the session has expired: its time of 600000 ms was over")
    const refused = acts({ outcome: "refused", reason: "PERMISSION_DENIED: no" })
    assert.match(whyExpired(refused, times, START), /; the runtime refused to suspend it: PERMISSION_DENIED: no$/)
    const cycles = Array.from({ length: MAX_SUSPENSIONS }, () => [{}, { kind: "resume" as const }]).flat()
    assert.match(whyExpired(acts(...cycles), times, START), /; it has been suspended 1024 times/)
  })

  it("is a suspension that was too long, over all of them", () => {
    const given = acts({}, { kind: "resume", atUnixMs: START + 60_000 }, { atUnixMs: START + 100_000 })
    assert.match(whyExpired(given, times, START + 140_000), /longer than it may be \(maxSuspendMs 100000\)/)
    assert.strictEqual(whyExpired(given, times, START + 139_999), "the session has expired while it was suspended")
  })

  it("is the cap that the resume met, though fewer suspensions are known", () => {
    const given = acts({}, { kind: "resume", outcome: "refused", reason: "SESSION_NOT_OPEN" })
    assert.match(whyExpired(given, times, START), /when it was resumed: a runtime resumes a session 1024 times/)
  })
})
