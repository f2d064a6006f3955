import type { SessionRules } from "../insight/ActivePolicy.ts"
import { ruleText } from "../insight/Tally.ts"
import { policyThreshold } from "../policies/Evaluation.ts"
import type { SessionTerms } from "../policies/SessionRecord.ts"
import { percentText } from "../values/Percent.ts"

/** The rules of a session for a person who is about to act in it, one sentence each. */
export const policyLines = ({ mode, terms }: SessionRules): ReadonlyArray<string> => {
  switch (mode) {
    case "decision":
      return [...decisionLines(terms), authorityLine(terms)]
    case "quorum":
      return [...quorumLines(terms), authorityLine(terms)]
    case "handoff":
      return [...handoffLines(terms), authorityLine(terms)]
    default:
      return [authorityLine(terms)]
  }
}

const decisionLines = ({ participants, policy: { rules } }: SessionTerms): ReadonlyArray<string> => {
  const { commitment, evaluation, objection_handling: objections, voting } = rules
  const lines: Array<string> = []
  lines.push(
    voting.algorithm === "none" ? "The policy counts no votes." : `The rule for the votes: ${ruleText(voting)}.`
  )
  if (commitment.require_vote_quorum) {
    const { type, value } = voting.quorum
    const voters = type === "count" ? value : Math.ceil((value / 100) * participants.length)
    lines.push(
      `At least ${voters} of ${participants.length} participants have to vote; an abstention counts as a vote.`
    )
  }
  if (evaluation.required_before_voting) {
    lines.push(
      evaluation.minimum_confidence > 0
        ? `An evaluation with a confidence of at least ${percentText(evaluation.minimum_confidence)} is required.`
        : "An evaluation is required."
    )
  }
  if (objections.critical_severity_vetoes) {
    const count = objections.veto_threshold
    lines.push(
      count === 1 ? "One critical objection vetoes an approval." : `${count} critical objections veto an approval.`
    )
  }
  if (commitment.allow_decline_over_approval) lines.push("The proposal can be declined although the votes approve it.")
  return lines
}

const quorumLines = (terms: SessionTerms): ReadonlyArray<string> => {
  const needed = policyThreshold(terms)
  return [
    needed === undefined ? "The request says how many approvals it needs." : `Approvals that are needed: ${needed}.`
  ]
}

const handoffLines = ({ policy: { rules } }: SessionTerms): ReadonlyArray<string> => {
  const afterMs = rules.acceptance.implicit_accept_timeout_ms
  return afterMs > 0 ? [`An offer without an answer counts as accepted after ${afterMs / 1_000} s.`] : []
}

const authorityLine = ({ initiator, policy: { rules } }: SessionTerms): string => {
  const { authority, designated_roles: designated } = rules.commitment
  switch (authority) {
    case "initiator_only":
      return `Only ${initiator}, who opened the session, may commit the outcome.`
    case "any_participant":
      return "Any participant may commit the outcome."
    case "designated_role":
      return designated.length === 0
        ? "The policy designates no participant to commit the outcome."
        : `Only ${designated.join(", ")} may commit the outcome.`
  }
}
