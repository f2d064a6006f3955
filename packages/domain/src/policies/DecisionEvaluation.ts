import { isReleaseFrom } from "./Release.ts"
import type { PolicyRules } from "./RuleSchemas.ts"
import type { DecisionRecord, PolicyRefusal, SessionTerms } from "./SessionRecord.ts"

/** Every reason of a decision's policy to refuse a Commitment with this outcome, empty when it is allowed. */
export const refuseDecision = (
  terms: SessionTerms,
  record: DecisionRecord,
  outcomePositive: boolean
): ReadonlyArray<PolicyRefusal> => {
  const { rules } = terms.policy
  const objectors = [...record.objections].filter(({ severity }) => severity === "critical").map(({ by }) => by)
  const critical = objectors.length
  const { critical_objection_action, critical_severity_vetoes, veto_threshold } = rules.objection_handling
  const isVetoed = critical_severity_vetoes && critical >= veto_threshold
  const declinedByVeto = isVetoed && !outcomePositive && critical_objection_action === "finalize_decline"
  // The veto itself authorises the decline: from 0.7.6 neither a vote nor its preparation is required.
  if (declinedByVeto && isReleaseFrom(terms.release, "0.7.6")) return []
  const votes = [...record.votes]
  return [
    missingEvaluation(rules, record),
    isVetoed && !declinedByVeto
      ? {
          rule: "objection_handling.critical_severity_vetoes",
          code: critical_objection_action === "hold" ? ("veto_hold" as const) : ("veto" as const),
          participants: [...new Set(objectors.filter((by) => by !== ""))].sort(),
          have: critical,
          need: `fewer than ${veto_threshold}`,
          text: `${critical_objection_action}: ${critical} critical of ${veto_threshold} needed to veto`
        }
      : undefined,
    missingQuorum(terms, votes),
    unsupportedOutcome(terms, tally(terms, votes), outcomePositive)
  ].filter((reason) => reason !== undefined)
}

/** 2/3 when a supermajority names no threshold above one half. */
const SUPERMAJORITY_THRESHOLD = 2 / 3
const MAJORITY_THRESHOLD = 0.5

const missingEvaluation = ({ evaluation }: PolicyRules, record: DecisionRecord): PolicyRefusal | undefined => {
  const { minimum_confidence, required_before_voting } = evaluation
  if (!required_before_voting) return undefined
  let best = 0
  for (const { confidence, recommendation } of record.evaluations) {
    if (recommendation === "REVIEW") continue
    if (confidence >= minimum_confidence) return undefined
    best = Math.max(best, confidence)
  }
  return minimum_confidence > 0
    ? {
        rule: "evaluation.minimum_confidence",
        code: "confidence_below_minimum",
        have: best,
        need: minimum_confidence,
        text: `no evaluation reaches the minimum confidence ${minimum_confidence}`
      }
    : {
        rule: "evaluation.required_before_voting",
        code: "evaluation_required",
        have: 0,
        need: 1,
        text: "an evaluation is required before voting"
      }
}

type Vote = { readonly voter: string; readonly vote: string }

/** Abstentions count; votes on several proposals count once. */
const missingQuorum = (
  { participants, policy: { rules } }: SessionTerms,
  votes: ReadonlyArray<Vote>
): PolicyRefusal | undefined => {
  if (!rules.commitment.require_vote_quorum) return undefined
  const { type, value } = rules.voting.quorum
  const voters = new Set(votes.map(({ voter }) => voter)).size
  const reached = type === "count" ? voters : (voters / participants.length) * 100
  return reached >= value
    ? undefined
    : {
        rule: "voting.quorum",
        code: "quorum_not_met",
        have: voters,
        need: type === "count" ? value : Math.ceil((value / 100) * participants.length),
        text: `vote quorum not met: ${voters} voters of ${participants.length} participants (quorum: ${value} ${type})`
      }
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
      return approve / (approve + reject) >= supermajority(threshold)
  }
}

const unsupportedOutcome = (
  { participants, policy, release }: SessionTerms,
  { approve, passes, reject }: Tally,
  outcomePositive: boolean
): PolicyRefusal | undefined => {
  const { commitment, voting } = policy.rules
  if (voting.algorithm === "none") return undefined
  const counted = `${approve} approve, ${reject} reject (${voting.algorithm})`
  const rule = "voting.algorithm"
  if (approve + reject === 0) {
    // Versions 1 and 2 fail open for a positive outcome; version 3 closed that.
    const failsOpen = policy.schemaVersion < 3 && !commitment.require_vote_quorum
    if (outcomePositive && failsOpen) return undefined
    const code = outcomePositive ? "no_votes" : "decline_not_backed"
    return { rule, code, have: 0, need: 1, text: "no votes cast" }
  }
  if (outcomePositive) {
    if (passes) return undefined
    const need = needOf(voting, participants.length, reject)
    const code = "threshold_not_met"
    const text = `the votes do not carry a positive outcome: ${counted}`
    return typeof need === "number"
      ? { rule: "voting.threshold", code, have: approve / (approve + reject), need, text }
      : { rule, code, have: approve, need, text }
  }
  if (passes && !commitment.allow_decline_over_approval) {
    const text = `the votes approve, a decline is refused: ${counted}`
    return {
      rule: "commitment.allow_decline_over_approval",
      code: "decline_over_approval",
      have: approve,
      need: "a tally that does not pass",
      text
    }
  }
  if (passes && !isReleaseFrom(release, "0.7.6")) return undefined
  return reject > 0
    ? undefined
    : {
        rule,
        code: "decline_not_backed",
        have: 0,
        need: "a REJECT",
        text: `no reject vote supports a decline: ${counted}`
      }
}

/** What a tally has to reach: a share of the votes cast, or in words where no share decides. */
const needOf = (
  { algorithm, threshold = MAJORITY_THRESHOLD }: PolicyRules["voting"],
  participants: number,
  reject: number
): number | string => {
  switch (algorithm) {
    case "unanimous":
      return `all ${participants} participants`
    case "plurality":
      return `more than ${reject}`
    case "supermajority":
      return supermajority(threshold)
    default:
      return threshold
  }
}

const supermajority = (threshold: number): number =>
  threshold > MAJORITY_THRESHOLD ? threshold : SUPERMAJORITY_THRESHOLD
