import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { type PeopleAnswer, reasonWithLine, signedText } from "@runplane/domain"
import { makeAuthenticator } from "@runplane/testing"
import { signedAnswers, signedAnswersText } from "../../../src/commands/seals/SignedAnswers.ts"

const authenticator = makeAuthenticator("https://inbox.example")
const HASH = "1a2b3c4d".repeat(8)
const REASON = "the rate is low"
const ITEM = "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"

const signed = signedText({
  ...{ item: ITEM, proposalHash: HASH, basis: { ordinal: 3, sha256: HASH }, act: "reject" },
  ...{ reason: REASON, nonce: "0f".repeat(32) }
})
const assertion = authenticator.get(createHash("sha256").update(signed).digest("base64url"))

const answer: PeopleAnswer = {
  ...{ v: 1, item: ITEM, seat: "officer", origin: "person", person: "ada", proof: "passkey", act: "reject" },
  ...{ messageId: "m-own", ordinal: 4, payloadSha256: HASH, proposalHash: HASH, unseen: [] },
  basis: { ordinal: 3, sha256: HASH, withheld: [] },
  ...{ askedAt: "2026-11-30T10:00:00.000Z", answeredAt: "2026-11-30T10:01:00.000Z", channel: "console" },
  ...{ revealed: "after", couldHaveSeen: false, nonce: "0e".repeat(32) },
  passkey: {
    ...{ signed, publicKey: authenticator.publicKey, enrolledAt: "2026-11-01T10:00:00.000Z", rpId: "inbox.example" },
    authenticatorData: assertion.authenticatorData,
    clientDataJSON: assertion.clientDataJSON,
    signature: assertion.signature
  }
}

const said = { vote: "REJECT", reason: reasonWithLine(REASON, { person: "ada", item: ITEM, proposalHash: HASH }) }

/** What an export has of an answer and its message. */
const exported = (inline: object | undefined, decodedPayload: object | undefined = said) => {
  const event = { data: { messageId: "m-own", messageType: "Vote", decodedPayload } }
  const whole = {
    run: { id: "r" },
    canonicalEvents: decodedPayload === undefined ? [] : [{ data: {} }, event],
    artifacts: [
      { id: "a0", kind: "report", inline: {} },
      { id: "a1", kind: "people.answer", ...(inline !== undefined && { inline }) }
    ],
    ...{ seal: null, heads: [], digest: {} }
  }
  return Buffer.from(JSON.stringify(whole))
}

const why = (...given: Parameters<typeof exported>) => signedAnswers(exported(...given)).why

describe("the answers of an export that passkeys have signed", () => {
  it("are proved, with their messages in the session", () => {
    const found = signedAnswers(exported(answer))
    assert.deepStrictEqual(found, { valid: 1, erased: 0, byLink: 0, why: undefined })
    assert.strictEqual(signedAnswersText(found), "1 signed by a passkey")
  })

  it("are none where no passkey has signed", () => {
    const { passkey: _, ...rest } = answer
    const found = signedAnswers(exported({ ...rest, proof: "fresh" }))
    assert.deepStrictEqual(found, { valid: 0, erased: 0, byLink: 0, why: undefined })
    assert.isUndefined(signedAnswersText(found))
    assert.deepStrictEqual(signedAnswers(Buffer.from("no export")), { valid: 0, erased: 0, byLink: 0, why: undefined })
  })

  it("are named where a personal link has given them, as the weakest proof", () => {
    const { passkey: _, ...rest } = answer
    const found = signedAnswers(exported({ ...rest, proof: "link" }))
    assert.deepStrictEqual(found, { valid: 0, erased: 0, byLink: 1, why: undefined })
    assert.strictEqual(signedAnswersText(found), "1 by a personal link, the weakest proof: without a sign-in")
  })

  it("are erased with their text, or with their record", () => {
    const { passkey } = answer
    for (const found of [
      signedAnswers(exported({ ...answer, passkey: { ...passkey, signed: "" } })),
      signedAnswers(exported(undefined)),
      signedAnswers(exported(answer, { ...said, reason: "" }))
    ]) {
      assert.deepStrictEqual(found, { valid: 0, erased: 1, byLink: 0, why: undefined })
      assert.strictEqual(signedAnswersText(found), "1 erased, so what was signed is not known")
    }
  })

  it("prove nothing with another act, hash, basis, message or reason, and without the message", () => {
    const { passkey: _, ...unsigned } = answer
    const faults: ReadonlyArray<readonly [string | undefined, RegExp]> = [
      [why({ ...answer, act: "approve" }), /not the answer of the record/],
      [why({ ...answer, proposalHash: "ff".repeat(32) }), /not the answer of the record/],
      [why({ ...answer, basis: { ...answer.basis, ordinal: 2 } }), /not the answer of the record/],
      [why(unsigned), /its record cannot be read/],
      [why({ ...answer, proof: "session" }), /its record cannot be read/],
      [why(answer, { ...said, vote: "APPROVE" }), /another act/],
      [why(answer, { ...said, reason: said.reason.replace("low", "high") }), /another reason/],
      [signedAnswers(exported({ ...answer, messageId: "m-other" })).why, /not in the session/]
    ]
    for (const [found, expected] of faults) assert.match(found ?? "none", expected)
  })
})
