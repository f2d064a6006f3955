import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import {
  type Assigned,
  type Concern,
  codeMail,
  type Delegation,
  digestMail,
  digestOf,
  type NotifiedPerson,
  noticesOf,
  questionMail,
  remindAtUnixMs,
  unreachedPersons
} from "../../../src/people/index.ts"

const ITEM = "0b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const assigned = (assign: ReadonlyArray<string>, over: Partial<Assigned> = {}): Assigned => ({
  assign,
  distinctFrom: undefined,
  requester: "rita",
  answeredBy: new Map(),
  ...over
})
const person = (id: string, groups: ReadonlyArray<string> = [], isReachable = true): NotifiedPerson => ({
  id,
  groups,
  isReachable
})
const DIRECTORY = [
  person("ana", ["risk"]),
  person("bo", ["risk"]),
  person("cy", ["leads"]),
  person("rita", ["risk"]),
  person("mute", ["risk"], false)
]
const NONE: ReadonlySet<string> = new Set()

const SCENARIO = "payments/limit@1.0.0"
const NOW = 1_000
const delegation = (by: string, to: string, untilUnixMs = 2 * NOW): Delegation => ({
  id: `${by}-${to}`,
  by: { id: by, groups: DIRECTORY.find(({ id }) => id === by)?.groups ?? [] },
  to,
  fromUnixMs: 0,
  untilUnixMs,
  scenarios: undefined,
  revokedAtUnixMs: undefined
})
const concern = (
  of: Assigned,
  asked: ReadonlySet<string> = NONE,
  answeredBy?: string,
  delegations: ReadonlyArray<Delegation> = []
): Concern => ({ assigned: of, asked, answeredBy, delegations, moment: { scenarioRef: SCENARIO, unixMs: NOW } })

const whom = (event: string, ...of: Parameters<typeof concern>) =>
  noticesOf({ item: ITEM, event }, DIRECTORY, concern(...of)).map(({ failure, person }) =>
    failure === undefined ? person : `${person}: ${failure}`
  )

describe("who is notified of a question", () => {
  it("given a group, notifies its members who may answer and have an address, and not the requester", () => {
    assert.deepStrictEqual(whom("opened", assigned(["group:risk"])), ["ana", "bo"])
  })

  it("given a person and the group of it, notifies the person once", () => {
    assert.deepStrictEqual(whom("opened", assigned(["group:risk", "person:ana"])), ["ana", "bo"])
  })

  it("given a named person without an address, or in no directory, has the failure", () => {
    const failure = "people.yaml has no email of this person"
    assert.deepStrictEqual(whom("opened", assigned(["person:mute"])), [`mute: ${failure}`])
    assert.deepStrictEqual(whom("opened", assigned(["person:zoe", "person:ana"])), ["ana", `zoe: ${failure}`])
  })

  it("given a person of another seat of the session, does not notify it", () => {
    const answeredBy = new Map([["other", ["bo"]]])
    assert.deepStrictEqual(whom("opened", assigned(["group:risk"], { answeredBy })), ["ana"])
    assert.deepStrictEqual(whom("opened", assigned(["group:risk"], { answeredBy, distinctFrom: [] })), [
      "ana",
      "bo",
      "rita"
    ])
  })

  it("given a delegation in effect, notifies the delegate too", () => {
    const of = assigned(["person:ana"])
    assert.deepStrictEqual(whom("opened", of, NONE, undefined, [delegation("ana", "cy")]), ["ana", "cy"])
    assert.deepStrictEqual(whom("reminded", of, new Set(["ana"]), undefined, [delegation("ana", "cy")]), ["ana", "cy"])
    assert.deepStrictEqual(whom("closed", of, new Set(["ana", "cy"]), "cy", [delegation("ana", "cy")]), ["ana"])
    assert.deepStrictEqual(whom("opened", of, NONE, undefined, [delegation("ana", "cy", NOW)]), ["ana"], "it is over")
  })

  it("given a delegation that gives no right, does not notify the delegate", () => {
    const of = assigned(["person:ana"])
    assert.deepStrictEqual(whom("opened", of, NONE, undefined, [delegation("ana", "rita")]), ["ana"], "the requester")
    assert.deepStrictEqual(whom("opened", of, NONE, undefined, [delegation("bo", "cy")]), ["ana"], "not of ana")
  })

  it("given a delegate without an address, or in no directory, has the failure", () => {
    const failure = "people.yaml has no email of this person"
    for (const to of ["mute", "zoe"]) {
      const notices = whom("opened", assigned(["person:ana"]), NONE, undefined, [delegation("ana", to)])
      assert.deepStrictEqual(notices, ["ana", `${to}: ${failure}`])
    }
  })

  it("given a person with a link, has a notice that no digest can replace", () => {
    const dora: NotifiedPerson = { ...person("dora", ["risk"]), hasLink: true }
    const notices = noticesOf({ item: ITEM, event: "opened" }, [...DIRECTORY, dora], concern(assigned(["group:risk"])))
    assert.deepStrictEqual(
      notices.map(({ isPersonal, person }) => [person, isPersonal]),
      [
        ["ana", false],
        ["bo", false],
        ["dora", true]
      ]
    )
  })

  it.each(["escalated", "returned"])("given %s, notifies only those who were not asked before", (event) => {
    const of = assigned(["group:risk", "group:leads"])
    assert.deepStrictEqual(whom(event, of, new Set(["ana", "bo"])), ["cy"])
  })

  it("given a reminder, notifies each who may answer", () => {
    assert.deepStrictEqual(whom("reminded", assigned(["group:risk"]), new Set(["ana", "bo"])), ["ana", "bo"])
  })

  it("given the end, notifies those who were asked, without the one who answered", () => {
    assert.deepStrictEqual(whom("closed", assigned(["group:risk"]), new Set(["ana", "bo"]), "bo"), ["ana"])
    assert.deepStrictEqual(whom("closed", assigned(["group:risk"])), [])
  })

  it.each(["undelivered", "unreachable", "another"])("given %s, notifies no person", (event) => {
    assert.deepStrictEqual(whom(event, assigned(["group:risk"]), new Set(["ana"])), [])
  })

  const subset = Arbitrary.schema(Schema.Array(Schema.Literals(["ana", "bo", "cy", "rita", "mute", "zoe"])))
  it.prop(
    "given any assignment and event, has one notice a person, with the same ids again",
    {
      persons: subset,
      asked: subset,
      event: Arbitrary.schema(Schema.Literals(["opened", "escalated", "returned", "reminded", "closed"]))
    },
    ({ asked, event, persons }) => {
      const of = assigned([...persons.map((id) => `person:${id}`), "group:risk"])
      const first = noticesOf({ item: ITEM, event }, DIRECTORY, concern(of, new Set(asked)))
      const again = noticesOf({ item: ITEM, event }, DIRECTORY, concern(of, new Set(asked)))
      assert.deepStrictEqual(first, again)
      assert.strictEqual(new Set(first.map(({ person }) => person)).size, first.length)
      assert.strictEqual(new Set(first.map(({ id }) => id)).size, first.length)
      const isAsking = event !== "reminded" && event !== "closed"
      for (const { person } of first) {
        assert.isTrue(event === "closed" || person !== "rita", "four eyes hold for notices")
        assert.isFalse(isAsking && asked.some((id) => id === person), "no person is asked twice")
      }
    },
    { arbitrary: { runs: 500 } }
  )
})

describe("reminders", () => {
  it("are due after half of the time", () => {
    assert.strictEqual(remindAtUnixMs(1_000, 1_000 + 4 * 3_600_000), 1_000 + 2 * 3_600_000)
  })

  it("are never due without a deadline, and for one of less than 10 minutes", () => {
    assert.isUndefined(remindAtUnixMs(0, undefined))
    assert.isUndefined(remindAtUnixMs(0, 599_999))
    assert.strictEqual(remindAtUnixMs(0, 600_000), 300_000)
  })
})

describe("digests", () => {
  it("have one id a person and hour, and are due at its end", () => {
    const first = digestOf("ana", 3_600_000)
    assert.deepStrictEqual(digestOf("ana", 7_199_999), first)
    assert.strictEqual(first.dueAtUnixMs, 7_200_000)
    assert.notStrictEqual(digestOf("ana", 7_200_000).id, first.id)
    assert.notStrictEqual(digestOf("bo", 3_600_000).id, first.id)
  })

  it("name the number of questions, the first deadline and the inbox", () => {
    const { subject, text } = digestMail(
      { open: 1_204, firstDeadline: "2026-11-30 14:04 UTC" },
      "https://l.example/inbox"
    )
    assert.strictEqual(subject, "1,204 open questions for you")
    assert.include(text, "The first deadline: 2026-11-30 14:04 UTC")
    assert.include(text, "https://l.example/inbox")
  })
})

describe("mails", () => {
  const question = {
    event: "opened",
    seat: "risk-officer",
    scenario: "payments/limit@1.0.0",
    state: "open",
    unanswered: false,
    hash: "1a2b3c4d",
    deadline: "2026-11-30T14:04:00.000Z"
  }

  it("have what a person compares, and no text of the proposal", () => {
    const { subject, text } = questionMail(question, { address: "https://l.example/inbox/i1" }, undefined)
    assert.strictEqual(subject, "Question for risk-officer, payments/limit@1.0.0")
    assert.strictEqual(
      text,
      "Question for risk-officer\n\n" +
        "Scenario: payments/limit@1.0.0\nDeadline: 2026-11-30 14:04 UTC\nProposal: 1a2b3c4d\n\n" +
        "https://l.example/inbox/i1\n\nThe link gives no right: you sign in there.\n"
    )
  })

  it("have the proposal where the scenario says so", () => {
    assert.include(questionMail(question, undefined, '{ "option": "raise" }').text, '{ "option": "raise" }')
  })

  it("with a personal link, say what it is, where the code goes, and until when", () => {
    const personal = { until: "2026-11-30 14:04 UTC", codeTo: "d…@example.net" }
    const { text } = questionMail(question, { address: "https://l.example/inbox/link#t", personal }, undefined)
    assert.include(text, "https://l.example/inbox/link#t\n")
    assert.include(text, "do not forward it: who has it can read the question")
    assert.include(text, "a code, which its page sends to d…@example.net")
    assert.include(text, "until 2026-11-30 14:04 UTC")
    assert.notInclude(text, "sign in")
  })

  it("with a code, have no link, and no text of the proposal", () => {
    const { subject, text } = codeMail("012345", question)
    assert.strictEqual(subject, "Code 012345")
    assert.include(
      text,
      "012345 is your code for the question for risk-officer, payments/limit@1.0.0, proposal 1a2b3c4d"
    )
    assert.include(text, "10 minutes")
    assert.notMatch(text, /https?:/)
  })

  it("have one line in the subject, whatever the names are", () => {
    const { subject } = questionMail({ ...question, seat: "a\r\nBcc: x@y.org" }, undefined, undefined)
    assert.notMatch(subject, /[\r\n]/)
  })
})

describe("persons without a notice", () => {
  it("are named with the reason, unless another notice reached them", () => {
    const failed = { person: "ana", state: "failed", reason: "connection refused" }
    assert.strictEqual(unreachedPersons([failed]), "no notice reached ana: connection refused")
    assert.isUndefined(unreachedPersons([failed, { person: "ana", state: "sent" }]))
    assert.isUndefined(unreachedPersons([{ person: "ana", state: "pending" }]))
    assert.strictEqual(
      unreachedPersons([failed, { person: "bo", state: "pending", reason: "timed out" }]),
      "no notice reached ana: connection refused; bo: timed out"
    )
  })
})
