import type { BoundPolicy, PolicyRules } from "./PolicyRules.ts"
import { isFrom, type Release, unsupportedVersion } from "./Release.ts"

/** What the rules look at: the accepted messages of a decision, values normalised, over all proposals together. */
export interface DecisionRecord {
  readonly participants: ReadonlyArray<string>
  readonly evaluations: Iterable<{ readonly recommendation: string; readonly confidence: number }>
  readonly criticalObjections: number
  readonly votes: Iterable<{ readonly voter: string; readonly vote: string }>
}

/**
 * Evaluates a decision's policy when a Commitment arrives (runtime-wire section 9.5): every reason to refuse, empty
 * when the commitment is allowed. Pure: rules, history, participants and outcome decide alone.
 */
export const denyDecision = (
  policy: BoundPolicy,
  record: DecisionRecord,
  outcomePositive: boolean,
  release: Release
): ReadonlyArray<string> => {
  const unsupported = unsupportedVersion(policy, release)
  if (unsupported !== undefined) return [unsupported]
  const { rules } = policy
  const vetoed = isVetoed(rules, record)
  const declinedByVeto =
    vetoed && !outcomePositive && rules.objection_handling.critical_objection_action === "finalize_decline"
  // The veto itself authorises the decline: from 0.7.6 nothing that prepares a vote, and no vote, is asked for.
  if (declinedByVeto && isFrom(release, "0.7.6")) return []
  const reasons = [...missingEvaluations(rules, record)]
  if (vetoed && !declinedByVeto) {
    const { critical_objection_action, veto_threshold } = rules.objection_handling
    reasons.push(
      `${critical_objection_action}: ${record.criticalObjections} critical of ${veto_threshold} needed to veto`
    )
  }
  const votes = [...record.votes]
  const tally = count(rules, record.participants, votes, release)
  const quorum = missingQuorum(rules, record.participants, votes)
  if (quorum !== undefined) reasons.push(quorum)
  const refusal = mapOutcome(policy, tally, outcomePositive, release)
  if (refusal !== undefined) reasons.push(refusal)
  return reasons
}

/** 2/3 when a supermajority names no threshold above one half. */
const SUPERMAJORITY_THRESHOLD = 2 / 3
const MAJORITY_THRESHOLD = 0.5

const missingEvaluations = (rules: PolicyRules, record: DecisionRecord): ReadonlyArray<string> => {
  const { minimum_confidence, required_before_voting } = rules.evaluation
  if (!required_before_voting) return []
  for (const evaluation of record.evaluations) {
    if (evaluation.recommendation !== "REVIEW" && evaluation.confidence >= minimum_confidence) return []
  }
  return minimum_confidence > 0
    ? [`no evaluation reaches the minimum confidence ${minimum_confidence}`]
    : ["an evaluation is required before voting"]
}

const isVetoed = (rules: PolicyRules, record: DecisionRecord): boolean =>
  rules.objection_handling.critical_severity_vetoes &&
  record.criticalObjections >= rules.objection_handling.veto_threshold

type Vote = { readonly voter: string; readonly vote: string }

const missingQuorum = (
  rules: PolicyRules,
  participants: ReadonlyArray<string>,
  votes: ReadonlyArray<Vote>
): string | undefined => {
  if (!rules.commitment.require_vote_quorum) return undefined
  const { type, value } = rules.voting.quorum
  const voters = new Set(votes.map(({ voter }) => voter)).size
  const reached = type === "count" ? voters : (voters / participants.length) * 100
  return reached >= value
    ? undefined
    : `vote quorum not met: ${voters} voters of ${participants.length} participants (quorum: ${value} ${type})`
}

interface Tally {
  readonly approve: number
  readonly reject: number
  readonly passes: boolean
}

const count = (
  rules: PolicyRules,
  participants: ReadonlyArray<string>,
  votes: ReadonlyArray<Vote>,
  release: Release
): Tally => {
  const weights = new Map(Object.entries(rules.voting.weights))
  const unlisted = isFrom(release, "0.7.6") ? 0 : 1
  const weigh = (voter: string) => (rules.voting.algorithm === "weighted" ? (weights.get(voter) ?? unlisted) : 1)
  const sum = (wanted: string) =>
    votes.reduce((total, { vote, voter }) => (vote === wanted ? total + weigh(voter) : total), 0)
  const approve = sum("APPROVE")
  const reject = sum("REJECT")
  return { approve, reject, passes: passes(rules, participants, votes, approve, reject) }
}

const passes = (
  rules: PolicyRules,
  participants: ReadonlyArray<string>,
  votes: ReadonlyArray<Vote>,
  approve: number,
  reject: number
): boolean => {
  const { algorithm, threshold = MAJORITY_THRESHOLD } = rules.voting
  switch (algorithm) {
    case "none":
      return true
    case "plurality":
      return approve > reject
    case "unanimous": {
      const approvers = new Set(votes.filter(({ vote }) => vote === "APPROVE").map(({ voter }) => voter))
      return reject === 0 && participants.every((participant) => approvers.has(participant))
    }
    case "majority":
    case "weighted":
      return approve / (approve + reject) >= threshold
    case "supermajority":
      return approve / (approve + reject) >= (threshold > MAJORITY_THRESHOLD ? threshold : SUPERMAJORITY_THRESHOLD)
  }
}

const mapOutcome = (
  policy: BoundPolicy,
  tally: Tally,
  outcomePositive: boolean,
  release: Release
): string | undefined => {
  const { commitment, voting } = policy.rules
  if (voting.algorithm === "none") return undefined
  const told = `${tally.approve} approve, ${tally.reject} reject (${voting.algorithm})`
  if (tally.approve + tally.reject === 0) {
    // Versions 1 and 2 fail open for a positive outcome; version 3 closed that.
    const failsOpen = policy.schemaVersion < 3 && !commitment.require_vote_quorum
    return outcomePositive && failsOpen ? undefined : "no votes cast"
  }
  if (outcomePositive) return tally.passes ? undefined : `the votes do not carry a positive outcome: ${told}`
  if (tally.passes && !commitment.allow_decline_over_approval) return `the votes approve, a decline is refused: ${told}`
  if (tally.passes && !isFrom(release, "0.7.6")) return undefined
  return tally.reject > 0 ? undefined : `no reject vote supports a decline: ${told}`
}
