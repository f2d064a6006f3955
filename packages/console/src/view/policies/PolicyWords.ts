import type { PolicyRules, StandardMode } from "@runplane/domain"
import { counted, duration, percent } from "../format/Format.ts"

/** A rule of a policy as a sentence. */
export interface RuleWords {
  /** The key of the rule. */
  readonly rule: string
  readonly text: string
}

/**
 * The rules of a policy that matter in a mode, in words, the defaults included
 * (docs/internals/runtime.md#policy-rules).
 */
export const policyWords = (mode: StandardMode, rules: PolicyRules): ReadonlyArray<RuleWords> => [
  ...byMode[mode](rules),
  { rule: "commitment.authority", text: authorityWords(rules) }
]

/** The rules of a vote in a few words: "two thirds of the weight, quorum 4, 1 critical objection stops it". */
export const shortPolicy = (mode: StandardMode, rules: PolicyRules): string | undefined => {
  if (mode === "quorum") {
    const { type, value } = rules.threshold
    return value === 0 ? undefined : type === "percentage" ? `${value} % must approve` : counted(value, "approval")
  }
  if (mode !== "decision") return undefined
  const { commitment, objection_handling: objections, voting } = rules
  const { type, value } = voting.quorum
  return [
    shortTally(voting),
    ...(commitment.require_vote_quorum && value > 0 ? [`quorum ${type === "count" ? value : `${value} %`}`] : []),
    ...(objections.critical_severity_vetoes
      ? [
          `${counted(objections.veto_threshold, "critical objection")} ${objections.veto_threshold === 1 ? "stops" : "stop"} it`
        ]
      : [])
  ].join(", ")
}

const SHARES: ReadonlyMap<string, string> = new Map([
  ["0.50", "half"],
  ["0.67", "two thirds"],
  ["0.75", "three quarters"],
  ["1.00", "all"]
])

const shortTally = ({ algorithm, threshold = 0.5 }: PolicyRules["voting"]): string => {
  const share = (of: number) => SHARES.get(of.toFixed(2)) ?? percent(of)
  switch (algorithm) {
    case "none":
      return "votes are not counted"
    case "majority":
      return `at least ${share(threshold)} of the votes`
    case "supermajority":
      return `at least ${share(threshold > 0.5 ? threshold : 2 / 3)} of the votes`
    case "unanimous":
      return "every participant"
    case "plurality":
      return "more votes for than against"
    case "weighted":
      return `at least ${share(threshold)} of the weight`
  }
}

const authorityWords = ({ commitment: { authority, designated_roles: named } }: PolicyRules): string => {
  switch (authority) {
    case "initiator_only":
      return "Only the initiator commits."
    case "any_participant":
      return "Any participant may commit."
    case "designated_role":
      return named.length === 0
        ? "No participant may commit: the policy names none."
        : `Only ${named.join(", ")} may commit.`
  }
}

const tallyWords = ({ algorithm, threshold = 0.5, weights }: PolicyRules["voting"]): string => {
  switch (algorithm) {
    case "none":
      return "Votes are not counted."
    case "majority":
      return `The share of approvals among votes for and against must be at least ${percent(threshold)}.`
    case "supermajority":
      return `Approvals must be at least ${percent(threshold > 0.5 ? threshold : 2 / 3)} of the votes for and against.`
    case "unanimous":
      return "Every participant must approve."
    case "plurality":
      return "There must be more approvals than rejections."
    case "weighted": {
      const named = Object.entries(weights).map(([who, weight]) => `${who} ${weight}`)
      const list = named.length === 0 ? "" : ` (${named.slice(0, 12).join(", ")}${named.length > 12 ? ", …" : ""})`
      return `Votes have weights${list}; at least ${percent(threshold)} of the weight that was cast must approve.`
    }
  }
}

const objectionWords: Readonly<Record<PolicyRules["objection_handling"]["critical_objection_action"], string>> = {
  deny: "refuse every commitment",
  finalize_decline: "end with a negative outcome",
  hold: "hold the decision"
}

const byMode: Readonly<Record<StandardMode, (rules: PolicyRules) => ReadonlyArray<RuleWords>>> = {
  decision: ({ commitment, evaluation, objection_handling: objections, voting }) => {
    const { type, value } = voting.quorum
    const voters = type === "count" ? `${counted(value, "participant")}` : `${value} % of the participants`
    const sure =
      evaluation.minimum_confidence === 0
        ? ""
        : ` with a confidence of at least ${percent(evaluation.minimum_confidence)}`
    return [
      { rule: "voting.algorithm", text: tallyWords(voting) },
      {
        rule: "voting.quorum",
        text:
          commitment.require_vote_quorum && value > 0
            ? `At least ${voters} must vote; an abstention counts as a vote here.`
            : "No quorum of voters is required."
      },
      ...(evaluation.required_before_voting
        ? [{ rule: "evaluation.required_before_voting", text: `There must be an evaluation${sure}.` }]
        : []),
      {
        rule: "objection_handling.critical_severity_vetoes",
        text: objections.critical_severity_vetoes
          ? `${counted(objections.veto_threshold, "critical objection")} ${
              objections.veto_threshold === 1 ? "is" : "are"
            } a veto: ${objectionWords[objections.critical_objection_action]}.`
          : "Objections do not veto."
      },
      {
        rule: "commitment.allow_decline_over_approval",
        text: commitment.allow_decline_over_approval
          ? "A negative outcome may be committed although the votes approve."
          : "A negative outcome may not be committed while the votes approve."
      }
    ]
  },
  quorum: ({ abstention, threshold }) => [
    {
      rule: "threshold.value",
      text:
        threshold.value === 0
          ? "The request sets the number of approvals."
          : threshold.type === "percentage"
            ? `At least ${threshold.value} % of the participants must approve.`
            : `At least ${counted(threshold.value, "approval is", "approvals are")} needed.`
    },
    {
      rule: "abstention.interpretation",
      text:
        abstention.interpretation === "implicit_reject"
          ? "An abstention counts as a rejection."
          : abstention.interpretation === "ignored"
            ? "An abstention is left out of the count."
            : "An abstention counts neither way."
    },
    {
      rule: "abstention.counts_toward_quorum",
      text: abstention.counts_toward_quorum
        ? "An abstention counts toward the quorum."
        : "An abstention does not count toward the quorum."
    }
  ],
  proposal: ({ acceptance, counter_proposal: counter, rejection }) => [
    {
      rule: "acceptance.criterion",
      text:
        acceptance.criterion === "all_parties"
          ? "Every participant must accept the same proposal."
          : acceptance.criterion === "counterparty"
            ? "All participants except its proposer must accept a proposal."
            : "The initiator must accept a proposal."
    },
    {
      rule: "counter_proposal.max_rounds",
      text:
        counter.max_rounds === 0
          ? "The number of counter-offers is not limited."
          : `There may be ${counted(counter.max_rounds, "counter-offer")} at most.`
    },
    {
      rule: "rejection.terminal_on_any_reject",
      text: rejection.terminal_on_any_reject
        ? "Any rejection ends the negotiation."
        : "Only a final rejection ends the negotiation."
    }
  ],
  task: ({ assignment, completion }) => [
    {
      rule: "assignment.allow_reassignment_on_reject",
      text: assignment.allow_reassignment_on_reject
        ? "After a rejection another participant may accept the task."
        : "After a rejection no other participant may accept the task."
    },
    {
      rule: "completion.require_output",
      text: completion.require_output
        ? "A completed task must have an output."
        : "A task can be completed without an output."
    }
  ],
  handoff: ({ acceptance: { implicit_accept_timeout_ms: timeout } }) => [
    {
      rule: "acceptance.implicit_accept_timeout_ms",
      text:
        timeout === 0
          ? "A handoff is never accepted by silence."
          : `Silence counts as acceptance after ${duration(timeout)}.`
    }
  ]
}
