import * as Schema from "effect/Schema"
import { CanonicalEventType, Subject } from "./CanonicalEvent.ts"
import { RunStatus } from "./RunStatus.ts"

/** Caps of the projection (run-control-plane "Limits"; http-details section 7). */
export const MAX_DECISION_PROPOSALS = 50
export const MAX_COMMITMENT_EVALUATIONS = 50
export const MAX_LLM_CALLS = 100
export const MAX_SIGNALS = 200
export const MAX_PROGRESS_ENTRIES = 100
export const MAX_TIMELINE_RECENT = 50
export const MAX_GRAPH_EDGES = 300
/** Bounds of ours on what the specification leaves open; a session declares at most 1000 participants. */
export const MAX_TRACKED_PARTICIPANTS = 2000
export const MAX_VOTE_TALLIES = 200
export const MAX_EXPECTED_COMMITMENTS = 200
export const MAX_LINKED_ARTIFACTS = 1000

const optional = Schema.optionalKey

export const ParticipantStatus = Schema.Literals(["idle", "active", "waiting", "completed", "failed", "skipped"])
export type ParticipantStatus = typeof ParticipantStatus.Type

export const ParticipantState = Schema.Struct({
  participantId: Schema.String,
  role: optional(Schema.String),
  status: ParticipantStatus,
  latestActivityAt: optional(Schema.String),
  latestSummary: optional(Schema.String)
}).annotate({ identifier: "ParticipantState" })
export type ParticipantState = typeof ParticipantState.Type

export const GraphNode = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["participant", "start", "proposal", "decision", "output"]),
  status: ParticipantStatus
}).annotate({ identifier: "GraphNode" })
export type GraphNode = typeof GraphNode.Type

export const GraphEdge = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  kind: Schema.String,
  ts: Schema.String
}).annotate({ identifier: "GraphEdge" })
export type GraphEdge = typeof GraphEdge.Type

export const Contribution = Schema.Struct({
  participantId: Schema.String,
  action: Schema.String,
  confidence: optional(Schema.Number),
  reasons: Schema.Array(Schema.String),
  ts: Schema.String,
  vote: optional(Schema.Literals(["allow", "deny"])),
  messageType: optional(Schema.String),
  implicit: optional(Schema.Boolean)
}).annotate({ identifier: "DecisionContribution" })
export type Contribution = typeof Contribution.Type

export const DecisionCurrent = Schema.Struct({
  action: optional(Schema.String),
  confidence: optional(Schema.Number),
  finalized: Schema.Boolean,
  proposalId: optional(Schema.String),
  outcomePositive: optional(Schema.NullOr(Schema.Boolean)),
  prompt: optional(Schema.String),
  resolvedAt: optional(Schema.String),
  resolvedBy: optional(Schema.String),
  reasons: Schema.Array(Schema.String),
  proposals: Schema.Array(Contribution),
  supersedes: optional(
    Schema.Struct({ sessionId: Schema.String, commitmentHash: Schema.String, canonical: Schema.Boolean })
  )
}).annotate({ identifier: "DecisionState" })
export type DecisionCurrent = typeof DecisionCurrent.Type

export const SignalEntry = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  severity: optional(Schema.String),
  sourceParticipantId: optional(Schema.String),
  confidence: optional(Schema.Number),
  payload: optional(Schema.Json),
  ts: Schema.String,
  acknowledgedAt: optional(Schema.String),
  acknowledgedBy: optional(Schema.String)
}).annotate({ identifier: "SignalEntry" })
export type SignalEntry = typeof SignalEntry.Type

export const ProgressEntry = Schema.Struct({
  participantId: Schema.String,
  percentage: optional(Schema.Number),
  message: Schema.String,
  ts: Schema.String
}).annotate({ identifier: "ProgressEntry" })
export type ProgressEntry = typeof ProgressEntry.Type

export const TimelineEntry = Schema.Struct({
  id: Schema.String,
  seq: Schema.Int,
  ts: Schema.String,
  type: CanonicalEventType,
  subject: optional(Subject)
}).annotate({ identifier: "TimelineEntry" })
export type TimelineEntry = typeof TimelineEntry.Type

export const CommitmentEvaluation = Schema.Struct({
  commitmentId: Schema.String,
  decision: Schema.Literals(["allow", "deny"]),
  reasons: Schema.Array(Schema.String),
  ts: Schema.String
}).annotate({ identifier: "CommitmentEvaluation" })
export type CommitmentEvaluation = typeof CommitmentEvaluation.Type

export const VoteTallyEntry = Schema.Struct({
  commitmentId: Schema.String,
  allow: Schema.Int,
  deny: Schema.Int,
  threshold: Schema.Int,
  quorum: Schema.Struct({ required: Schema.Int, cast: Schema.Int })
}).annotate({ identifier: "VoteTallyEntry" })
export type VoteTallyEntry = typeof VoteTallyEntry.Type

export const ExpectedCommitment = Schema.Struct({
  id: Schema.String,
  commitmentId: Schema.String,
  title: optional(Schema.String),
  description: optional(Schema.String),
  requiredRoles: optional(Schema.Array(Schema.String)),
  policyRef: optional(Schema.String)
}).annotate({ identifier: "ExpectedCommitment" })
export type ExpectedCommitment = typeof ExpectedCommitment.Type

export const LlmCall = Schema.Struct({
  participantId: Schema.String,
  model: optional(Schema.String),
  promptTokens: Schema.Number,
  completionTokens: Schema.Number,
  totalTokens: Schema.Number,
  latencyMs: optional(Schema.Number),
  ts: Schema.String,
  messageId: optional(Schema.String),
  artifactId: optional(Schema.String),
  estimatedCostUsd: optional(Schema.Number)
}).annotate({ identifier: "LlmCall" })
export type LlmCall = typeof LlmCall.Type

export const QuorumStatus = Schema.Literals(["pending", "reached", "failed"])
export type QuorumStatus = typeof QuorumStatus.Type

/** The projected state of a run: what `GET /runs/:id/state` answers (run-control-plane "Projected run state"). */
export const RunState = Schema.Struct({
  run: Schema.Struct({
    runId: Schema.String,
    status: RunStatus,
    modeName: optional(Schema.String),
    runtimeSessionId: optional(Schema.String),
    startedAt: optional(Schema.String),
    endedAt: optional(Schema.String),
    traceId: optional(Schema.String),
    /** Whose first Proposal gives `decision.current.prompt`. */
    initiator: optional(Schema.String),
    contextId: optional(Schema.String),
    extensionKeys: optional(Schema.Array(Schema.String)),
    maxSuspendMs: optional(Schema.Number),
    historyGap: optional(Schema.Boolean)
  }),
  participants: Schema.Array(ParticipantState),
  graph: Schema.Struct({ nodes: Schema.Array(GraphNode), edges: Schema.Array(GraphEdge) }),
  decision: Schema.Struct({ current: optional(DecisionCurrent) }),
  signals: Schema.Struct({ signals: Schema.Array(SignalEntry) }),
  progress: Schema.Struct({ entries: Schema.Array(ProgressEntry) }),
  timeline: Schema.Struct({
    latestSeq: Schema.Int,
    latestIndex: Schema.Int,
    totalEvents: Schema.Int,
    recent: Schema.Array(TimelineEntry)
  }),
  trace: Schema.Struct({
    traceId: optional(Schema.String),
    spanCount: Schema.Int,
    lastSpanId: optional(Schema.String),
    linkedArtifacts: Schema.Array(Schema.String)
  }),
  outboundMessages: Schema.Struct({
    total: Schema.Int,
    queued: Schema.Int,
    accepted: Schema.Int,
    rejected: Schema.Int
  }),
  policy: Schema.Struct({
    policyVersion: Schema.String,
    policyDescription: optional(Schema.String),
    resolvedAt: optional(Schema.String),
    outcomePositive: optional(Schema.NullOr(Schema.Boolean)),
    commitmentEvaluations: Schema.Array(CommitmentEvaluation),
    expectedCommitments: optional(Schema.Array(ExpectedCommitment)),
    voteTally: optional(Schema.Array(VoteTallyEntry)),
    quorumStatus: optional(QuorumStatus)
  }),
  llm: Schema.Struct({
    calls: Schema.Array(LlmCall),
    totals: Schema.Struct({
      callCount: Schema.Int,
      promptTokens: Schema.Number,
      completionTokens: Schema.Number,
      totalTokens: Schema.Number,
      estimatedCostUsd: Schema.Number
    })
  })
}).annotate({ identifier: "RunState" })
export type RunState = typeof RunState.Type
