import { arrayAt, isJsonObject, textAt, textsAt } from "../JsonReader.ts"
import { outcomeOf, voteOf } from "../Outcome.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import {
  type CommitmentEvaluation,
  type ExpectedCommitment,
  MAX_COMMITMENT_EVALUATIONS,
  MAX_EXPECTED_COMMITMENTS,
  MAX_VOTE_TALLIES,
  type RunState,
  type VoteTallyEntry
} from "../RunState.ts"
import type { RunStatus } from "../RunStatus.ts"
import { appendCapped, replaceAt } from "./Capped.ts"
import { proposalIdOf } from "./Decision.ts"
import type { EventView } from "./EventView.ts"

type Policy = RunState["policy"]
type Participants = RunState["participants"]

const VOTER_ROLE = "voter"
const TALLIED_TYPES: ReadonlySet<string> = new Set(["Vote", "Approve", "Reject", "Accept", "Evaluation"])
const ALLOWING = /^(?:allow|allowed|approve|approved)$/i

/** Folds the section `policy` (run-control-plane "Projection rules" 4 to 7; http-details section 7). */
export const foldPolicy = (policy: Policy, view: EventView, participants: Participants): Policy => {
  switch (view.event.type) {
    case "session.bound":
    case "session.state.changed":
      return bound(policy, view)
    case "policy.resolved":
      return resolved(policy, view)
    case "policy.commitment.evaluated":
      return evaluated(policy, view)
    case "proposal.updated":
      return voted(policy, view, participants)
    case "decision.finalized":
      return finalized(policy, view)
    default:
      return policy
  }
}

/** A run that failed or was cancelled before its commitment was allowed has missed its quorum (rule 6). */
export const sweepPolicy = (policy: Policy, runStatus: RunStatus): Policy =>
  runStatus === "completed" || policy.quorumStatus === "reached" ? policy : { ...policy, quorumStatus: "failed" }

const bound = (policy: Policy, { data }: EventView): Policy => {
  const policyVersion = textAt(data, "policyVersion")
  return policyVersion === undefined || policy.policyVersion !== "" ? policy : { ...policy, policyVersion }
}

const resolved = (policy: Policy, { data, payload, ts }: EventView): Policy => {
  const policyVersion =
    textAt(data, "policyVersion") ??
    textAt(payload, "policyVersion", "policy_version", "policyId", "policy_id") ??
    policy.policyVersion
  const policyDescription = textAt(payload, "description") ?? policy.policyDescription
  const expected = expectedCommitmentsOf(payload)
  return {
    ...policy,
    policyVersion,
    ...(policyDescription !== undefined && { policyDescription }),
    resolvedAt: textAt(payload, "resolvedAt", "resolved_at") ?? ts,
    ...(expected !== undefined && { expectedCommitments: expected }),
    quorumStatus: policy.quorumStatus ?? "pending"
  }
}

const expectedCommitmentsOf = (payload: JsonObject): ReadonlyArray<ExpectedCommitment> | undefined => {
  const listed = arrayAt(payload, "expectedCommitments", "expected_commitments")?.filter(isJsonObject)
  return listed?.slice(0, MAX_EXPECTED_COMMITMENTS).flatMap((item) => {
    const id = textAt(item, "commitmentId", "commitment_id", "id")
    return id === undefined ? [] : [expectedCommitmentOf(id, item)]
  })
}

const expectedCommitmentOf = (id: string, item: JsonObject): ExpectedCommitment => {
  const title = textAt(item, "title")
  const description = textAt(item, "description")
  const requiredRoles = textsAt(item, "requiredRoles", "required_roles")
  const policyRef = textAt(item, "policyRef", "policy_ref")
  return {
    id: textAt(item, "id") ?? id,
    commitmentId: id,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(requiredRoles.length > 0 && { requiredRoles }),
    ...(policyRef !== undefined && { policyRef })
  }
}

const evaluated = (policy: Policy, { payload, subjectId, ts }: EventView): Policy => {
  const decision = ALLOWING.test(textAt(payload, "decision") ?? "") ? "allow" : "deny"
  const evaluation: CommitmentEvaluation = {
    commitmentId: textAt(payload, "commitmentId", "commitment_id") ?? subjectId,
    decision,
    reasons: textsAt(payload, "reasons"),
    ts
  }
  return {
    ...policy,
    commitmentEvaluations: appendCapped(policy.commitmentEvaluations, evaluation, MAX_COMMITMENT_EVALUATIONS),
    quorumStatus: decision === "allow" ? "reached" : (policy.quorumStatus ?? "pending")
  }
}

const voted = (policy: Policy, view: EventView, participants: Participants): Policy => {
  const vote = TALLIED_TYPES.has(view.messageType) ? voteOf(view.messageType, view.payload) : undefined
  if (vote === undefined) return policy
  const commitmentId = proposalIdOf(view)
  const tally = policy.voteTally ?? []
  const at = tally.findIndex((entry) => entry.commitmentId === commitmentId)
  const previous = tally[at]
  const allow = (previous?.allow ?? 0) + (vote === "allow" ? 1 : 0)
  const deny = (previous?.deny ?? 0) + (vote === "deny" ? 1 : 0)
  const required = requiredVotes(participants)
  const entry: VoteTallyEntry = {
    commitmentId,
    allow,
    deny,
    threshold: Math.ceil(required / 2),
    quorum: { required, cast: allow + deny }
  }
  return {
    ...policy,
    voteTally: previous === undefined ? appendCapped(tally, entry, MAX_VOTE_TALLIES) : replaceAt(tally, at, entry),
    quorumStatus: policy.quorumStatus ?? "pending"
  }
}

const requiredVotes = (participants: Participants): number => {
  let voters = 0
  for (const { role } of participants) if (role === VOTER_ROLE) voters += 1
  return voters > 0 ? voters : participants.length
}

/**
 * A commitment settles the policy too. Real runtimes send no evaluation of a commitment, so an open quorum follows the
 * outcome (http-details section 15, "quorumStatus from a bare Commitment").
 */
const finalized = (policy: Policy, view: EventView): Policy => {
  const outcomePositive = outcomeOf(view.payload)
  const isOpen = policy.quorumStatus === undefined || policy.quorumStatus === "pending"
  const derived = outcomePositive === false ? "failed" : "reached"
  return {
    ...withCommitmentId(policy, view.payload),
    outcomePositive,
    resolvedAt: policy.resolvedAt ?? view.ts,
    quorumStatus: isOpen ? derived : (policy.quorumStatus ?? derived)
  }
}

/** Until now a tally went by its proposal; a commitment that names the proposal gives it its own id (rule 5). */
const withCommitmentId = (policy: Policy, payload: JsonObject): Policy => {
  const proposalId = textAt(payload, "proposalId", "proposal_id")
  const commitmentId = textAt(payload, "commitmentId", "commitment_id")
  if (policy.voteTally === undefined || proposalId === undefined || commitmentId === undefined) return policy
  const at = policy.voteTally.findIndex((entry) => entry.commitmentId === proposalId)
  const entry = policy.voteTally[at]
  return entry === undefined
    ? policy
    : { ...policy, voteTally: replaceAt(policy.voteTally, at, { ...entry, commitmentId }) }
}
