import { create, toBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import { DecisionMode, type Envelope, EnvelopeSchema } from "@runplane/runtime"
import { Decision } from "../../../src/examples/runner/Messages.ts"
import { hasSaid, isOver, messagesOf } from "../../../src/examples/runner/Session.ts"

const vote = toBinary(
  DecisionMode.VotePayloadSchema,
  create(DecisionMode.VotePayloadSchema, { proposalId: "p", vote: "APPROVE" })
)
const sent = (messageType: string, sender: string, payload: Uint8Array<ArrayBuffer> = vote): Envelope =>
  create(EnvelopeSchema, { messageType, payload, sender })

describe("the messages of a session", () => {
  const session = [sent("Vote", "a"), sent("Novelty", "b"), sent("Vote", "c", new Uint8Array([255]))]

  it("is read by kind, leaving out what cannot be read", () => {
    assert.deepStrictEqual(
      messagesOf(session, Decision.Vote).map(({ payload, sender }) => [sender, payload.vote]),
      [["a", "APPROVE"]]
    )
    assert.deepStrictEqual(messagesOf(session, Decision.Objection), [])
  })

  it("is known by its sender even when its payload is not understood", () => {
    assert.isTrue(hasSaid(session, "c", Decision.Vote))
    assert.isFalse(hasSaid(session, "b", Decision.Vote))
  })

  it("is over with a commitment or a cancellation", () => {
    assert.isFalse(isOver(session))
    assert.isTrue(isOver([...session, sent("Commitment", "a")]))
    assert.isTrue(isOver([...session, sent("SessionCancel", "a")]))
  })
})
