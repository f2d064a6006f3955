import type { CanonicalEventType } from "../events/CanonicalEventType.ts"
import { type Act, counting, evaluateActs } from "../insight/Act.ts"
import { actionLog } from "../insight/ActionLog.ts"
import type { ActivePolicy, SessionRules } from "../insight/ActivePolicy.ts"
import { BACKTEST_TYPES } from "../insight/Backtest.ts"
import { ballotOf, hasBallots, type VoteValue, withBallots } from "../insight/Ballots.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { positionUnder } from "../insight/Position.ts"
import { withShadow } from "../insight/WithShadow.ts"
import { isOfDeadline } from "../insight/why/Persons.ts"
import { policyThreshold } from "../policies/Evaluation.ts"

/** Types of the events that the record of an agent reads; of `message.received` only those of a backtest. */
export const RECORD_TYPES: ReadonlyArray<CanonicalEventType> = [
  ...BACKTEST_TYPES,
  "participant.seen",
  "policy.resolved",
  "llm.call.completed",
  "artifact.created"
]

/** The vote of an agent in a decided run (docs/reference/marks.md#record). */
export interface AgentVote {
  /** Whether the vote supported the outcome. */
  readonly isForOutcome: boolean
  /** Whether more votes were cast the other way. */
  readonly isAgainstMajority: boolean
  /** Whether the outcome would be another with the opposite vote. */
  readonly isPivotal: boolean
  /** The last one that the agent stated before the decision, from 0 to 1. */
  readonly confidence: number | undefined
  /** Of its model calls up to the decision. */
  readonly costUsd: number
  /** Part of `costUsd` that is a guess. */
  readonly guessedCostUsd: number
  /** Whose vote it is, of a seat. */
  readonly person?: string
}

/** A ballot that supports or opposes; an abstention does neither. An act of a deadline is the vote of no voter. */
interface Cast {
  readonly person: string | undefined
  readonly by: string
  readonly proposalId: string
  readonly approves: boolean
}

const NO_VOTE = () => undefined

/**
 * Reads the vote of an agent, undefined when it cast none: in a run without decision or whose outcome is not stated, of
 * a mode without votes, or after the decision. It is its last one on the proposal that the decision names, or on any
 * where the decision names none. The acts of the run are evaluated once for all agents. The name of a shadow reads its
 * vote as if it had acted instead of its participant.
 */
export const agentVotes = (run: Deliberation, by: ActivePolicy): ((participantId: string) => AgentVote | undefined) => {
  const { commitment, initiator, mode, participants, spending } = run
  if (commitment === undefined || commitment.positive === null || mode === undefined || !hasBallots(mode)) {
    return NO_VOTE
  }
  const { positive } = commitment
  const before = run.acts.filter(({ index }) => index < commitment.index)
  const acts = counting(evaluateActs({ mode, initiator, participants }, before))
  const cast = acts.flatMap((act): ReadonlyArray<Cast> => {
    const word = ballotOf(act)
    return word === undefined || word === "ABSTAIN" || isOfDeadline(act)
      ? []
      : [{ by: act.by, person: act.answer?.person, proposalId: act.proposalId, approves: word === "APPROVE" }]
  })
  const isNamed = cast.some(({ proposalId }) => proposalId === commitment.proposalId)
  const rules = by.sessionRules
  return (participantId) => {
    const shadow = run.shadows.get(participantId)
    if (shadow !== undefined) return agentVotes({ ...withShadow(run, shadow), shadows: new Map() }, by)(shadow.as)
    const own = cast.findLast(
      (one) => one.by === participantId && (!isNamed || one.proposalId === commitment.proposalId)
    )
    if (own === undefined) return undefined
    const rivals = cast.filter(({ proposalId }) => proposalId === own.proposalId)
    const alike = rivals.filter(({ approves }) => approves === own.approves).length
    const others = rivals.length - alike
    const isForOutcome = own.approves === positive
    const cost = spending.find((one) => one.participantId === participantId)
    return {
      isForOutcome,
      isAgainstMajority: alike < others,
      isPivotal:
        rules !== undefined && countsVotes(rules)
          ? turnsOutcome(run, rules, acts, own, positive)
          : // Of a majority, one vote fewer on this side and one more on the other leave none.
            isForOutcome && alike > others && alike - others <= 2,
      confidence: confidenceOf(acts, own),
      costUsd: cost?.costUsd ?? 0,
      guessedCostUsd: cost?.guessedCostUsd ?? 0,
      ...(own.person !== undefined && { person: own.person })
    }
  }
}

/** The vote of one agent (`agentVotes`). */
export const agentVote = (run: Deliberation, by: ActivePolicy, participantId: string): AgentVote | undefined =>
  agentVotes(run, by)(participantId)

/** Whether the rules depend on the votes; without such rules a vote is compared with the majority. */
const countsVotes = ({ mode, terms }: SessionRules): boolean =>
  mode === "quorum" || terms.policy.rules.voting.algorithm !== "none"

/**
 * Whether the opposite vote changes the outcome: a positive outcome becomes forbidden, or a negative one becomes
 * forbidden, or a positive one becomes allowed. The outcome of a quorum is whether it has the required approvals.
 */
const turnsOutcome = (
  run: Deliberation,
  rules: SessionRules,
  acts: ReadonlyArray<Act>,
  { approves, by, proposalId }: Cast,
  positive: boolean
): boolean => {
  const vote: VoteValue = approves ? "REJECT" : "APPROVE"
  const changed = withBallots(rules.mode, acts, [{ participantId: by, proposalId, vote }])
  if (rules.mode === "quorum") {
    return isReached(rules, acts) === positive && isReached(rules, changed) !== positive
  }
  const position = positionUnder(run, rules)
  const isLost = position.isAllowed(acts, positive) && !position.isAllowed(changed, positive)
  return isLost || (!positive && !position.isAllowed(acts, true) && position.isAllowed(changed, true))
}

const isReached = ({ mode, terms }: SessionRules, acts: ReadonlyArray<Act>): boolean => {
  const record = actionLog(mode, acts, terms.policy.rules)
  if (record.mode !== "quorum") return false
  return record.approvals >= (policyThreshold(terms) ?? record.requiredApprovals ?? Number.POSITIVE_INFINITY)
}

const confidenceOf = (acts: ReadonlyArray<Act>, { by, proposalId }: Cast): number | undefined =>
  acts.findLast(
    (act) =>
      act.by === by &&
      act.proposalId === proposalId &&
      act.confidence !== undefined &&
      act.confidence >= 0 &&
      act.confidence <= 1
  )?.confidence
