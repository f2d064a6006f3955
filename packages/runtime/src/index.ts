// The wire contract, generated from proto/: messages, enums and the service of macp.v1 by their own names;
// the payloads of each mode under the mode's name, since several modes have a ProposalPayload or a RejectPayload.
export * as DecisionMode from "./gen/macp/modes/decision/v1/decision_pb.ts"
export * as HandoffMode from "./gen/macp/modes/handoff/v1/handoff_pb.ts"
export * as MultiRoundMode from "./gen/macp/modes/multi_round/v1/multi_round_pb.ts"
export * as ProposalMode from "./gen/macp/modes/proposal/v1/proposal_pb.ts"
export * as QuorumMode from "./gen/macp/modes/quorum/v1/quorum_pb.ts"
export * as TaskMode from "./gen/macp/modes/task/v1/task_pb.ts"
export * from "./gen/macp/v1/core_pb.ts"
export * from "./gen/macp/v1/envelope_pb.ts"
export * from "./gen/macp/v1/policy_pb.ts"
export * from "./gen/macp/v1/service_pb.ts"
