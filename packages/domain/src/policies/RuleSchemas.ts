import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * The annotation with the text of a refused registration: the valid values of a field. The messages of Schema itself
 * stay beside it: a runtime answers with those.
 */
export const FAULT = "runplane/fault"

const fault = (text: string) => ({ [FAULT]: text })

const OBJECT = fault("must be an object")
const TEXTS = fault("must be an array of strings")

const flag = Schema.Boolean.annotate(fault("must be a boolean"))
const text = Schema.String.annotate(TEXTS)

const oneOf = <const Values extends ReadonlyArray<string>>(...values: Values) =>
  Schema.Literals(values).annotate(fault(`must be one of ${values.join(", ")}`))

const number = (what: string, bound: (annotations: Schema.Annotations.Filter) => SchemaCheck) =>
  Schema.Number.check(Schema.isFinite(fault(what)), bound(fault(what)))

type SchemaCheck = ReturnType<typeof Schema.isFinite>

const numberFrom = (minimum: number) =>
  number(`must be a number of at least ${minimum}`, (faults) => Schema.isGreaterThanOrEqualTo(minimum, faults))

const numberAbove = (minimum: number) =>
  number(`must be a number above ${minimum}`, (faults) => Schema.isGreaterThan(minimum, faults))

const fraction = number("must be a number from 0 to 1", (faults) =>
  Schema.isBetween({ minimum: 0, maximum: 1 }, faults)
)

const integerFrom = (minimum: number) => {
  const faults = fault(`must be an integer of at least ${minimum}`)
  return Schema.Number.check(Schema.isInt(faults), Schema.isGreaterThanOrEqualTo(minimum, faults))
}

/** What a rule is when the policy leaves it out. */
const or = <S extends Schema.Constraint>(schema: S, value: S["Encoded"]) =>
  Schema.withDecodingDefault<S>(Effect.succeed(value))(schema)

const section = <const Fields extends Schema.Struct.Fields>(fields: Fields) => Schema.Struct(fields).annotate(OBJECT)

const authority = {
  authority: or(oneOf("initiator_only", "any_participant", "designated_role"), "initiator_only"),
  /** Ids of senders, compared as they are. */
  designated_roles: or(Schema.Array(text).annotate(TEXTS), [])
}

/** The two values on which the registration endpoint and the runtime differ. */
interface Dialect<Types extends ReadonlyArray<string>> {
  readonly thresholdTypes: readonly ["n_of_m", ...Types]
  readonly weight: Schema.Number
}

/** The rules of each mode by section, all of them optional (docs/internals/runtime.md#policy-rules). */
const rulesByMode = <const Types extends ReadonlyArray<string>>({ thresholdTypes, weight }: Dialect<Types>) => ({
  decision: {
    voting: section({
      algorithm: or(oneOf("none", "majority", "supermajority", "unanimous", "weighted", "plurality"), "none"),
      // Absent and 0.5 differ for a supermajority, so the default is applied at evaluation.
      threshold: Schema.optional(fraction),
      quorum: or(section({ type: or(oneOf("count", "percentage"), "count"), value: or(numberFrom(0), 0) }), {}),
      /** By sender. */
      weights: or(Schema.Record(Schema.String, weight).annotate(OBJECT), {})
    }),
    objection_handling: section({
      critical_severity_vetoes: or(flag, false),
      veto_threshold: or(integerFrom(1), 1),
      critical_objection_action: or(oneOf("deny", "finalize_decline", "hold"), "deny")
    }),
    evaluation: section({ minimum_confidence: or(fraction, 0), required_before_voting: or(flag, false) }),
    commitment: section({
      ...authority,
      require_vote_quorum: or(flag, false),
      allow_decline_over_approval: or(flag, false)
    })
  },
  quorum: {
    threshold: section({ type: or(oneOf(...thresholdTypes), "n_of_m"), value: or(integerFrom(0), 0) }),
    abstention: section({
      counts_toward_quorum: or(flag, false),
      interpretation: or(oneOf("neutral", "implicit_reject", "ignored"), "neutral")
    }),
    commitment: section(authority)
  },
  proposal: {
    acceptance: section({ criterion: or(oneOf("all_parties", "counterparty", "initiator"), "all_parties") }),
    counter_proposal: section({ max_rounds: or(integerFrom(0), 0) }),
    rejection: section({ terminal_on_any_reject: or(flag, false) }),
    commitment: section(authority)
  },
  task: {
    assignment: section({ allow_reassignment_on_reject: or(flag, false) }),
    completion: section({ require_output: or(flag, false) }),
    commitment: section(authority)
  },
  handoff: {
    acceptance: section({ implicit_accept_timeout_ms: or(integerFrom(0), 0) }),
    commitment: section(authority)
  }
})

/** The rules of each mode as `POST /runtime/policies` and the policy files of packs take them. */
export const registrationRules = rulesByMode({
  thresholdTypes: ["n_of_m", "percentage", "weighted"],
  weight: numberAbove(0)
})

/** The rules of each mode as a runtime takes them. */
export const runtimeRules = rulesByMode({ thresholdTypes: ["n_of_m", "percentage", "count"], weight: numberFrom(0) })

const { decision, handoff, proposal, quorum, task } = runtimeRules

/**
 * The rules of a policy with every default applied. One schema holds the sections of all modes, and each mode reads its
 * own. Keys it does not know are ignored: `unknownRuleKeys` finds them.
 */
export const PolicyRules = Schema.Struct({
  commitment: or(decision.commitment, {}),
  voting: or(decision.voting, {}),
  objection_handling: or(decision.objection_handling, {}),
  evaluation: or(decision.evaluation, {}),
  acceptance: or(section({ ...proposal.acceptance.fields, ...handoff.acceptance.fields }), {}),
  counter_proposal: or(proposal.counter_proposal, {}),
  rejection: or(proposal.rejection, {}),
  assignment: or(task.assignment, {}),
  completion: or(task.completion, {}),
  threshold: or(quorum.threshold, {}),
  abstention: or(quorum.abstention, {})
})
export type PolicyRules = typeof PolicyRules.Type
