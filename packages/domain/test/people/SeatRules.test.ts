import { assert, describe, it } from "@effect/vitest"
import { durationMs, type PeopleContext, peopleFaults, readPeople } from "@runplane/domain"
import * as Result from "effect/Result"
import { boundTo, DECISION, HANDOFF, QUORUM, SEAT } from "./seatSessions.ts"

const PARTICIPANTS = ["lead", "a", "b", SEAT]
const HOUR = 3_600_000
const context: PeopleContext = {
  modeName: DECISION,
  ttlMs: 5 * HOUR,
  maxSuspendMs: undefined,
  initiator: "lead",
  participants: PARTICIPANTS,
  seats: [SEAT],
  policy: undefined,
  groups: new Set(["risk", "leads"])
}
const entry = (members: Record<string, unknown>) => ({ [SEAT]: { assign: ["group:risk"], ...members } })

const faultsOf = (value: unknown, about: Partial<PeopleContext> = {}) =>
  Result.match(readPeople(value), {
    onFailure: (faults) => faults,
    onSuccess: (people) => peopleFaults(people, { ...context, ...about })
  })
const linesOf = (value: unknown, about: Partial<PeopleContext> = {}) =>
  faultsOf(value, about).map(({ at, level, message }) => `${level} ${at.join(".")}: ${message}`)

const policyOf = (rules: Parameters<typeof boundTo>[0], mode?: "decision" | "quorum" | "handoff") =>
  boundTo(rules, PARTICIPANTS, mode).terms.policy

describe("the time of a rule", () => {
  it.each([
    ["90s", 90_000],
    ["30m", 1_800_000],
    ["4h", 4 * HOUR],
    ["7d", 168 * HOUR],
    ["0h", undefined],
    ["4 h", undefined],
    ["-1h", undefined],
    ["4", undefined],
    ["99999999d", undefined]
  ])("%s is %s", (text, expected) => {
    assert.strictEqual(durationMs(text), expected)
  })
})

describe("people of a scenario", () => {
  it("take every member of the format, without a fault", () => {
    const everything = entry({
      ask: "always",
      when: "evaluated",
      reveal: "after",
      acts: ["evaluate", "object", "vote", "abstain"],
      assign: ["group:risk", "person:ana", "{{ inputs.officer }}"],
      distinctFrom: ["requester", "approver"],
      deadline: "4h",
      escalate: [
        { after: "1h", to: ["group:leads"] },
        { after: "3h", to: ["person:cro"] }
      ],
      onDeadline: "nothing",
      stale: "record",
      reason: "required",
      proof: "session",
      wait: "open"
    })
    assert.deepStrictEqual(linesOf(everything), [])
  })

  it("refuse what is not of the format, with the field", () => {
    const found = linesOf({
      [SEAT]: { assign: ["risk"], deadline: "soon", ask: "sometimes", acts: ["commit"], wat: 1 },
      other: {}
    }).join("\n")
    for (const field of ["assign.0", "deadline", "ask", "acts.0", "wat"]) assert.include(found, `${SEAT}.${field}`)
    assert.include(found, "people.other.assign")
    assert.include(found, "a time such as 90s, 30m, 4h or 2d")
  })

  const refusals: ReadonlyArray<
    readonly [name: string, members: object, about: Partial<PeopleContext>, found: string]
  > = [
    ["a deadline beyond the session", { deadline: "6h" }, {}, "deadline: the deadline is after the end of the session"],
    [
      "a deadline beyond the longest suspension",
      { deadline: "8d", wait: "suspend" },
      {},
      "deadline: the deadline is longer than a suspension can be (604800000 ms)"
    ],
    [
      "a deadline beyond a shorter suspension",
      { deadline: "2h", wait: "suspend" },
      { maxSuspendMs: HOUR },
      "deadline: the deadline is longer than a suspension can be (3600000 ms)"
    ],
    [
      "an act of a deadline that is not there",
      { onDeadline: "reject" },
      {},
      "onDeadline: onDeadline reject needs a deadline"
    ],
    [
      "an escalation after the deadline",
      { deadline: "1h", escalate: [{ after: "1h", to: ["group:leads"] }] },
      {},
      "escalate: step 1, after 3600000 ms, is not before the deadline (3600000 ms)"
    ],
    [
      "an escalation after the end of the session",
      { escalate: [{ after: "2d", to: ["group:leads"] }] },
      {},
      "escalate: step 1, after 172800000 ms, is not before the end of the session"
    ],
    ["an unknown group", { assign: ["group:legal"] }, {}, 'assign: no directory defines the group "legal"'],
    [
      "an unknown group of an escalation",
      { escalate: [{ after: "1h", to: ["group:legal"] }] },
      {},
      'escalate: step 1: no directory defines the group "legal"'
    ],
    ["a seat as the initiator", {}, { initiator: SEAT }, `: "${SEAT}" opens the session, which no person does`],
    [
      "another mode",
      {},
      { modeName: "macp.mode.task.v1" },
      ": a person can hold a seat in a decision, a quorum or a handoff"
    ],
    [
      "an evaluation after the votes",
      { when: "others-voted", acts: ["evaluate", "vote"] },
      {},
      "when: after the first vote a runtime takes no evaluate"
    ],
    ["evaluations of a quorum", { when: "evaluated" }, { modeName: QUORUM }, "when: a quorum has no evaluations"],
    [
      "other voters of a handoff",
      { when: "others-voted" },
      { modeName: HANDOFF },
      "when: a handoff has no other voters"
    ],
    ["an act of another mode", { acts: ["accept"] }, {}, 'acts: a decision has no act "accept"'],
    [
      "an abstention of a handoff",
      { deadline: "1h", onDeadline: "abstain" },
      { modeName: HANDOFF },
      "onDeadline: no participant of a handoff can abstain"
    ],
    ["a proof that a key cannot give", { proof: "fresh" }, { signIn: "key" }, "proof: proof fresh needs a sign-in"],
    ["a proof without an issuer", { proof: "fresh" }, { signIn: "none" }, "proof: proof fresh needs a sign-in at an"],
    [
      "a proof that a personal link cannot give",
      { proof: "fresh", assign: ["person:dora", "group:risk"] },
      { persons: [{ id: "dora", groups: [], hasLink: true }] },
      "proof: dora answers by personal links, which proof fresh refuses"
    ],
    [
      "the same in an escalation",
      { proof: "passkey", escalate: [{ after: "1h", to: ["person:dora"] }] },
      { persons: [{ id: "dora", groups: ["risk"], hasLink: true }] },
      "proof: dora answers by personal links, which proof passkey refuses"
    ],
    ["a passkey without an issuer", { proof: "passkey" }, { signIn: "key" }, "proof: proof passkey needs a sign-in at"],
    [
      "a handoff that silence accepts",
      {},
      { modeName: HANDOFF, policy: policyOf({ acceptance: { implicit_accept_timeout_ms: 5000 } }, "handoff") },
      ": under policy.test.rules silence becomes the person's acceptance after 5000 ms"
    ]
  ]
  it.each(refusals)("refuse %s", (_, members, about, found) => {
    const errors = linesOf(entry({ ...members }), about).filter((line) => line.startsWith("error"))
    assert.lengthOf(errors, 1)
    assert.include(errors[0], `error ${SEAT}${found.startsWith(":") ? "" : "."}${found}`)
  })

  it("refuse an entry that is not a participant or not a person, and a person without an entry", () => {
    assert.deepStrictEqual(
      linesOf({ ...entry({}), a: { assign: ["person:x"] }, c: { assign: ["person:x"] } }, { seats: [SEAT, "b"] }),
      [
        'error b: the agent of participant "b" is a person, and people has no entry for it: name who may answer',
        'error a: the agent of participant "a" is not a person: give it a profile with framework person',
        `error c: people.c is not a participant; name one of: lead, a, b, ${SEAT}`
      ]
    )
  })

  const voting = { voting: { algorithm: "majority", threshold: 0.5 } }
  const warnings: ReadonlyArray<
    readonly [name: string, members: object, about: Partial<PeopleContext>, found: string]
  > = [
    [
      "any participant may commit",
      {},
      { policy: policyOf({ voting: { algorithm: "unanimous" }, commitment: { authority: "any_participant" } }) },
      "then the seat can cancel and suspend as well"
    ],
    ["the others are enough", {}, { policy: policyOf(voting) }, `can be met without "${SEAT}"`],
    [
      "the others are enough for a quorum",
      {},
      { modeName: QUORUM, policy: policyOf({ threshold: { type: "n_of_m", value: 3 } }, "quorum") },
      `can be met without "${SEAT}"`
    ],
    [
      "an abstention counts",
      { deadline: "1h", onDeadline: "abstain" },
      { policy: policyOf({ voting: { algorithm: "unanimous" }, commitment: { require_vote_quorum: true } }) },
      "an abstention counts as a voter of the quorum"
    ],
    [
      "a question shows that it counts",
      { ask: "pivotal" },
      {},
      "its arrival shows the person that the votes are close"
    ],
    ["the session ends at the deadline", { deadline: "5h", onDeadline: "reject" }, {}, "onDeadline may come too late"],
    [
      "a group has a person with a link alone, and the seat needs a sign-in",
      { proof: "passkey", assign: ["group:risk"] },
      {
        persons: [
          { id: "dora", groups: ["risk"], hasLink: true },
          { id: "ana", groups: ["risk"], hasLink: false }
        ]
      },
      "proof: group:risk: dora can answer by personal links alone, which proof passkey refuses"
    ],
    [
      "a step adds no person and no group",
      { assign: ["group:risk"], escalate: [{ after: "1h", to: ["group:risk"] }] },
      {},
      "step 1 adds no person and no group: group:risk may answer before it"
    ]
  ]
  it.each(warnings)("warn where %s", (_, members, about, found) => {
    const lines = linesOf(entry({ ...members }), about)
    assert.lengthOf(lines, 1)
    assert.include(lines[0], "warning ")
    assert.include(lines[0], found)
  })

  it("warn where another seat keeps the session from its suspension, and accept a deadline beyond its time", () => {
    const two = (wait: "open" | "suspend") => ({
      ...entry({ wait: "suspend", deadline: "4d" }),
      b: { assign: ["person:x"], wait }
    })
    assert.deepStrictEqual(linesOf(two("suspend"), { seats: [SEAT, "b"] }), [])
    assert.deepStrictEqual(linesOf(two("open"), { seats: [SEAT, "b"] }), [
      `warning ${SEAT}.wait: no suspension while b has an open question: write wait: suspend for each seat`
    ])
  })

  it("do not warn where a policy needs the seat", () => {
    const needs = (rules: Parameters<typeof boundTo>[0], mode: "decision" | "quorum" = "decision") =>
      linesOf(entry({}), { modeName: `macp.mode.${mode}.v1`, policy: policyOf(rules, mode) })
    assert.deepStrictEqual(needs({ voting: { algorithm: "unanimous" } }), [])
    assert.deepStrictEqual(needs({ threshold: { type: "n_of_m", value: 4 } }, "quorum"), [])
    assert.deepStrictEqual(needs({}, "quorum"), [])
  })
})
