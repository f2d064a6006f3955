import { isReleaseFrom } from "./Release.ts"
import type { PolicyRules } from "./RuleSchemas.ts"
import type { DecisionRecord, SessionTerms } from "./SessionRecord.ts"

/** Every reason of a decision's policy to refuse a Commitment with this outcome, empty when it is allowed. */
export const denyDecision = (
  terms: SessionTerms,
  record: DecisionRecord,
  outcomePositive: boolean
): ReadonlyArray<string> => {
  const { rules } = terms.policy
  const critical = [...record.objections].filter(({ severity }) => severity === "critical").length
  const { critical_objection_action, critical_severity_vetoes, veto_threshold } = rules.objection_handling
  const isVetoed = critical_severity_vetoes && critical >= veto_threshold
  const declinedByVeto = isVetoed && !outcomePositive && critical_objection_action === "finalize_decline"
  // The veto itself authorises the decline: from 0.7.6 nothing that prepares a vote, and no vote, is asked for.
  if (declinedByVeto && isReleaseFrom(terms.release, "0.7.6")) return []
  const votes = [...record.votes]
  return [
    missingEvaluation(rules, record),
    isVetoed && !declinedByVeto
      ? `${critical_objection_action}: ${critical} critical of ${veto_threshold} needed to veto`
      : undefined,
    missingQuorum(terms, votes),
    unsupportedOutcome(terms, tally(terms, votes), outcomePositive)
  ].filter((reason) => reason !== undefined)
}

/** 2/3 when a supermajority names no threshold above one half. */
const SUPERMAJORITY_THRESHOLD = 2 / 3
const MAJORITY_THRESHOLD = 0.5

const missingEvaluation = ({ evaluation }: PolicyRules, record: DecisionRecord): string | undefined => {
  const { minimum_confidence, required_before_voting } = evaluation
  if (!required_before_voting) return undefined
  for (const { confidence, recommendation } of record.evaluations) {
    if (recommendation !== "REVIEW" && confidence >= minimum_confidence) return undefined
  }
  return minimum_confidence > 0
    ? `no evaluation reaches the minimum confidence ${minimum_confidence}`
    : "an evaluation is required before voting"
}

type Vote = { readonly voter: string; readonly vote: string }

/** Abstentions count; votes on several proposals count once. */
const missingQuorum = (
  { participants, policy: { rules } }: SessionTerms,
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

const tally = (terms: SessionTerms, votes: ReadonlyArray<Vote>): Tally => {
  const { algorithm, weights } = terms.policy.rules.voting
  const listed = new Map(Object.entries(weights))
  const unlisted = isReleaseFrom(terms.release, "0.7.6") ? 0 : 1
  const weigh = (voter: string) => (algorithm === "weighted" ? (listed.get(voter) ?? unlisted) : 1)
  const sum = (wanted: string) =>
    votes.reduce((total, { vote, voter }) => (vote === wanted ? total + weigh(voter) : total), 0)
  const approve = sum("APPROVE")
  const reject = sum("REJECT")
  return { approve, reject, passes: passes(terms, votes, approve, reject) }
}

const passes = (
  { participants, policy: { rules } }: SessionTerms,
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

const unsupportedOutcome = (
  { policy, release }: SessionTerms,
  { approve, passes, reject }: Tally,
  outcomePositive: boolean
): string | undefined => {
  const { commitment, voting } = policy.rules
  if (voting.algorithm === "none") return undefined
  const counted = `${approve} approve, ${reject} reject (${voting.algorithm})`
  if (approve + reject === 0) {
    // Versions 1 and 2 fail open for a positive outcome; version 3 closed that.
    const failsOpen = policy.schemaVersion < 3 && !commitment.require_vote_quorum
    return outcomePositive && failsOpen ? undefined : "no votes cast"
  }
  if (outcomePositive) return passes ? undefined : `the votes do not carry a positive outcome: ${counted}`
  if (passes && !commitment.allow_decline_over_approval) return `the votes approve, a decline is refused: ${counted}`
  if (passes && !isReleaseFrom(release, "0.7.6")) return undefined
  return reject > 0 ? undefined : `no reject vote supports a decline: ${counted}`
}
