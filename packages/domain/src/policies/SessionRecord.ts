import type { BoundPolicy } from "./Policy.ts"
import type { Release } from "./Release.ts"

/** What a session is bound to from its start on. Every rule is evaluated against it. */
export interface SessionTerms {
  readonly initiator: string
  readonly participants: ReadonlyArray<string>
  readonly policy: BoundPolicy
  /** The release of the runtime whose rules the session follows for its whole life. */
  readonly release: Release
}

/**
 * The state of a session that rules evaluate, folded from its accepted messages; one shape for each mode that has
 * rules. Words are normalised: votes and recommendations in upper case, severities in lower case.
 */
export type SessionRecord = DecisionRecord | ProposalRecord | TaskRecord | HandoffRecord | QuorumRecord

/** Over all proposals together. */
export interface DecisionRecord {
  readonly mode: "decision"
  readonly proposals: number
  readonly evaluations: Iterable<{ readonly recommendation: string; readonly confidence: number }>
  /** `by` is empty for an objection that a forecast assumes. */
  readonly objections: Iterable<{ readonly by: string; readonly severity: string }>
  /** The one that counts of each voter and proposal. */
  readonly votes: Iterable<{ readonly voter: string; readonly vote: string }>
}

export interface ProposalRecord {
  readonly mode: "proposal"
  /** Offers and counter-offers that were not withdrawn. */
  readonly live: Iterable<{ readonly proposalId: string; readonly proposer: string }>
  readonly counters: number
  /** The proposal that a participant accepts now. */
  readonly acceptedBy: (participant: string) => string | undefined
  /** Whether a rejection is final. */
  readonly isRejected: boolean
}

export interface TaskRecord {
  readonly mode: "task"
  /** The participant that the request names; empty when it names none. */
  readonly requestedAssignee: string
  readonly assignee: string | undefined
  readonly rejections: Iterable<TaskRejection>
  /** How the task ended; a failure has no output. */
  readonly report: { readonly outputBytes: number } | undefined
}

export interface TaskRejection {
  readonly by: string
  /** Whether its assignee gave the task back, instead of a refusal before the assignment. */
  readonly whileAssigned: boolean
}

export interface HandoffRecord {
  readonly mode: "handoff"
  readonly isAnswered: boolean
  readonly isAccepted: boolean
}

export interface QuorumRecord {
  readonly mode: "quorum"
  /** The approvals that the request requires; undefined before the request. */
  readonly requiredApprovals: number | undefined
  readonly ballots: number
  readonly approvals: number
}

/** One reason why a Commitment is refused: the rule, the value on record, and the required value. */
export interface RuleRefusal {
  /** Section and name of the rule, as a policy spells them; `mode.*` for demands of the mode itself. */
  readonly rule: string
  readonly have: number | string
  readonly need: number | string
  /** All of it in words, for display. */
  readonly text: string
  /** With which the runtime denies; absent for demands of the mode itself, which are malformed messages. */
  readonly code?: DenialCode
}

/** A refusal of the policy itself, as the runtime sends it in the details of a denial. */
export interface PolicyRefusal extends RuleRefusal {
  readonly code: DenialCode
  /** Ids of the participants that it is about, sorted; absent for none. */
  readonly participants?: ReadonlyArray<string>
}

/** The codes of the reference runtime, since its release 0.9. Other runtimes can have more. */
export type DenialCode =
  | "veto"
  | "veto_hold"
  | "quorum_not_met"
  | "threshold_not_met"
  | "confidence_below_minimum"
  | "evaluation_required"
  | "no_votes"
  | "decline_over_approval"
  | "decline_not_backed"
  | "criterion_not_met"
  | "output_required"
  | "reassignment_not_allowed"
  | "unsupported_schema_version"
