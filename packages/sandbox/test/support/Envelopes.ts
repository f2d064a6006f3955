import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf"
import {
  CommitmentPayloadSchema,
  DecisionMode,
  type Envelope,
  EnvelopeSchema,
  SessionStartPayloadSchema
} from "@runplane/runtime"

export const DECISION = "macp.mode.decision.v1"
export const SESSION = "0197f3a2-6b1e-7c44-9d1a-2f5c8e7b9a01"

export const encode = <Desc extends DescMessage>(schema: Desc, init: MessageInitShape<Desc>): Uint8Array<ArrayBuffer> =>
  toBinary(schema, create(schema, init))

/** An envelope, by default of the decision session. */
export const envelope = (
  messageType: string,
  messageId: string,
  payload: Uint8Array,
  rest: Partial<Pick<Envelope, "mode" | "sessionId" | "sender" | "timestampUnixMs" | "macpVersion">> = {}
): Envelope =>
  create(EnvelopeSchema, {
    macpVersion: "1.0",
    mode: DECISION,
    sessionId: SESSION,
    messageType,
    messageId,
    payload,
    ...rest
  })

export const startPayload = (rest: MessageInitShape<typeof SessionStartPayloadSchema> = {}) =>
  encode(SessionStartPayloadSchema, {
    intent: "ship",
    participants: ["agent://lead", "agent://risk"],
    modeVersion: "1.0.0",
    configurationVersion: "config.default",
    ttlMs: 60_000n,
    ...rest
  })

export const commitmentPayload = (rest: MessageInitShape<typeof CommitmentPayloadSchema> = {}) =>
  encode(CommitmentPayloadSchema, {
    commitmentId: "c1",
    action: "decision.selected",
    authorityScope: "release",
    reason: "majority",
    modeVersion: "1.0.0",
    policyVersion: "policy.default",
    configurationVersion: "config.default",
    outcomePositive: true,
    ...rest
  })

export const proposal = (proposalId = "p1", option = "deploy v2") =>
  encode(DecisionMode.ProposalPayloadSchema, { proposalId, option, rationale: "ready" })

export const evaluation = (recommendation = "APPROVE", confidence = 0.9, proposalId = "p1") =>
  encode(DecisionMode.EvaluationPayloadSchema, { proposalId, recommendation, confidence, reason: "why" })

export const objection = (severity = "", proposalId = "p1") =>
  encode(DecisionMode.ObjectionPayloadSchema, { proposalId, severity, reason: "why" })

export const vote = (choice = "APPROVE", proposalId = "p1") =>
  encode(DecisionMode.VotePayloadSchema, { proposalId, vote: choice, reason: "why" })
