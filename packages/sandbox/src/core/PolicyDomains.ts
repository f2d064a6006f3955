import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { PolicyRules } from "./PolicyRules.ts"
import { isFrom, type Release } from "./Release.ts"

/**
 * What is wrong with rules whose shape is fine: values that contradict each other, or lie outside what they mean
 * (runtime-wire section 9.3). `text` is the JSON they were read from, because a rule that is written down may be
 * refused where its absence is not. Undefined when nothing is wrong.
 */
export const domainProblem = (rules: PolicyRules, text: string, release: Release): string | undefined => {
  const { commitment, threshold, voting } = rules
  const problems: ReadonlyArray<readonly [refused: boolean, why: string]> = [
    [
      voting.algorithm === "supermajority" && voting.threshold !== undefined && voting.threshold <= 0.5,
      "voting.threshold of a supermajority must be above 0.5"
    ],
    [
      voting.algorithm === "weighted" && Object.keys(voting.weights).length === 0,
      "voting.weights must not be empty for the weighted algorithm"
    ],
    [threshold.type === "percentage" && threshold.value > 100, "threshold.value of a percentage must be at most 100"],
    [
      commitment.authority === "designated_role" && commitment.designated_roles.length === 0,
      "commitment.designated_roles must not be empty for the authority designated_role"
    ],
    ...(isFrom(release, "0.7.6") ? laterProblems(rules, text) : [])
  ]
  return problems.find(([refused]) => refused)?.[1]
}

/** Refused since 0.7: bounds at zero are exclusive, and a supermajority has to say what it is. */
const laterProblems = ({ voting }: PolicyRules, text: string): ReadonlyArray<readonly [boolean, string]> => {
  const written = Option.getOrUndefined(decodeWritten(text))
  const weights = written?.voting?.weights
  const approvals = written?.threshold?.value
  return [
    [voting.threshold !== undefined && voting.threshold <= 0, "voting.threshold must be above 0"],
    [
      voting.algorithm === "supermajority" && voting.threshold === undefined,
      "voting.threshold of a supermajority must be given"
    ],
    [
      voting.algorithm === "majority" && voting.threshold !== undefined && voting.threshold < 0.5,
      "voting.threshold of a majority must be at least 0.5"
    ],
    [
      weights !== undefined && Object.keys(weights).length === 0,
      "voting.weights must not be empty when they are given"
    ],
    [Object.values(voting.weights).some((weight) => weight <= 0), "voting.weights must be above 0"],
    [approvals !== undefined && approvals <= 0, "threshold.value must be above 0"]
  ]
}

/** The rules whose being written down matters. */
const Written = Schema.fromJsonString(
  Schema.Struct({
    voting: Schema.optional(Schema.Struct({ weights: Schema.optional(Schema.Record(Schema.String, Schema.Unknown)) })),
    threshold: Schema.optional(Schema.Struct({ value: Schema.optional(Schema.Finite) }))
  })
)
const decodeWritten = Schema.decodeUnknownOption(Written)
