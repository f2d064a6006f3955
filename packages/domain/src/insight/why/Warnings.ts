import { wordKey } from "../../run/ProposalNames.ts"
import type { SessionRules } from "../ActivePolicy.ts"
import type { Commitment } from "../Deliberation.ts"
import { ballotsText, isOutvoted, ruleText, type Tally, type Votes } from "../Tally.ts"

/**
 * What a reader of the decision has to know beside it, in sentences: that the voters on the committed proposal rejected
 * it, or approved what was declined without a veto. Empty where the outcome agrees with them, and while the proposal is
 * not known.
 */
export const warningsOf = (
  commitment: Commitment | undefined,
  sessionRules: SessionRules | undefined,
  votes: Votes
): ReadonlyArray<string> => {
  const tally = votes.tallies.find(({ isCommitted }) => isCommitted)
  if (commitment === undefined || tally === undefined) return []
  const name = votes.names.get(tally.proposalId) ?? tally.proposalId
  const figures = ballotsText(tally, tally.weights)
  const { action, positive } = commitment
  const isNamed = [tally.proposalId, name].some((one) => wordKey(one) === wordKey(action))
  // Without a stated outcome, only a commitment of the proposal's own name chooses it.
  if (isOutvoted(tally) && (positive === true || (positive === null && isNamed))) {
    const committed = isNamed ? "it was committed" : "a positive outcome was committed"
    return [`the voters rejected ${name} (${figures}), and ${committed}${approvedBy(sessionRules, votes)}`]
  }
  if (positive === false && !votes.isVetoed && isBacked(tally) && votes.counted?.passes === true) {
    return [`the voters approved ${name} (${figures}), and a negative outcome was committed`]
  }
  return []
}

const isBacked = ({ approve, reject, weights }: Tally): boolean =>
  weights === undefined ? approve > reject : weights.for > weights.against

const approvedBy = (sessionRules: SessionRules | undefined, { counted }: Votes): string => {
  if (sessionRules?.mode !== "decision") return ""
  if (counted === undefined) return ": the policy counts no votes"
  if (!counted.passes) return ""
  return counted.proposals > 1
    ? `: the policy counts the votes on ${counted.proposals} proposals together`
    : `: the count passes (${ruleText(sessionRules.terms.policy.rules.voting)})`
}
