import { vetoOn } from "../../policies/DecisionEvaluation.ts"
import { mayCommit } from "../../policies/Evaluation.ts"
import type { DecisionRecord, RuleRefusal, SessionRecord, SessionTerms } from "../../policies/SessionRecord.ts"
import { phraseText } from "../../values/Phrase.ts"
import type { Act } from "../Act.ts"
import type { SessionRules } from "../ActivePolicy.ts"
import type { Deliberation } from "../Deliberation.ts"
import { positionUnder } from "../Position.ts"
import type { CountedVotes } from "../Tally.ts"
import { authorityText } from "./Authority.ts"
import * as Figures from "./Figures.ts"
import { handoffText, taskText } from "./Work.ts"

/** One rule of the policy, or of the mode, held against the record. */
export interface RuleVerdict {
  readonly rule: string
  readonly satisfied: boolean
  /** With the figures of the record, whether it is satisfied or not: "3 approve, 1 reject, majority 0.5". */
  readonly text: string
  /** The value on record and the required one; absent where the rule is not one of amounts. */
  readonly have?: number | string
  readonly need?: number | string
  /** The events that decide it. */
  readonly seqs: ReadonlyArray<number>
}

/** A demand of a rule: the keys under which it is refused, and the message types that decide it. */
interface Demand extends Partial<Pick<RuleRefusal, "have" | "need">> {
  readonly rule: string
  readonly refusedAs: ReadonlyArray<string>
  readonly text: string
  /** Whether the figures of `text` say it also where the rule is refused. */
  readonly isNeutral?: boolean
  readonly decidedBy: ReadonlyArray<string>
}

/** Every demand of the rules, and whether the record satisfies it for this outcome. */
export const ruleVerdicts = (
  run: Deliberation,
  sessionRules: SessionRules,
  positive: boolean,
  counted: CountedVotes | undefined
): ReadonlyArray<RuleVerdict> => {
  const { commitment } = run
  const until = commitment?.index ?? Number.POSITIVE_INFINITY
  const acts = run.acts.filter(({ index }) => index < until)
  const position = positionUnder(run, sessionRules)
  const objections = position.objections(acts, positive)
  const counting = position.counted(acts)
  const demands = demandsBy(sessionRules.terms, position.recordOf(acts), counting, positive, counted)
  const verdicts = demands.map(({ decidedBy, isNeutral = false, refusedAs, rule, ...figures }): RuleVerdict => {
    const refusal = objections.find((one) => refusedAs.includes(one.rule))
    const { have, need, text } = refusal === undefined || isNeutral ? figures : refusal
    return {
      rule,
      satisfied: refusal === undefined,
      text,
      ...(have !== undefined && { have }),
      ...(need !== undefined && { need }),
      seqs: seqsOf(counting, decidedBy)
    }
  })
  const known = new Set(demands.flatMap(({ refusedAs }) => refusedAs))
  const others = objections.flatMap(
    ({ have, need, rule, text }): ReadonlyArray<RuleVerdict> =>
      known.has(rule) ? [] : [{ rule, satisfied: false, text, have, need, seqs: [] }]
  )
  return [...verdicts, ...others, ...authorityOf(run, sessionRules.terms)]
}

const seqsOf = (acts: ReadonlyArray<Act>, types: ReadonlyArray<string>) =>
  acts.flatMap(({ seq, type }) => (types.includes(type) ? [seq] : []))

const authorityOf = ({ commitment }: Deliberation, terms: SessionTerms): ReadonlyArray<RuleVerdict> => {
  if (commitment === undefined) return []
  const { by, seq } = commitment
  const text = phraseText(authorityText(by, terms))
  return [{ rule: "commitment.authority", satisfied: mayCommit(by, terms), text, seqs: [seq] }]
}

const demandsBy = (
  terms: SessionTerms,
  record: SessionRecord,
  acts: ReadonlyArray<Act>,
  positive: boolean,
  counted: CountedVotes | undefined
): ReadonlyArray<Demand> => {
  switch (record.mode) {
    case "decision":
      return demandsOfDecision(terms, record, positive, counted)
    case "proposal": {
      const { max_rounds: rounds } = terms.policy.rules.counter_proposal
      return [
        {
          rule: "acceptance.criterion",
          refusedAs: ["acceptance.criterion"],
          ...Figures.acceptanceFigures(terms, record),
          decidedBy: ["Accept", "Reject", "Withdraw"]
        },
        rounds > 0 && {
          rule: "counter_proposal.max_rounds",
          refusedAs: ["counter_proposal.max_rounds"],
          ...Figures.roundsFigures(rounds, record),
          decidedBy: ["CounterProposal"]
        }
      ].filter((rule) => rule !== false)
    }
    case "task": {
      const reports = ["TaskComplete", "TaskFail"]
      const text = taskText(acts, record) ?? "the task is reported as ended"
      return [
        { rule: "mode.report", refusedAs: ["mode.report"], text, decidedBy: reports },
        terms.policy.rules.completion.require_output &&
          positive && {
            rule: "completion.require_output",
            refusedAs: ["completion.require_output"],
            ...Figures.outputFigures(record),
            decidedBy: reports
          }
      ].filter((rule) => rule !== false)
    }
    case "handoff": {
      const refusedAs = ["mode.answer", "mode.acceptance"]
      const decidedBy = ["HandoffAccept", "HandoffDecline"]
      return [
        { rule: "mode.answer", refusedAs, text: handoffText(acts, positive) ?? "the offer is answered", decidedBy }
      ]
    }
    case "quorum": {
      const rejections = acts.filter(({ type }) => type === "Reject").length
      return [
        {
          rule: "threshold.value",
          refusedAs: ["threshold.value", "mode.request"],
          ...Figures.approvalFigures(terms, record, rejections, positive),
          decidedBy: ["ApprovalRequest", "Approve", "Reject", "Abstain"]
        }
      ]
    }
  }
}

const demandsOfDecision = (
  terms: SessionTerms,
  record: DecisionRecord,
  positive: boolean,
  counted: CountedVotes | undefined
): ReadonlyArray<Demand> => {
  const { commitment, evaluation, objection_handling: objections, voting } = terms.policy.rules
  // A veto that suffices is evaluated before everything else, so the other rules demand nothing.
  const { suffices } = vetoOn(terms, record, positive)
  const unlessVetoed = (figures: Figures.Figures, text = figures.text) =>
    suffices ? { text: `not needed, as the veto declines it: ${text}` } : figures
  return [
    {
      rule: "mode.proposal",
      refusedAs: ["mode.proposal"],
      text: `${Figures.plural(record.proposals, "proposal")}, 1 needed`,
      have: record.proposals,
      need: 1,
      decidedBy: ["Proposal"]
    },
    evaluation.required_before_voting && {
      rule: "evaluation.required_before_voting",
      refusedAs: ["evaluation.required_before_voting", "evaluation.minimum_confidence"],
      ...unlessVetoed(Figures.evaluationFigures(terms, record)),
      decidedBy: ["Evaluation"]
    },
    objections.critical_severity_vetoes && {
      rule: "objection_handling.critical_severity_vetoes",
      refusedAs: ["objection_handling.critical_severity_vetoes"],
      ...Figures.vetoFigures(terms, record, positive),
      decidedBy: ["Objection"]
    },
    commitment.require_vote_quorum && {
      rule: "voting.quorum",
      refusedAs: ["voting.quorum"],
      ...unlessVetoed(Figures.quorumFigures(terms, record)),
      isNeutral: true,
      decidedBy: ["Vote"]
    },
    voting.algorithm !== "none" &&
      counted !== undefined && {
        rule: "voting.algorithm",
        refusedAs: ["voting.algorithm", "voting.threshold", "commitment.allow_decline_over_approval"],
        ...unlessVetoed(Figures.votesFigures(terms, record, counted, positive), counted.text),
        decidedBy: ["Vote"]
      }
  ].filter((rule) => rule !== false)
}
