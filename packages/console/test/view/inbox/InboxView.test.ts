import { assert, describe, it } from "@effect/vitest"
import type { InboxItem } from "@runplane/api"
import { refusedAnswer } from "../../../src/view/inbox/AnswerResult.ts"
import { bindingOf } from "../../../src/view/inbox/Binding.ts"
import {
  CLOSED_STATES,
  noConsequences,
  OPEN_STATES,
  timeLeft,
  withheldText
} from "../../../src/view/inbox/InboxWords.ts"
import { itemCard } from "../../../src/view/inbox/ItemCard.ts"
import { changesOf, differenceOf, shownPart } from "../../../src/view/inbox/ItemChanges.ts"
import { payloadFields } from "../../../src/view/inbox/PayloadText.ts"
import { question } from "../../browser/inbox/InboxService.ts"

const PROPOSAL = "macp.modes.decision.v1.ProposalPayload"
const bytesOf = ({ payload }: InboxItem) => new Uint8Array(Buffer.from(payload.base64, "base64"))

describe("the payload of a question", () => {
  it("is read from its bytes", () => {
    assert.deepStrictEqual(payloadFields(PROPOSAL, bytesOf(question("go"))), [
      { name: "Proposal", text: "p1" },
      { name: "Option", text: "go" },
      { name: "Rationale", text: "us-east has lost two of three zones." }
    ])
  })

  it("has the last value of a repeated field, names unknown ones, and counts bytes that are no text", () => {
    // Option twice; field 9, a number; supporting data that is not UTF-8.
    const bytes = Uint8Array.from([0x12, 1, 0x61, 0x12, 1, 0x62, 0x48, 5, 0x22, 2, 0xff, 0xfe])
    assert.deepStrictEqual(payloadFields(PROPOSAL, bytes), [
      { name: "Option", text: "b" },
      { name: "Supporting data", text: "2 bytes that are no text" },
      { name: "Field 9", text: "unknown to this page, with 1 byte" }
    ])
  })

  it.each([
    [PROPOSAL, [0x12, 9, 0x61]],
    [PROPOSAL, [0x12]],
    ["macp.v1.Other", [0x12, 1, 0x61]]
  ])("returns undefined for bytes of another message: %s", (type, bytes) => {
    assert.isUndefined(payloadFields(type, Uint8Array.from(bytes)))
  })
})

describe("the hash of a question", () => {
  it("is computed from the members and the bytes", () => {
    assert.isTrue(bindingOf(question()).isBound)
  })

  it("does not fit after the change of any member", () => {
    const item = question()
    const { hashed } = item
    const changed: ReadonlyArray<Partial<InboxItem>> = [
      { hashed: { ...hashed, sessionId: "other" } },
      { hashed: { ...hashed, mode: "other" } },
      { hashed: { ...hashed, modeVersion: "other" } },
      { hashed: { ...hashed, configurationVersion: "other" } },
      { hashed: { ...hashed, policyVersion: "other" } },
      { hashed: { ...hashed, policyHash: null } },
      { hashed: { ...hashed, participants: hashed.participants.toReversed() } },
      { hashed: { ...hashed, subject: { ...hashed.subject, messageId: "other" } } },
      { hashed: { ...hashed, subject: { ...hashed.subject, sender: "other" } } },
      { hashed: { ...hashed, subject: { ...hashed.subject, type: "other" } } },
      { hashed: { ...hashed, subject: { ...hashed.subject, nonce: "00".repeat(32) } } },
      { payload: question("another option").payload },
      { payload: { ...item.payload, base64: "?" } },
      { proposalHash: "00".repeat(32) }
    ]
    for (const changes of changed) {
      assert.isFalse(bindingOf({ ...item, ...changes }).isBound, JSON.stringify(changes))
    }
  })

  it("cannot be computed without its nonce", () => {
    const { nonce: _, ...subject } = question().hashed.subject
    const binding = bindingOf(question(undefined, { hashed: { ...question().hashed, subject } }))
    assert.deepStrictEqual(binding, { isBound: false, why: "The hash cannot be computed: its nonce was erased." })
  })
})

describe("the changes of a question", () => {
  const was = question()

  it("are none between two readings of the same", () => {
    const { nonce: _, ...again } = was
    assert.strictEqual(shownPart(again), shownPart(was))
    assert.deepStrictEqual(changesOf(was, again), [])
  })

  it.each<readonly [Partial<InboxItem>, string]>([
    [{ state: "stale" }, "The question is stale now."],
    [{ messages: [...was.messages, { ordinal: 6, by: "cem", type: "Vote" }] }, "A vote of cem came in."],
    [
      { basis: { ordinal: 6, sha256: "", withheld: [6] } },
      "One more message came in, which is withheld until you have answered."
    ],
    [{ acts: ["approve"] }, "Other answers are possible now."],
    [{ unavailable: "the session is being read again" }, "It takes no answer: the session is being read again."],
    [{ basis: { ordinal: 6, sha256: "", withheld: [] } }, "The session has gone on."]
  ])("are shown: %j", (changes, sentence) => {
    assert.deepStrictEqual(changesOf(was, { ...was, ...changes }), [sentence])
  })

  it("name what another question has instead", () => {
    assert.deepStrictEqual(differenceOf(was, question("hold")), [
      "Proposed before: Fail checkout over to eu-west now?.",
      "The content of the proposal is another one."
    ])
    assert.deepStrictEqual(differenceOf(was, was), ["The record of the session is longer."])
  })
})

describe("the card of a question", () => {
  it("has the votes and opinions of its messages", () => {
    const { counts, hasVotes, rings } = itemCard(question())
    assert.deepStrictEqual([counts, hasVotes], ["1 for, 0 against, 1 of 4 voted", true])
    assert.deepStrictEqual(
      rings[0]?.seats.map(({ opinion, participantId, vote }) => [participantId, vote, opinion]),
      [
        ["impact-analyst", "for", undefined],
        ["incident-commander", "none", undefined],
        ["replication-analyst", "none", "for"],
        ["risk-officer", "none", undefined]
      ]
    )
  })

  it.each([
    [{}, "Open"],
    [{ state: "accepted", given: { at: "2026-07-01T10:00:00.000Z" } }, "Answered"],
    [{ state: "withdrawn" }, "Closed"]
  ] as const)("names no outcome: %j", (changes, word) => {
    assert.strictEqual(itemCard(question(undefined, changes)).word, word)
  })

  it("counts no votes while some are withheld", () => {
    const item = question(undefined, { basis: { ordinal: 5, sha256: "", withheld: [5] }, messages: [] })
    const { counts, hasVotes } = itemCard(item)
    assert.deepStrictEqual([counts, hasVotes], ["votes withheld until you answer", false])
    assert.strictEqual(withheldText(item), "One message of another participant is withheld until you have answered.")
  })
})

describe("the words of the inbox", () => {
  it("know each state once", () => {
    const all = [...OPEN_STATES, ...CLOSED_STATES]
    assert.lengthOf(new Set(all), 11)
    assert.lengthOf(all, 11)
  })

  it.each([
    [-1, "deadline passed"],
    [0, "deadline passed"],
    [1, "1 s left"],
    [59_001, "60 s left"],
    [60_000, "1 min left"],
    [3_600_000, "1 h 00 min left"],
    [86_400_000, "1 d 0 h left"],
    [Number.NaN, "unknown deadline"]
  ])("show %i ms to the deadline as %s", (left, text) => {
    assert.strictEqual(timeLeft(1_000_000 + left, 1_000_000), text)
  })

  it("say why no consequences are shown", () => {
    const { basis: _, ...unread } = question()
    assert.include(noConsequences(unread), "read again")
    assert.include(noConsequences(question(undefined, { policy: { version: "p", lines: [] } })), "rules")
    assert.include(noConsequences(question()), "withheld")
  })
})

describe("a refused answer", () => {
  const refused = (status: number, code: string, metadata?: unknown) =>
    refusedAnswer({ status, code, messages: ["the reason"], metadata })

  it("keeps the draft until the question is over", () => {
    assert.isTrue(refused(409, "ITEM_ANSWERED").isOver)
    assert.isTrue(refused(410, "ITEM_CLOSED").isOver)
    for (const [status, code] of [
      [401, "HTTP 401"],
      [403, "FORBIDDEN"],
      [403, "SIGN_IN_NOT_FRESH"],
      [409, "ITEM_STALE"],
      [429, "TOO_MANY_ANSWERS"],
      [503, "SESSION_UNREAD"],
      [0, "UNREACHABLE"]
    ] as const) {
      assert.isFalse(refused(status, code).isOver, code)
    }
  })

  it("names an unknown winner and leads to the new question", () => {
    assert.deepStrictEqual(refused(409, "ITEM_ANSWERED").lines, ["No answer came by the deadline; its act was made."])
    assert.strictEqual(refused(409, "ITEM_STALE", { newItem: "n1" }).newItem, "n1")
    assert.isUndefined(refused(409, "ITEM_STALE", { newItem: 7 }).newItem)
  })

  it("leads to a sign-in at the issuer when the one of the person is too old", () => {
    const { lines, needsSignIn } = refused(403, "SIGN_IN_NOT_FRESH")
    assert.deepStrictEqual(
      { lines, needsSignIn },
      {
        lines: ["Your text is kept: sign in again, and send it then."],
        needsSignIn: "fresh"
      }
    )
    assert.strictEqual(refused(401, "HTTP 401").needsSignIn, "any")
    assert.isUndefined(refused(403, "FORBIDDEN").needsSignIn)
  })

  it("does not claim that an answer was lost when nothing came back", () => {
    for (const status of [0, 500, 502, 504]) assert.include(refused(status, "X").title, "not known")
    assert.include(refused(503, "DATABASE_UNAVAILABLE").title, "not known")
    assert.include(refused(503, "SESSION_UNREAD").title, "not sent")
  })
})
