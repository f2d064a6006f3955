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
  const { critical_objection_action, veto_threshold } = rules.objection_handling
  const { declines, isVetoed, objectors, suffices } = vetoOn(terms, record, outcomePositive)
  if (suffices) return []
  const critical = objectors.length
  const votes = [...record.votes]
  return [
    missingEvaluation(rules, record),
    isVetoed && !declines
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
    unsupportedOutcome(terms, countVotes(terms, votes), outcomePositive)
  ].filter((reason) => reason !== undefined)
}

/** The critical objections of a decision, and what they do to an outcome. */
interface Veto {
  /** The sender of each critical objection; empty for one that a forecast assumes. */
  readonly objectors: ReadonlyArray<string>
  readonly isVetoed: boolean
  /** Whether the veto supports this outcome, a negative one. */
  readonly declines: boolean
  /** Whether the veto authorises it by itself: from 0.7.6 neither a vote nor its preparation is required then. */
  readonly suffices: boolean
}

export const vetoOn = (
  { policy: { rules }, release }: SessionTerms,
  record: Pick<DecisionRecord, "objections">,
  outcomePositive: boolean
): Veto => {
  const objectors = [...record.objections].filter(({ severity }) => severity === "critical").map(({ by }) => by)
  const { critical_objection_action, critical_severity_vetoes, veto_threshold } = rules.objection_handling
  const isVetoed = critical_severity_vetoes && objectors.length >= veto_threshold
  const declines = isVetoed && !outcomePositive && critical_objection_action === "finalize_decline"
  return { objectors, isVetoed, declines, suffices: declines && isReleaseFrom(release, "0.7.6") }
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

/** Votes as a policy counts them: as weights under `weighted`, else one each. */
export interface VoteCount {
  readonly approve: number
  readonly reject: number
  readonly passes: boolean
}

/** The weight of a voter: 1 for everyone but under `weighted`, where an unlisted voter weighs 1 up to 0.7.5, then 0. */
export const weigherOf = ({ policy, release }: SessionTerms): ((voter: string) => number) => {
  const { algorithm, weights } = policy.rules.voting
  if (algorithm !== "weighted") return () => 1
  const listed = new Map(Object.entries(weights))
  const unlisted = isReleaseFrom(release, "0.7.6") ? 0 : 1
  return (voter) => listed.get(voter) ?? unlisted
}

/** Counts votes under a decision's policy. Of each voter and proposal `votes` has the one that counts. */
export const countVotes = (terms: SessionTerms, votes: ReadonlyArray<Vote>): VoteCount => {
  const weigh = weigherOf(terms)
  const sum = (wanted: string) =>
    votes.reduce((total, { vote, voter }) => (vote === wanted ? total + weigh(voter) : total), 0)
  const approve = sum("APPROVE")
  const reject = sum("REJECT")
  return { approve, reject, passes: passes(terms, votes, approve, reject) }
}

/** Whether an empty tally passes: versions 1 and 2 of the rules allow it, version 3 does not. */
export const passesEmpty = ({ policy: { rules, schemaVersion } }: SessionTerms): boolean =>
  schemaVersion < 3 && !rules.commitment.require_vote_quorum

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
  terms: SessionTerms,
  { approve, passes, reject }: VoteCount,
  outcomePositive: boolean
): PolicyRefusal | undefined => {
  const { participants, policy, release } = terms
  const { commitment, voting } = policy.rules
  if (voting.algorithm === "none") return undefined
  const counted = `${countText(voting, { approve, reject })} (${voting.algorithm})`
  const rule = "voting.algorithm"
  if (approve + reject === 0) {
    if (outcomePositive && passesEmpty(terms)) return undefined
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

/** The figures of a tally: "3 approve, 1 reject", or "weights 2 for, 5 against". */
export const countText = (
  { algorithm }: Pick<PolicyRules["voting"], "algorithm">,
  { approve, reject }: Pick<VoteCount, "approve" | "reject">
): string =>
  algorithm === "weighted"
    ? `weights ${figure(approve)} for, ${figure(reject)} against`
    : `${approve} approve, ${reject} reject`

/** A sum of weights without the rounding errors of its addition. */
const figure = (value: number): number => Number(value.toPrecision(12))

/** What a tally has to reach: a share of the votes cast, or in words where no share decides. */
export const needOf = (
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
