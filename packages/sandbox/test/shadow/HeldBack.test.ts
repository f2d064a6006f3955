import { assert, describe, it } from "@effect/vitest"
import { type Envelope, QuorumMode } from "@runplane/runtime"
import { actOf, endNow, type HeldBack, nothingHeld, relayNext, shadowActed } from "../../src/shadow/HeldBack.ts"
import { commitmentPayload, encode, envelope, evaluation, proposal, vote } from "../support/Envelopes.ts"

const SELF = "agent://risk"
const from = (sender: string, type: string, id: string, payload: Uint8Array) => envelope(type, id, payload, { sender })
const start = from("agent://lead", "Proposal", "p", proposal())
const commitment = from("agent://lead", "Commitment", "c", commitmentPayload())

/** Plays messages of the session, and acts of the shadow behind a `~`; returns what the shadow is shown. */
const play = (steps: ReadonlyArray<Envelope | readonly ["~", Envelope]>, from: HeldBack = nothingHeld) => {
  let held = from
  const shown: Array<string> = []
  for (const step of steps) {
    const [next, deliver] =
      "mode" in step ? relayNext(held, { envelope: step, act: actOf(step) }, SELF) : shadowActed(held, actOf(step[1]))
    held = next
    shown.push(...deliver.map(({ envelope }) => envelope.messageId))
  }
  return { held, shown }
}

describe("messages that a shadow is not shown", () => {
  const ownEvaluates = from(SELF, "Evaluation", "e", evaluation())
  const ownVotes = from(SELF, "Vote", "v", vote())
  const otherVotes = from("agent://ops", "Vote", "o", vote())

  it("hides what the participant sends, and shows what the others send", () => {
    assert.deepStrictEqual(play([start, ownEvaluates, otherVotes, ownVotes]).shown, ["p", "o"])
  })

  it("shows the evaluation of the participant after the evaluation of the shadow, and not yet the vote", () => {
    const { shown } = play([start, ownEvaluates, ownVotes, ["~", from("", "Evaluation", "x", evaluation())]])
    assert.deepStrictEqual(shown, ["p", "e"])
  })

  it("shows all of the participant about a subject after the vote of the shadow on it, in their order", () => {
    const { shown } = play([start, ownEvaluates, ownVotes, ["~", from("", "Vote", "x", vote())]])
    assert.deepStrictEqual(shown, ["p", "e", "v"])
  })

  it("shows the vote of the participant at once to a shadow that has voted before it", () => {
    assert.deepStrictEqual(play([start, ["~", from("", "Vote", "x", vote())], ownVotes]).shown, ["p", "v"])
  })

  it("hides the vote of the participant on another proposal", () => {
    const { shown } = play([
      start,
      from(SELF, "Vote", "v2", vote("APPROVE", "p2")),
      ["~", from("", "Vote", "x", vote())]
    ])
    assert.deepStrictEqual(shown, ["p"])
  })

  it("shows a proposal of the participant before the first act of another participant on it", () => {
    const own = from(SELF, "Proposal", "p2", proposal("p2"))
    const { shown } = play([start, own, otherVotes, from("agent://ops", "Vote", "o2", vote("REJECT", "p2"))])
    assert.deepStrictEqual(shown, ["p", "o", "p2", "o2"])
  })

  it("holds the end until the shadow has voted where the participant has", () => {
    const waiting = play([start, ownVotes, commitment])
    assert.deepStrictEqual(waiting.shown, ["p"])
    assert.deepStrictEqual(play([["~", from("", "Vote", "x", vote())]], waiting.held).shown, ["v", "c"])
  })

  it("does not hold the end for an evaluation, and not without an act of the participant", () => {
    assert.deepStrictEqual(play([start, ownEvaluates, commitment]).shown, ["p", "c"])
    assert.deepStrictEqual(play([start, otherVotes, commitment]).shown, ["p", "o", "c"])
  })

  it("ends without the messages of the participant once the shadow is waited for no longer", () => {
    const [held, shown] = endNow(play([start, ownVotes, commitment]).held)
    assert.deepStrictEqual(
      shown.map(({ envelope }) => envelope.messageId),
      ["c"]
    )
    assert.strictEqual(endNow(held)[1].length, 0)
  })

  it("reads the ballots of a quorum", () => {
    const mode = "macp.mode.quorum.v1"
    const approve = encode(QuorumMode.ApprovePayloadSchema, { requestId: "r1", reason: "fine" })
    assert.deepStrictEqual(actOf(envelope("Approve", "a", approve, { mode })), { subject: "r1", kind: "ballot" })
  })

  it("takes a payload that cannot be read as about nothing", () => {
    const broken = envelope("Vote", "b", new Uint8Array([0xff, 0xff]))
    assert.deepStrictEqual(actOf(broken), { subject: "", kind: "ballot" })
  })
})
