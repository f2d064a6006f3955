import {
  type Check,
  closed,
  flag,
  integerFrom,
  numberBetween,
  numberFrom,
  oneOf,
  positiveMap,
  texts
} from "./RuleChecks.ts"

/** The rule sections of one mode: their names with what each may hold. */
export type RuleSections = Readonly<Record<string, Check>>

const commitment = (more: Readonly<Record<string, Check>> = {}): Check =>
  closed(
    {
      authority: oneOf("initiator_only", "any_participant", "designated_role"),
      designated_roles: texts,
      ...more
    },
    ({ authority, designated_roles: roles }) =>
      authority === "designated_role" && !(Array.isArray(roles) && roles.length > 0)
        ? "designated_role needs a non-empty designated_roles"
        : undefined
  )

const voting = closed(
  {
    algorithm: oneOf("none", "majority", "supermajority", "unanimous", "weighted", "plurality"),
    threshold: numberBetween(0, 1),
    quorum: closed({ type: oneOf("count", "percentage"), value: numberFrom(0) }),
    weights: positiveMap
  },
  ({ algorithm, threshold, weights }) => {
    if (
      algorithm === "weighted" &&
      !(typeof weights === "object" && weights !== null && Object.keys(weights).length > 0)
    ) {
      return "weighted needs a non-empty weights map"
    }
    return algorithm === "supermajority" && !(typeof threshold === "number" && threshold > 0.5)
      ? "supermajority needs a threshold above 0.5"
      : undefined
  }
)

/** The closed sets of rule keys (http-details section 11). Modes that are not listed have no bundled schema. */
export const ruleSchemas: Readonly<Record<string, RuleSections>> = {
  decision: {
    voting,
    objection_handling: closed({
      critical_severity_vetoes: flag,
      veto_threshold: integerFrom(1),
      critical_objection_action: oneOf("deny", "finalize_decline", "hold")
    }),
    evaluation: closed({ minimum_confidence: numberBetween(0, 1), required_before_voting: flag }),
    commitment: commitment({ require_vote_quorum: flag, allow_decline_over_approval: flag })
  },
  quorum: {
    threshold: closed({ type: oneOf("n_of_m", "percentage", "weighted"), value: integerFrom(0) }),
    abstention: closed({
      counts_toward_quorum: flag,
      interpretation: oneOf("neutral", "implicit_reject", "ignored")
    }),
    commitment: commitment()
  },
  proposal: {
    acceptance: closed({ criterion: oneOf("all_parties", "counterparty", "initiator") }),
    counter_proposal: closed({ max_rounds: integerFrom(0) }),
    rejection: closed({ terminal_on_any_reject: flag }),
    commitment: commitment()
  },
  task: {
    assignment: closed({ allow_reassignment_on_reject: flag }),
    completion: closed({ require_output: flag }),
    commitment: commitment()
  },
  handoff: {
    acceptance: closed({ implicit_accept_timeout_ms: integerFrom(0) }),
    commitment: commitment()
  }
}
