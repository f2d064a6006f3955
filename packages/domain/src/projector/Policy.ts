import type { EventData, EventOf, KnownEvent } from "../events/CanonicalEvent.ts"
import { voteOf } from "../Outcome.ts"
import {
  type ExpectedCommitment,
  MAX_COMMITMENT_EVALUATIONS,
  MAX_VOTE_TALLY_BYTES,
  type RunState,
  type VoteTallyEntry
} from "../RunState.ts"
import type { RunStatus } from "../RunStatus.ts"
import { boundName, boundProse, boundTexts, bytesOfText, MAX_STATE_NAME_BYTES } from "./Bounds.ts"
import { appendCapped, replaceAt } from "./Capped.ts"

type Policy = RunState["policy"]
type Participants = RunState["participants"]

const VOTER_ROLE = "voter"
/** Of the description, and of the roles, of one of the many commitments that may be expected. */
const MAX_EXPECTATION_BYTES = 1_024
/** A tally without its id: keys, punctuation and five counts. */
const TALLY_BYTES = 160
/** So many fit whatever their ids. */
const FEW_TALLIES = Math.floor(MAX_VOTE_TALLY_BYTES / (TALLY_BYTES + MAX_STATE_NAME_BYTES))
const TALLIED_TYPES: ReadonlySet<string> = new Set(["Vote", "Approve", "Reject", "Accept", "Evaluation"])

/** Folds the section `policy`: what governs the session, what it expects, and how the votes stand. */
export const foldPolicy = (policy: Policy, event: KnownEvent, participants: Participants): Policy => {
  switch (event.type) {
    case "session.bound":
    case "session.state.changed":
      return bound(policy, event)
    case "policy.resolved":
      return resolved(policy, event)
    case "policy.commitment.evaluated":
      return evaluated(policy, event)
    case "proposal.updated":
      return voted(policy, event, participants)
    case "decision.finalized":
      return finalized(policy, event)
    default:
      return policy
  }
}

/** A run that failed or was cancelled before its commitment was allowed has missed its quorum. */
export const sweepPolicy = (policy: Policy, runStatus: RunStatus): Policy =>
  runStatus === "completed" || policy.quorumStatus === "reached" ? policy : { ...policy, quorumStatus: "failed" }

const bound = (policy: Policy, { data }: EventOf<"session.bound" | "session.state.changed">): Policy => {
  const { policyVersion } = data
  return policyVersion === undefined || policy.policyVersion !== ""
    ? policy
    : { ...policy, policyVersion: boundName(policyVersion) }
}

const resolved = (policy: Policy, { data, ts }: EventOf<"policy.resolved">): Policy => {
  const { expectedCommitments, policyVersion = policy.policyVersion, resolvedAt = ts } = data
  return {
    ...policy,
    policyVersion: boundName(policyVersion),
    ...(data.description !== undefined && { policyDescription: boundProse(data.description) }),
    resolvedAt: boundName(resolvedAt),
    ...(expectedCommitments !== undefined && { expectedCommitments: expectedCommitments.map(expectedCommitmentOf) }),
    quorumStatus: policy.quorumStatus ?? "pending"
  }
}

type Expectation = NonNullable<EventData<"policy.resolved">["expectedCommitments"]>[number]

const expectedCommitmentOf = (expected: Expectation): ExpectedCommitment => {
  const { commitmentId, description, id, policyRef, requiredRoles, title } = expected
  return {
    id: boundName(id),
    commitmentId: boundName(commitmentId),
    ...(title !== undefined && { title: boundName(title) }),
    ...(description !== undefined && { description: boundProse(description, MAX_EXPECTATION_BYTES) }),
    ...(requiredRoles.length > 0 && { requiredRoles: boundTexts(requiredRoles, MAX_EXPECTATION_BYTES) }),
    ...(policyRef !== undefined && { policyRef: boundName(policyRef) })
  }
}

const evaluated = (policy: Policy, { data, ts }: EventOf<"policy.commitment.evaluated">): Policy => {
  const evaluation = {
    commitmentId: boundName(data.commitmentId),
    decision: data.decision,
    reasons: boundTexts(data.reasons),
    ts
  }
  return {
    ...policy,
    commitmentEvaluations: appendCapped(policy.commitmentEvaluations, evaluation, MAX_COMMITMENT_EVALUATIONS),
    quorumStatus: data.decision === "allow" ? "reached" : (policy.quorumStatus ?? "pending")
  }
}

const voted = (policy: Policy, { data }: EventOf<"proposal.updated">, participants: Participants): Policy => {
  const { messageType, recommendation, vote: stated } = data
  const vote = TALLIED_TYPES.has(messageType) ? voteOf(messageType, stated ?? recommendation) : undefined
  if (vote === undefined) return policy
  const commitmentId = boundName(data.proposalId)
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
  const voteTally = previous === undefined ? latestWithin([...tally, entry]) : replaceAt(tally, at, entry)
  const isCut = previous === undefined && voteTally.length <= tally.length
  return {
    ...policy,
    voteTally,
    ...(isCut && { voteTallyTruncated: true }),
    quorumStatus: policy.quorumStatus ?? "pending"
  }
}

/** The tallies that were begun last, as many as fit. */
const latestWithin = (tally: ReadonlyArray<VoteTallyEntry>): ReadonlyArray<VoteTallyEntry> => {
  if (tally.length <= FEW_TALLIES) return tally
  let first = tally.length
  let left = MAX_VOTE_TALLY_BYTES
  while (first > 0) {
    const entry = tally[first - 1]
    if (entry !== undefined) left -= bytesOfText(entry.commitmentId, MAX_STATE_NAME_BYTES) + TALLY_BYTES
    if (left < 0) break
    first -= 1
  }
  return first === 0 ? tally : tally.slice(first)
}

const requiredVotes = (participants: Participants): number => {
  let voters = 0
  for (const { role } of participants) if (role === VOTER_ROLE) voters += 1
  return voters > 0 ? voters : participants.length
}

/**
 * A commitment settles the policy too. Real runtimes send no evaluation of a commitment, so an open quorum follows the
 * outcome.
 */
const finalized = (policy: Policy, { data, ts }: EventOf<"decision.finalized">): Policy => {
  const { outcomePositive } = data
  const isOpen = policy.quorumStatus === undefined || policy.quorumStatus === "pending"
  const derived = outcomePositive === false ? "failed" : "reached"
  return {
    ...withCommitmentId(policy, data),
    outcomePositive,
    resolvedAt: policy.resolvedAt ?? ts,
    quorumStatus: isOpen ? derived : (policy.quorumStatus ?? derived)
  }
}

/** Until now a tally went by its proposal; a commitment that names the proposal gives it its own id. */
const withCommitmentId = (policy: Policy, data: EventData<"decision.finalized">): Policy => {
  if (policy.voteTally === undefined || data.proposalId === undefined || data.commitmentId === undefined) return policy
  const commitmentId = boundName(data.commitmentId)
  const proposalId = boundName(data.proposalId)
  const at = policy.voteTally.findIndex((entry) => entry.commitmentId === proposalId)
  const entry = policy.voteTally[at]
  return entry === undefined
    ? policy
    : { ...policy, voteTally: replaceAt(policy.voteTally, at, { ...entry, commitmentId }) }
}
