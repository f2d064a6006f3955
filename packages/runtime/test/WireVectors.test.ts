import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf"
import { assert, describe, it } from "@effect/vitest"
import {
  CommitmentPayloadSchema,
  DecisionMode,
  EnvelopeSchema,
  SessionStartPayloadSchema,
  SignalPayloadSchema,
  StreamSessionRequestSchema
} from "@runplane/runtime"

const VOTE_BYTES = "0a0270311207415050524f56451a026f6b"

/** Byte vectors that were made with the original protos. */
const vector = <Desc extends DescMessage>(name: string, schema: Desc, hex: string, content: MessageInitShape<Desc>) => {
  describe(`the test vector of ${name}`, () => {
    it("is what encoding its content gives", () => {
      assert.strictEqual(Buffer.from(toBinary(schema, create(schema, content))).toString("hex"), hex)
    })

    it("decodes into its content", () => {
      assert.deepStrictEqual(fromBinary(schema, Buffer.from(hex, "hex")), create(schema, content))
    })
  })
}

vector(
  "StreamSessionRequest",
  StreamSessionRequestSchema,
  "122430313937663361322d366231652d376334342d396431612d3266356338653762396130311803",
  { subscribeSessionId: "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a01", afterSequence: 3n }
)

vector("the decision VotePayload", DecisionMode.VotePayloadSchema, VOTE_BYTES, {
  proposalId: "p1",
  vote: "APPROVE",
  reason: "ok"
})

vector(
  "Envelope",
  EnvelopeSchema,
  `0a03312e3012156d6163702e6d6f64652e6465636973696f6e2e76311a04566f746522026d342a01733201613880d8c1a28c344211${VOTE_BYTES}`,
  {
    macpVersion: "1.0",
    mode: "macp.mode.decision.v1",
    messageType: "Vote",
    messageId: "m4",
    sessionId: "s",
    sender: "a",
    timestampUnixMs: 1790000000000n,
    payload: new Uint8Array(Buffer.from(VOTE_BYTES, "hex"))
  }
)

vector(
  "SessionStartPayload",
  SessionStartPayloadSchema,
  "0a0473686970120c6167656e743a2f2f6c656164120c6167656e743a2f2f7269736b1a05312e302e30220e636f6e6669672e64656661756c7430e0d403",
  {
    intent: "ship",
    participants: ["agent://lead", "agent://risk"],
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    ttlMs: 60000n
  }
)

vector(
  "CommitmentPayload",
  CommitmentPayloadSchema,
  "0a02633112116465636973696f6e2e73656c65637465641a0772656c6561736522086d616a6f726974792a05312e302e30320e706f6c6963792e64656661756c743a0e636f6e6669672e64656661756c744001",
  {
    commitmentId: "c1",
    action: "decision.selected",
    authorityScope: "release",
    reason: "majority",
    modeVersion: "1.0.0",
    policyVersion: "policy.default",
    configurationVersion: "config.default",
    outcomePositive: true
  }
)

vector(
  "SignalPayload",
  SignalPayloadSchema,
  "0a126c6c6d2e63616c6c2e636f6d706c65746564120d7b226d6f64656c223a226d227d19000000000000f03f220173",
  {
    signalType: "llm.call.completed",
    data: new TextEncoder().encode('{"model":"m"}'),
    confidence: 1,
    correlationSessionId: "s"
  }
)
