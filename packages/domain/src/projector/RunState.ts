import * as Schema from "effect/Schema"
import { CanonicalEventType } from "../events/CanonicalEventType.ts"
import { Subject } from "../events/RecordedEvent.ts"
import { ReceiptReport } from "../receipts/ReceiptReport.ts"
import { DenialReason } from "../run/Denials.ts"
import { ParticipantStatus } from "../run/ParticipantStatus.ts"
import { RunStatus } from "../run/RunStatus.ts"
import { Field } from "../values/Field.ts"
import { usageSums } from "./UsageSums.ts"

/** Caps of the projection: the last so many of each. */
export const MAX_DECISION_PROPOSALS = 50
export const MAX_COMMITMENT_EVALUATIONS = 50
export const MAX_POLICY_DENIALS = 20
export const MAX_LLM_CALLS = 100
export const MAX_SIGNALS = 200
export const MAX_PROGRESS_ENTRIES = 100
export const MAX_TIMELINE_RECENT = 50
export const MAX_GRAPH_EDGES = 300
/** Further bounds, so that no run grows without end; a session declares at most 1000 participants. */
export const MAX_TRACKED_PARTICIPANTS = 2000
export const MAX_LINKED_ARTIFACTS = 1000
/** About 2,500 proposals with ids of the usual length. Bytes of JSON. */
export const MAX_VOTE_TALLY_BYTES = 768 * 1024
/**
 * No state is larger as JSON text, for any events: the bounds of all lists and texts together stay below it
 * (docs/reference/events.md#state-bounds).
 */
export const MAX_STATE_BYTES = 8 * 1024 * 1024

const optional = Schema.optionalKey

const literals = <const Values extends ReadonlyArray<string>>(values: Values, description: string) =>
  Schema.Literals(values).annotate({ description })

export const ParticipantState = Schema.Struct({
  participantId: Field.text("Id of the participant", "impact-analyst"),
  role: optional(Field.text("Role in the session, when the runtime reports it", "voter")),
  status: ParticipantStatus,
  latestActivityAt: optional(Field.time("When it last sent something")),
  latestSummary: optional(Field.text("Type of its last message", "Vote"))
}).annotate({ identifier: "ParticipantState", description: "A participant, declared or seen" })
export type ParticipantState = typeof ParticipantState.Type

export const GraphNode = Schema.Struct({
  id: Field.text("Participant id, or __start, __proposal, __decision, __outcome", "__decision"),
  kind: literals(["participant", "start", "proposal", "decision", "output"], "What the node represents"),
  status: ParticipantStatus
}).annotate({ identifier: "GraphNode", description: "A participant or a step of the session" })
export type GraphNode = typeof GraphNode.Type

export const GraphEdge = Schema.Struct({
  from: Field.text("Id of the node it leaves", "impact-analyst"),
  to: Field.text("Id of the node it enters", "__decision"),
  kind: Field.text("What went along it: a message type, or a step such as proposes, review, commits", "vote"),
  ts: Field.time("Last time something went along it")
}).annotate({ identifier: "GraphEdge", description: "Traffic between two nodes" })
export type GraphEdge = typeof GraphEdge.Type

export const Contribution = Schema.Struct({
  participantId: Field.text("Who contributed", "impact-analyst"),
  action: Field.text("Vote, recommendation or option, else the message type", "APPROVE"),
  confidence: optional(Field.number("0 to 1, as the participant stated it")),
  reasons: Field.texts("Its reasons"),
  ts: Field.time("When it was received"),
  vote: optional(literals(["allow", "deny"], "How it counts; absent for abstentions and opinions")),
  messageType: optional(Field.text("Type of the message", "Vote")),
  implicit: optional(Field.flag("True when a time-out spoke for the participant"))
}).annotate({ identifier: "DecisionContribution", description: "What one participant said to a decision" })
export type Contribution = typeof Contribution.Type

export const DecisionCurrent = Schema.Struct({
  action: optional(
    Field.text("Action of the commitment; while open, the proposal that is talked about", "fail_over_now")
  ),
  confidence: optional(Field.number("0 to 1: stated, else the share of allowing votes")),
  finalized: Field.flag("Whether a commitment made the decision binding"),
  proposalId: optional(Field.text("Proposal that the decision is about")),
  outcomePositive: optional(
    Schema.NullOr(Schema.Boolean).annotate({
      description: "Whether it was a yes; null when unknown, absent while open"
    })
  ),
  commitmentHash: optional(
    Field.text(
      "Hash of the commitment, as clients of the runtime compute it",
      "sha256:ee762ac67c1745ca6411aa48af98b4ed12704f01d677cf1b76f713281302bd93"
    )
  ),
  receipt: optional(ReceiptReport),
  commitments: optional(
    Field.integer("Commitments on record, of which this is the last; absent when there is one at most", 2)
  ),
  prompt: optional(Field.text("Question of the initiator's first proposal")),
  resolvedAt: optional(Field.time("When it was finalized")),
  resolvedBy: optional(Field.text("Who committed it", "incident-commander")),
  reasons: Field.texts("Reasons of the decision"),
  proposals: Schema.Array(Contribution).annotate({
    description: `The last ${MAX_DECISION_PROPOSALS} contributions, oldest first`
  }),
  supersedes: optional(
    Schema.Struct({
      sessionId: Field.text("Session of the earlier decision"),
      commitmentHash: Field.text("Hash of its commitment"),
      canonical: Field.flag("Whether the hash has the form sha256: and 64 hex digits")
    }).annotate({ description: "The earlier decision that this one replaces" })
  )
}).annotate({ identifier: "DecisionState", description: "The decision of the session, open or final" })
export type DecisionCurrent = typeof DecisionCurrent.Type

export const SignalEntry = Schema.Struct({
  id: Field.text("Id of the signal's message"),
  name: Field.text("Type of the signal", "llm.call.completed"),
  severity: optional(Field.text("As the sender stated it", "high")),
  sourceParticipantId: optional(Field.text("Who emitted it", "impact-analyst")),
  confidence: optional(Field.number("0 to 1, as the sender stated it")),
  payload: optional(Schema.Json.annotate({ description: "The decoded payload" })),
  ts: Field.time("When it was received"),
  acknowledgedAt: optional(Field.time("When it was first acknowledged")),
  acknowledgedBy: optional(Field.text("Who acknowledged it"))
}).annotate({ identifier: "SignalEntry", description: "An ambient signal" })
export type SignalEntry = typeof SignalEntry.Type

export const ProgressEntry = Schema.Struct({
  participantId: Field.text("Who reported", "impact-analyst"),
  percentage: optional(Field.number("0 to 100", 50)),
  message: Field.text("What was reported; may be empty"),
  ts: Field.time("When it was received")
}).annotate({ identifier: "ProgressEntry", description: "A report of progress" })
export type ProgressEntry = typeof ProgressEntry.Type

export const TimelineEntry = Schema.Struct({
  id: Field.text("Id of the event"),
  seq: Field.integer("seq of the event"),
  ts: Field.time("Time of the event"),
  type: CanonicalEventType,
  subject: optional(Subject)
}).annotate({ identifier: "TimelineEntry", description: "An event in short" })
export type TimelineEntry = typeof TimelineEntry.Type

export const CommitmentEvaluation = Schema.Struct({
  commitmentId: Field.text("Commitment that was evaluated"),
  decision: literals(["allow", "deny"], "What the policy says"),
  reasons: Field.texts("Why"),
  ts: Field.time("When it was evaluated")
}).annotate({ identifier: "CommitmentEvaluation", description: "What the policy said to a commitment" })
export type CommitmentEvaluation = typeof CommitmentEvaluation.Type

export const PolicyDenialEntry = Schema.Struct({
  participantId: optional(Field.text("Sender of the refused message; absent when unknown")),
  messageId: optional(Field.text("The refused message; absent when unknown")),
  commitmentId: optional(Field.text("Commitment in it")),
  message: Field.text("What the runtime says"),
  denials: Schema.Array(DenialReason).annotate({
    description: "Its reasons with their codes; empty for a runtime that sends words only"
  }),
  denialsOmitted: optional(Field.integer("How many more there are; absent for none")),
  ts: Field.time("When it was reported")
}).annotate({ identifier: "PolicyDenialEntry", description: "A message that the policy refused" })
export type PolicyDenialEntry = typeof PolicyDenialEntry.Type

export const VoteTallyEntry = Schema.Struct({
  commitmentId: Field.text("Proposal that is voted on"),
  allow: Field.integer("Votes for it"),
  deny: Field.integer("Votes against it"),
  threshold: Field.integer("Half of the required votes, rounded up"),
  requiredApprovals: optional(Field.integer("Approvals that the request of a quorum session demands")),
  quorum: Schema.Struct({
    required: Field.integer("Participants with the role voter; all participants when there are no voters"),
    cast: Field.integer("Votes for and against")
  }).annotate({ description: "How many may vote, and have" }),
  voters: optional(
    Schema.Struct({
      allow: Field.integer("Participants whose last vote is for it"),
      deny: Field.integer("Participants whose last vote is against it"),
      required: Field.integer("The same as quorum.required")
    }).annotate({ description: "Each participant counted once; absent for more participants than the state can track" })
  )
}).annotate({ identifier: "VoteTallyEntry", description: "The votes on one proposal" })
export type VoteTallyEntry = typeof VoteTallyEntry.Type

export const ExpectedCommitment = Schema.Struct({
  id: Field.text("Id of the expectation; the same as commitmentId"),
  commitmentId: Field.text("Commitment that is expected"),
  title: optional(Field.text("Its title")),
  description: optional(Field.text("What it is for")),
  requiredRoles: optional(Field.texts("Roles that must agree")),
  policyRef: optional(Field.text("Policy that demands it"))
}).annotate({ identifier: "ExpectedCommitment", description: "A commitment that the policy expects of the session" })
export type ExpectedCommitment = typeof ExpectedCommitment.Type

export const LlmCall = Schema.Struct({
  participantId: Field.text("Who made the call", "impact-analyst"),
  model: optional(Field.text("Model", "vendor1-4o-mini")),
  promptTokens: Field.number("Input tokens"),
  completionTokens: Field.number("Output tokens"),
  totalTokens: Field.number("All tokens: as stated, and at least the sum of the two"),
  usage: optional(
    Schema.Literal("missing").annotate({ description: "Present when the agent stated no count; the counts are 0 then" })
  ),
  latencyMs: optional(Field.number("Duration of the call, milliseconds")),
  ts: Field.time("When it was reported"),
  messageId: optional(Field.text("Message that reported it")),
  artifactId: optional(Field.text("Artifact that holds prompt or response")),
  estimatedCostUsd: optional(Field.number("US dollars: as stated, else by the rate of the model")),
  uncountedCostUsd: optional(Field.number("US dollars that its span stated beyond the bound; not a part of any cost")),
  provider: optional(Field.text("Provider of the model, as the agent stated it", "openai")),
  cachedTokens: optional(Field.number("Part of the input that was read from a cache")),
  cacheWriteTokens: optional(Field.number("Part of the input that was written to a cache")),
  reasoningTokens: optional(Field.number("Part of the output")),
  costBasis: optional(
    Field.text("Where the cost comes from: supplied, override, builtin, catalogue, or fallback (a guess)", "catalogue")
  ),
  priceKey: optional(Field.text("Entry of the price list that the cost comes from", "openai/gpt-4o@0.1.8")),
  costDoubt: optional(
    Field.text("Why the price of the entry is a guess: latest, provider, region, tier, audio, image or cache", "latest")
  )
}).annotate({ identifier: "LlmCall", description: "A call of a language model, as an agent reported it" })
export type LlmCall = typeof LlmCall.Type

export const QuorumStatus = literals(["pending", "reached", "failed"], "Whether enough votes were cast")
export type QuorumStatus = typeof QuorumStatus.Type

const latest = (cap: number, what: string) => ({ description: `The last ${cap} ${what}, oldest first` })

/** The projected state of a run: what `GET /runs/:id/state` answers. */
export const RunState = Schema.Struct({
  run: Schema.Struct({
    runId: Field.text("Id of the run"),
    status: RunStatus,
    modeName: optional(Field.text("Session mode", "macp.mode.decision.v1")),
    runtimeSessionId: optional(Field.text("Session of the run")),
    startedAt: optional(Field.time("When the service began to search for the session")),
    endedAt: optional(Field.time("When the run ended")),
    traceId: optional(Field.text("W3C trace id: 32 hex digits")),
    initiator: optional(Field.text("Who opened the session; its first proposal gives decision.current.prompt")),
    intent: optional(Field.text("What the session is for, as its opener states it")),
    contextId: optional(Field.text("Context that the session was opened in")),
    extensionKeys: optional(Field.texts("Names of the extensions the session was opened with")),
    maxSuspendMs: optional(Field.number("Longest suspension that the session allows, milliseconds")),
    historyGap: optional(Field.flag("True when the runtime had dropped history before it could be read"))
  }).annotate({ description: "The run itself" }),
  participants: Schema.Array(ParticipantState).annotate({
    description: `Participants in order of first sight, at most ${MAX_TRACKED_PARTICIPANTS}`
  }),
  graph: Schema.Struct({
    nodes: Schema.Array(GraphNode).annotate({ description: "Participants, and the steps of the session" }),
    edges: Schema.Array(GraphEdge).annotate(latest(MAX_GRAPH_EDGES, "edges"))
  }).annotate({ description: "Who talked to whom about what" }),
  decision: Schema.Struct({ current: optional(DecisionCurrent) }).annotate({
    description: "Empty until a proposal is made"
  }),
  signals: Schema.Struct({ signals: Schema.Array(SignalEntry).annotate(latest(MAX_SIGNALS, "signals")) }).annotate({
    description: "Ambient signals"
  }),
  progress: Schema.Struct({
    entries: Schema.Array(ProgressEntry).annotate(latest(MAX_PROGRESS_ENTRIES, "reports"))
  }).annotate({ description: "Reports of progress" }),
  timeline: Schema.Struct({
    latestSeq: Field.integer("seq of the last event that is folded in; 0 when there is none"),
    latestIndex: Field.integer("index of that event"),
    totalEvents: Field.integer("Events that are folded in"),
    recent: Schema.Array(TimelineEntry).annotate(latest(MAX_TIMELINE_RECENT, "events"))
  }).annotate({ description: "How far the state reaches" }),
  trace: Schema.Struct({
    traceId: optional(Field.text("Trace id of the last event that has one")),
    spanCount: Field.integer("Events that carry a span id"),
    lastSpanId: optional(Field.text("The last of them")),
    linkedArtifacts: Field.texts("Ids of the run's artifacts")
  }).annotate({ description: "The distributed trace of the run" }),
  outboundMessages: Schema.Struct({
    total: Field.integer("Messages whose fate was seen"),
    queued: Field.integer("Not decided yet"),
    accepted: Field.integer("Accepted by the runtime"),
    rejected: Field.integer("Refused by the runtime")
  }).annotate({ description: "Messages of the agents, counted" }),
  policy: Schema.Struct({
    policyVersion: Field.text("Governance policy of the session; empty until it is known"),
    policyDescription: optional(Field.text("What the policy says of itself")),
    resolvedAt: optional(
      Field.text("When the policy was resolved, as the runtime says, else when the decision was final")
    ),
    outcomePositive: optional(
      Schema.NullOr(Schema.Boolean).annotate({ description: "Of the final decision; null when unknown" })
    ),
    commitmentEvaluations: Schema.Array(CommitmentEvaluation).annotate(
      latest(MAX_COMMITMENT_EVALUATIONS, "evaluations")
    ),
    denials: optional(Schema.Array(PolicyDenialEntry).annotate(latest(MAX_POLICY_DENIALS, "refused messages"))),
    expectedCommitments: optional(
      Schema.Array(ExpectedCommitment).annotate({ description: "Commitments that the policy expects" })
    ),
    requiredApprovals: optional(Field.integer("Approvals that the latest request of a quorum session demands")),
    voteTally: optional(Schema.Array(VoteTallyEntry).annotate({ description: "Votes by proposal" })),
    lastWords: optional(
      Schema.Array(Schema.NullOr(Schema.String)).annotate({
        description:
          "For each entry of voteTally a letter a participant, in the order of `participants`: a for it, d against it, " +
          "- neither; null for more participants than the state can track"
      })
    ),
    voteTallyTruncated: optional(
      Field.flag("True when more proposals had votes than the state can hold: the latest are listed")
    ),
    quorumStatus: optional(QuorumStatus)
  }).annotate({ description: "What governs the session" }),
  llm: Schema.Struct({
    calls: Schema.Array(LlmCall).annotate(latest(MAX_LLM_CALLS, "calls")),
    totals: Schema.Struct({
      callCount: Field.integer("Calls"),
      ...usageSums
    }).annotate({ description: "Over the whole run, also of calls that are no longer listed" })
  }).annotate({ description: "Calls of language models" })
}).annotate({
  identifier: "RunState",
  description: "A run as a fold of its events. All sections are always there"
})
export type RunState = typeof RunState.Type
