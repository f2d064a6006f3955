import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import {
  basisAt,
  basisOf,
  type Hashed,
  policyHash,
  proposalHash,
  unseenBetween,
  unseenText,
  withheldUpTo
} from "@runplane/domain"
import * as Arbitrary from "effect/Arbitrary"
import { nastyText } from "../support/arbitraries.ts"
import { sha256 } from "../support/digests.ts"
import { evaluates, proposes, SEAT, SESSION, starts, viewOf, votes } from "./seatSessions.ts"

const hashed: Hashed = {
  sessionId: SESSION,
  mode: "macp.mode.decision.v1",
  modeVersion: "1.0.0",
  configurationVersion: "config.default",
  policyVersion: "policy.default",
  policyHash: null,
  participants: ["lead", "officer"],
  subject: { messageId: "m1", sender: "lead", type: "Proposal", payloadSha256: "aa", nonce: "bb" }
}

describe("the hash of a proposal", () => {
  it("is SHA-256 of its members in the order of JCS, as another program computes it", () => {
    const text =
      '{"configurationVersion":"config.default","mode":"macp.mode.decision.v1","modeVersion":"1.0.0",' +
      '"participants":["lead","officer"],"policyHash":null,"policyVersion":"policy.default",' +
      `"sessionId":"${SESSION}","subject":{"messageId":"m1","nonce":"bb","payloadSha256":"aa","sender":"lead",` +
      '"type":"Proposal"},"v":1}'
    assert.strictEqual(proposalHash(sha256, hashed), createHash("sha256").update(text).digest("hex"))
  })

  it.prop("differs for every member that differs", { text: nastyText }, ({ text }) => {
    const other = `${text}.`
    const { subject } = hashed
    const changed: ReadonlyArray<Hashed> = [
      { ...hashed, sessionId: other },
      { ...hashed, mode: other },
      { ...hashed, modeVersion: other },
      { ...hashed, configurationVersion: other },
      { ...hashed, policyVersion: other },
      { ...hashed, policyHash: other },
      { ...hashed, participants: [...hashed.participants, other] },
      { ...hashed, participants: [...hashed.participants].reverse() },
      ...(["messageId", "sender", "type", "payloadSha256", "nonce"] as const).map((key) => ({
        ...hashed,
        subject: { ...subject, [key]: other }
      }))
    ]
    const hashes = new Set([hashed, ...changed].map((one) => proposalHash(sha256, one)))
    assert.strictEqual(hashes.size, changed.length + 1)
  })

  it("has the rules of the policy as the registry wrote them", () => {
    const policy = { policyId: "policy.x", mode: "*", schemaVersion: 1, rules: '{"a": 1}' }
    const text = '{"mode":"*","policyId":"policy.x","rules":"{\\"a\\": 1}","schemaVersion":1}'
    assert.strictEqual(policyHash(sha256, policy), createHash("sha256").update(text).digest("hex"))
    assert.notStrictEqual(policyHash(sha256, policy), policyHash(sha256, { ...policy, rules: '{"a":1}' }))
  })
})

const session = [starts(), proposes(), evaluates("a"), votes("a"), votes("b"), evaluates("b"), votes(SEAT)]

describe("a basis", () => {
  it("is the running digest of the messages, each part with its length before it", () => {
    const part = (bytes: Uint8Array) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return Buffer.concat([length, bytes])
    }
    let digest = createHash("sha256").update(`runplane-basis-v1\n${SESSION}`).digest()
    for (const { messageId, messageType, payload, sender } of session) {
      const parts = [Buffer.from(messageId), Buffer.from(sender), Buffer.from(messageType), payload].map(part)
      digest = createHash("sha256").update(digest).update(Buffer.concat(parts)).digest()
    }
    assert.strictEqual(basisOf(viewOf(session), SEAT, "before").sha256, digest.toString("hex"))
  })

  it("differs when two messages change their order, or one moves a letter between its parts", () => {
    const [start = starts(), ...rest] = session
    const reordered = [start, ...rest.toReversed()]
    const moved = session.map((one, at) =>
      at === 2 ? { ...one, sender: "", messageId: `${one.messageId}${one.sender}` } : one
    )
    const digests = [session, reordered, moved].map((one) => basisOf(viewOf(one), SEAT, "before").sha256)
    assert.strictEqual(new Set(digests).size, 3)
  })

  it("counts a message that is delivered twice once", () => {
    const repeated = session.flatMap((one, at) => (at % 2 === 0 ? [one, one] : [one]))
    assert.deepStrictEqual(basisOf(viewOf(repeated), SEAT, "after"), basisOf(viewOf(session), SEAT, "after"))
  })

  it("does not depend on times, which a replay has others of", () => {
    const later = session.map((one) => ({ ...one, timestampUnixMs: 99 }))
    assert.deepStrictEqual(basisOf(viewOf(later), SEAT, "after"), basisOf(viewOf(session), SEAT, "after"))
  })

  it("withholds the votes of the others, and nothing where votes are revealed before", () => {
    const view = viewOf(session)
    assert.deepStrictEqual(basisOf(view, SEAT, "after").withheld, [4, 5])
    assert.deepStrictEqual(basisOf(view, SEAT, "before").withheld, [])
    assert.deepStrictEqual(withheldUpTo(view, SEAT, "after", 4), [4])
  })

  it("is found by its ordinal and digest, and not by another digest", () => {
    const view = viewOf(session)
    const early = basisOf(viewOf(session.slice(0, 4)), SEAT, "after")
    assert.deepStrictEqual(basisAt(view, SEAT, "after", early), early)
    assert.isUndefined(basisAt(view, SEAT, "after", { ...early, ordinal: 5 }))
    assert.isUndefined(basisAt(view, SEAT, "after", { ...early, ordinal: 0 }))
  })
})

describe("unseen messages", () => {
  it("are the ordinals between the basis and the own message, in words", () => {
    const view = viewOf(session)
    const basis = basisOf(viewOf(session.slice(0, 3)), SEAT, "after")
    assert.deepStrictEqual(unseenBetween(basis, 7), [4, 5, 6])
    assert.strictEqual(unseenText(view, [4, 5, 6]), "2 votes and 1 evaluation came in unseen")
    assert.deepStrictEqual(unseenBetween(basis, 4), [])
    assert.isUndefined(unseenText(view, []))
  })

  it.prop(
    "are as many as came between",
    { between: Arbitrary.map(nastyText, ({ length }) => length % 7) },
    ({ between }) => {
      const basis = basisOf(viewOf(session.slice(0, 2)), SEAT, "after")
      const own = basis.ordinal + 1 + between
      assert.lengthOf(unseenBetween(basis, own), between)
    }
  )
})
