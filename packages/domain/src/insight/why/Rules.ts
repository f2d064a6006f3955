import { mayCommit } from "../../policies/Evaluation.ts"
import type { SessionTerms } from "../../policies/SessionRecord.ts"
import { type Act, counting } from "../Act.ts"
import type { SessionRules } from "../ActivePolicy.ts"
import type { Deliberation } from "../Deliberation.ts"
import { positionUnder } from "../Position.ts"

/** One rule of the policy, or of the mode, held against the record. */
export interface RuleVerdict {
  readonly rule: string
  readonly satisfied: boolean
  readonly text: string
  /** The events that decide it. */
  readonly seqs: ReadonlyArray<number>
}

/** A demand of a rule: the keys under which it is refused, and the message types that decide it. */
interface Demand {
  readonly rule: string
  readonly refusedAs: ReadonlyArray<string>
  readonly text: string
  readonly decidedBy: ReadonlyArray<string>
}

/** Every demand of the rules, and whether the record satisfies it for this outcome. */
export const ruleVerdicts = (
  run: Deliberation,
  sessionRules: SessionRules,
  positive: boolean
): ReadonlyArray<RuleVerdict> => {
  const { commitment } = run
  const until = commitment?.index ?? Number.POSITIVE_INFINITY
  const acts = run.acts.filter(({ index }) => index < until)
  const objections = positionUnder(run, sessionRules).objections(acts, positive)
  const counted = counting(acts)
  const demands = demandsBy(sessionRules, positive)
  const verdicts = demands.map(({ decidedBy, refusedAs, rule, text }): RuleVerdict => {
    const refusal = objections.find((one) => refusedAs.includes(one.rule))
    return { rule, satisfied: refusal === undefined, text: refusal?.text ?? text, seqs: seqsOf(counted, decidedBy) }
  })
  const known = new Set(demands.flatMap(({ refusedAs }) => refusedAs))
  const others = objections.flatMap(
    ({ rule, text }): ReadonlyArray<RuleVerdict> =>
      known.has(rule) ? [] : [{ rule, satisfied: false, text, seqs: [] }]
  )
  return [...verdicts, ...others, ...authorityOf(run, sessionRules.terms)]
}

const seqsOf = (acts: ReadonlyArray<Act>, types: ReadonlyArray<string>) =>
  acts.flatMap(({ seq, type }) => (types.includes(type) ? [seq] : []))

const authorityOf = ({ commitment }: Deliberation, terms: SessionTerms): ReadonlyArray<RuleVerdict> => {
  if (commitment === undefined) return []
  const { by, seq } = commitment
  const { authority } = terms.policy.rules.commitment
  const satisfied = mayCommit(by, terms)
  const text = `${authority} ${satisfied ? "lets" : "does not let"} ${by || "an unnamed participant"} commit`
  return [{ rule: "commitment.authority", satisfied, text, seqs: [seq] }]
}

const demandsBy = (sessionRules: SessionRules, positive: boolean): ReadonlyArray<Demand> => {
  switch (sessionRules.mode) {
    case "decision":
      return demandsOfDecision(sessionRules.terms, positive)
    case "proposal":
      return demandsOfProposal(sessionRules.terms)
    case "task":
      return demandsOfTask(sessionRules.terms, positive)
    case "handoff": {
      const refusedAs = ["mode.answer", "mode.acceptance"]
      const decidedBy = ["HandoffAccept", "HandoffDecline"]
      return [{ rule: "mode.answer", refusedAs, text: "the offer was answered", decidedBy }]
    }
    case "quorum": {
      const refusedAs = ["threshold.value", "mode.request"]
      const decidedBy = ["ApprovalRequest", "Approve", "Reject", "Abstain"]
      const text = positive ? "the approvals reach the threshold" : "the approvals are settled"
      return [{ rule: "threshold.value", refusedAs, text, decidedBy }]
    }
  }
}

const demandsOfDecision = ({ policy: { rules } }: SessionTerms, positive: boolean): ReadonlyArray<Demand> => {
  const { commitment, evaluation, objection_handling: objections, voting } = rules
  const outcome = positive ? "a positive" : "a negative"
  const share = voting.threshold === undefined ? "" : ` at ${voting.threshold}`
  return [
    { rule: "mode.proposal", refusedAs: ["mode.proposal"], text: "something was proposed", decidedBy: ["Proposal"] },
    evaluation.required_before_voting && {
      rule: "evaluation.required_before_voting",
      refusedAs: ["evaluation.required_before_voting", "evaluation.minimum_confidence"],
      text: `an evaluation has a confidence of at least ${evaluation.minimum_confidence}`,
      decidedBy: ["Evaluation"]
    },
    objections.critical_severity_vetoes && {
      rule: "objection_handling.critical_severity_vetoes",
      refusedAs: ["objection_handling.critical_severity_vetoes"],
      text:
        positive || objections.critical_objection_action !== "finalize_decline"
          ? `fewer than ${objections.veto_threshold} critical objections, so no veto (${objections.critical_objection_action})`
          : "critical objections do not block a decline (finalize_decline)",
      decidedBy: ["Objection"]
    },
    commitment.require_vote_quorum && {
      rule: "voting.quorum",
      refusedAs: ["voting.quorum"],
      text: `the vote quorum is met (${voting.quorum.value} ${voting.quorum.type})`,
      decidedBy: ["Vote"]
    },
    voting.algorithm !== "none" && {
      rule: "voting.algorithm",
      refusedAs: ["voting.algorithm", "voting.threshold", "commitment.allow_decline_over_approval"],
      text: `the votes allow ${outcome} outcome (${voting.algorithm}${share})`,
      decidedBy: ["Vote"]
    }
  ].filter((rule) => rule !== false)
}

const demandsOfProposal = ({ policy: { rules } }: SessionTerms): ReadonlyArray<Demand> => {
  const { max_rounds: rounds } = rules.counter_proposal
  return [
    {
      rule: "acceptance.criterion",
      refusedAs: ["acceptance.criterion"],
      text: `accepted as ${rules.acceptance.criterion} requires, or refused for good`,
      decidedBy: ["Accept", "Reject", "Withdraw"]
    },
    rounds > 0 && {
      rule: "counter_proposal.max_rounds",
      refusedAs: ["counter_proposal.max_rounds"],
      text: `at most ${rounds} counter proposals`,
      decidedBy: ["CounterProposal"]
    }
  ].filter((rule) => rule !== false)
}

const demandsOfTask = ({ policy: { rules } }: SessionTerms, positive: boolean): ReadonlyArray<Demand> => {
  const reports = ["TaskComplete", "TaskFail"]
  return [
    { rule: "mode.report", refusedAs: ["mode.report"], text: "the task is reported as ended", decidedBy: reports },
    rules.completion.require_output &&
      positive && {
        rule: "completion.require_output",
        refusedAs: ["completion.require_output"],
        text: "the report has an output",
        decidedBy: reports
      }
  ].filter((rule) => rule !== false)
}
