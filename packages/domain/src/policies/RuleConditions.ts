import type * as Schema from "effect/Schema"
import type { Release } from "./Release.ts"

/** A condition on rules of the right shape: values must have a meaning and not contradict each other. */
export interface RuleCondition {
  readonly section: "commitment" | "voting" | "threshold"
  /** Checks the section as written: a rule that is given may be refused where its absence is not. */
  readonly isBroken: (section: Schema.JsonObject) => boolean
  /** The fault of a registration; the registration endpoint skips conditions without one. */
  readonly fault?: string
  /** The runtime's refusal. */
  readonly refusal: string
  /** The first release whose runtime refuses it; absent: all do. */
  readonly since?: Release
}

const isNumber = (value: Schema.Json | undefined) => typeof value === "number"

const sizeOf = (value: Schema.Json | undefined) =>
  typeof value === "object" && value !== null ? Object.keys(value).length : 0

/** In the order in which a runtime checks; it names the first broken one. */
export const ruleConditions: ReadonlyArray<RuleCondition> = [
  {
    section: "voting",
    isBroken: ({ algorithm, threshold }) => algorithm === "supermajority" && isNumber(threshold) && threshold <= 0.5,
    fault: "supermajority needs a threshold above 0.5",
    refusal: "voting.threshold of a supermajority must be above 0.5"
  },
  {
    section: "voting",
    isBroken: ({ algorithm, weights }) => algorithm === "weighted" && sizeOf(weights) === 0,
    fault: "weighted needs a non-empty weights map",
    refusal: "voting.weights must not be empty for the weighted algorithm"
  },
  {
    section: "threshold",
    isBroken: ({ type, value }) => type === "percentage" && isNumber(value) && value > 100,
    refusal: "threshold.value of a percentage must be at most 100"
  },
  {
    section: "commitment",
    isBroken: ({ authority, designated_roles: roles }) =>
      authority === "designated_role" && !(Array.isArray(roles) && roles.length > 0),
    fault: "designated_role needs a non-empty designated_roles",
    refusal: "commitment.designated_roles must not be empty for the authority designated_role"
  },
  {
    section: "voting",
    isBroken: ({ threshold }) => isNumber(threshold) && threshold <= 0,
    refusal: "voting.threshold must be above 0",
    since: "0.7.6"
  },
  {
    section: "voting",
    isBroken: ({ algorithm, threshold }) => algorithm === "supermajority" && !isNumber(threshold),
    fault: "supermajority needs a threshold above 0.5",
    refusal: "voting.threshold of a supermajority must be given",
    since: "0.7.6"
  },
  {
    section: "voting",
    isBroken: ({ algorithm, threshold }) => algorithm === "majority" && isNumber(threshold) && threshold < 0.5,
    refusal: "voting.threshold of a majority must be at least 0.5",
    since: "0.7.6"
  },
  {
    section: "voting",
    isBroken: ({ weights }) => weights !== undefined && sizeOf(weights) === 0,
    refusal: "voting.weights must not be empty when they are given",
    since: "0.7.6"
  },
  {
    section: "voting",
    isBroken: ({ weights }) => Object.values(weights ?? {}).some((weight) => isNumber(weight) && weight <= 0),
    refusal: "voting.weights must be above 0",
    since: "0.7.6"
  },
  {
    section: "threshold",
    isBroken: ({ value }) => isNumber(value) && value <= 0,
    refusal: "threshold.value must be above 0",
    since: "0.7.6"
  }
]
