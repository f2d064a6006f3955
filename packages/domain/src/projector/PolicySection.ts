import type { EventData, EventOf, KnownEvent } from "../events/CanonicalEvent.ts"
import { boundDenials } from "../run/BoundDenials.ts"
import { type Vote, voteOf } from "../run/Outcome.ts"
import type { RunStatus } from "../run/RunStatus.ts"
import {
  appendCapped,
  boundName,
  boundProse,
  boundTexts,
  bytesOfText,
  MAX_STATE_NAME_BYTES,
  replaceAt
} from "../values/Bounds.ts"
import {
  type ExpectedCommitment,
  MAX_COMMITMENT_EVALUATIONS,
  MAX_POLICY_DENIALS,
  MAX_VOTE_TALLY_BYTES,
  type PolicyDenialEntry,
  type RunState,
  type VoteTallyEntry
} from "./RunState.ts"

type Policy = RunState["policy"]
type Participants = RunState["participants"]

const VOTER_ROLE = "voter"
/** Of the description, and of the roles, of one of the many commitments that may be expected. */
const MAX_EXPECTATION_BYTES = 1_024
/** Last votes that are kept, of all participants on all proposals: one byte each. */
const MAX_LAST_WORDS = 128 * 1024
/** A tally without its id and last votes: keys, punctuation and nine counts. */
const TALLY_BYTES = 280
const MAX_TALLIES_BYTES = MAX_VOTE_TALLY_BYTES - MAX_LAST_WORDS
/** So many fit whatever their ids. */
const FEW_TALLIES = Math.floor(MAX_TALLIES_BYTES / (TALLY_BYTES + MAX_STATE_NAME_BYTES))
const TALLIED_TYPES: ReadonlySet<string> = new Set(["Vote", "Approve", "Reject", "Accept", "Evaluation"])
/** Without a yes or no these cancel the earlier vote of their sender. */
const ABSTAINING_TYPES: ReadonlySet<string> = new Set(["Vote", "Abstain"])

/** Folds the section `policy`: the policy of the session, the expected commitments, and the tallies of votes. */
export const foldPolicy = (policy: Policy, event: KnownEvent, participants: Participants): Policy => {
  switch (event.type) {
    case "session.bound":
      return withoutLastWords(bound(policy, event))
    case "session.state.changed":
      return bound(policy, event)
    case "policy.resolved":
      return resolved(policy, event)
    case "policy.commitment.evaluated":
      return evaluated(policy, event)
    case "policy.denied":
      return denied(policy, event)
    case "proposal.created":
      return requested(policy, event)
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

/** The normaliser bounds the reasons of an event, and another writer of the log may not have. */
const denied = (policy: Policy, { data, ts }: EventOf<"policy.denied">): Policy => {
  const { commitmentId, denials, denialsOmitted = 0, errorMessage, messageId, reasons, sender } = data
  const entry: PolicyDenialEntry = {
    ...(sender !== "" && { participantId: boundName(sender) }),
    ...(messageId !== "" && { messageId: boundName(messageId) }),
    ...(commitmentId !== undefined && { commitmentId: boundName(commitmentId) }),
    message: boundProse(reasons.length > 0 ? reasons.join("; ") : (errorMessage ?? "policy denied")),
    ...boundDenials({ denials, denialsOmitted }),
    ts
  }
  return { ...policy, denials: appendCapped(policy.denials ?? [], entry, MAX_POLICY_DENIALS) }
}

/** A session has one request, and its votes follow it. */
const requested = (policy: Policy, { data: { requiredApprovals } }: EventOf<"proposal.created">): Policy =>
  requiredApprovals !== undefined && Number.isSafeInteger(requiredApprovals) ? { ...policy, requiredApprovals } : policy

const voted = (policy: Policy, { data }: EventOf<"proposal.updated">, participants: Participants): Policy => {
  const { messageType, recommendation, vote: stated } = data
  const commitmentId = boundName(data.proposalId)
  const tally = policy.voteTally ?? []
  const at = tally.findIndex((entry) => entry.commitmentId === commitmentId)
  const previous = tally[at]
  const vote = TALLIED_TYPES.has(messageType) ? voteOf(messageType, stated ?? recommendation) : undefined
  const isWithdrawn = vote === undefined && ABSTAINING_TYPES.has(messageType)
  if (vote === undefined && (!isWithdrawn || previous === undefined)) return policy
  const allow = (previous?.allow ?? 0) + (vote === "allow" ? 1 : 0)
  const deny = (previous?.deny ?? 0) + (vote === "deny" ? 1 : 0)
  const required = requiredVotes(participants)
  const index = previous === undefined ? tally.length : at
  const before = previous === undefined ? "" : policy.lastWords?.[at]
  const fits = Math.max(tally.length, index + 1) * participants.length <= MAX_LAST_WORDS
  const words =
    typeof before === "string" && fits ? withVote(before, positionOf(participants, data.sender), vote) : null
  const entry: VoteTallyEntry = {
    commitmentId,
    allow,
    deny,
    threshold: Math.ceil(required / 2),
    ...(policy.requiredApprovals !== undefined && { requiredApprovals: policy.requiredApprovals }),
    quorum: { required, cast: allow + deny },
    ...(words !== null && { voters: { allow: count(words, ALLOWS), deny: count(words, DENIES), required } })
  }
  const voteTally = previous === undefined ? latestWithin([...tally, entry]) : replaceAt(tally, at, entry)
  const isCut = previous === undefined && voteTally.length <= tally.length
  const lastWords = tally.map((_, each) => policy.lastWords?.[each] ?? null)
  lastWords[index] = words
  return {
    ...policy,
    voteTally,
    lastWords: lastWords.slice(-voteTally.length),
    ...(isCut && { voteTallyTruncated: true }),
    quorumStatus: policy.quorumStatus ?? "pending"
  }
}

/** A letter for each participant, in the order of the state's list. */
const ALLOWS = "a"
const DENIES = "d"
const SILENT = "-"

const positionOf = (participants: Participants, sender: string): number => {
  const participantId = boundName(sender)
  return participants.findIndex((participant) => participant.participantId === participantId)
}

/** The last votes with the one at `at` changed; null when the voter is not among the participants. */
const withVote = (words: string, at: number, vote: Vote | undefined): string | null => {
  if (at < 0) return null
  const letter = vote === undefined ? SILENT : vote === "allow" ? ALLOWS : DENIES
  const known = words.padEnd(at, SILENT)
  return known.slice(0, at) + letter + known.slice(at + 1)
}

const count = (words: string, letter: string): number => words.split(letter).length - 1

/** The list of participants changes its order: votes that were kept in that order are dropped. */
const withoutLastWords = (policy: Policy): Policy => {
  if (policy.voteTally === undefined) return policy
  const voteTally = policy.voteTally.map(({ voters: _, ...entry }) => entry)
  return { ...policy, voteTally, lastWords: voteTally.map(() => null) }
}

/** The tallies that were begun last, as many as fit. */
const latestWithin = (tally: ReadonlyArray<VoteTallyEntry>): ReadonlyArray<VoteTallyEntry> => {
  if (tally.length <= FEW_TALLIES) return tally
  let first = tally.length
  let left = MAX_TALLIES_BYTES
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
 * outcome, and the votes when the outcome is not known.
 */
const finalized = (policy: Policy, { data, ts }: EventOf<"decision.finalized">): Policy => {
  const { outcomePositive } = data
  const isOpen = policy.quorumStatus === undefined || policy.quorumStatus === "pending"
  const isRefused = outcomePositive === false || (outcomePositive === null && areBallotsAgainst(policy, data))
  const derived = isRefused ? "failed" : "reached"
  return {
    ...withCommitmentId(policy, data),
    outcomePositive,
    resolvedAt: policy.resolvedAt ?? ts,
    quorumStatus: isOpen ? derived : (policy.quorumStatus ?? derived)
  }
}

/** Whether more votes are against the proposal of a commitment than for it; without a name, against the latest one. */
const areBallotsAgainst = ({ voteTally = [] }: Policy, { proposalId }: EventData<"decision.finalized">): boolean => {
  const tally =
    proposalId === undefined
      ? voteTally.at(-1)
      : voteTally.find(({ commitmentId }) => commitmentId === boundName(proposalId))
  if (tally === undefined) return false
  const { allow, deny } = tally.voters ?? tally
  return deny > allow
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
