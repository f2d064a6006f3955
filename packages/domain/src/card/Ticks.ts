import * as Schema from "effect/Schema"
import type { Act } from "../insight/Act.ts"
import type { SessionRules } from "../insight/ActivePolicy.ts"
import { needOf } from "../policies/DecisionEvaluation.ts"
import { policyThreshold } from "../policies/Evaluation.ts"
import { Field } from "../values/Field.ts"
import type { CardVoter } from "./Voters.ts"

/** What the votes for something have to reach. */
export const CardRule = Schema.Struct({
  kind: Schema.Literals(["share", "more", "all", "count"]).annotate({
    description:
      "share: of the votes for and against; more: more for than against; all: every participant; count: so many approvals"
  }),
  value: Field.number("The share, 0 to 1, or the number; 0 where the kind says it all", 0.67)
}).annotate({ identifier: "CardRule", description: "The rule that the votes have to satisfy" })
export type CardRule = typeof CardRule.Type

/** Sums of votes or weights. */
export interface Sums {
  readonly for: number
  readonly against: number
  /** All that could be cast. */
  readonly of: number
}

/** Where the votes for something reach their rule, in votes or weights from the start of the ring. */
export interface Tick {
  readonly at: number
  /** Whether more than these are needed. */
  readonly strict: boolean
  readonly reached: boolean
}

/** Sums of weights differ by rounding alone. */
const ROUNDING = 1e-9

/**
 * Where a rule is reached. A share is one of the votes for and against, so its tick moves with each vote, and
 * abstentions and missing votes have no part in it; it is undefined without votes.
 */
export const tickOf = ({ kind, value }: CardRule, { against, for: yes, of }: Sums): Tick | undefined => {
  const cast = yes + against
  switch (kind) {
    case "all":
      return { at: of, strict: false, reached: cast > 0 && yes >= of }
    case "count":
      return { at: value, strict: false, reached: yes >= value }
    case "more":
      return cast === 0 ? undefined : { at: cast / 2, strict: true, reached: yes > against }
    case "share":
      return cast === 0 ? undefined : { at: value * cast, strict: false, reached: yes / cast >= value - ROUNDING }
  }
}

export const sumsOf = (voters: ReadonlyArray<Pick<CardVoter, "vote" | "weight">>): Sums => {
  const sum = (vote?: CardVoter["vote"]) =>
    voters.reduce((total, voter) => (vote === undefined || voter.vote === vote ? total + voter.weight : total), 0)
  return { for: sum("for"), against: sum("against"), of: sum() }
}

/** The rule of a decision's policy; undefined for one that counts no votes. */
export const voteRule = (sessionRules: SessionRules | undefined): CardRule | undefined => {
  if (sessionRules?.mode !== "decision") return undefined
  const { participants, policy } = sessionRules.terms
  const { voting } = policy.rules
  if (voting.algorithm === "none") return undefined
  if (voting.algorithm === "unanimous") return { kind: "all", value: 0 }
  if (voting.algorithm === "plurality") return { kind: "more", value: 0 }
  const share = needOf(voting, participants.length, 0)
  return typeof share === "number" ? { kind: "share", value: share } : undefined
}

/** The rule of a request for approvals: the number that the policy demands, else the request. */
export const approvalRule = (
  sessionRules: SessionRules | undefined,
  acts: ReadonlyArray<Act>,
  proposalId: string
): CardRule | undefined => {
  const requested = acts.find(
    ({ proposalId: about, type }) => type === "ApprovalRequest" && about === proposalId
  )?.requiredApprovals
  const value = (sessionRules?.mode === "quorum" ? policyThreshold(sessionRules.terms) : undefined) ?? requested
  return value === undefined || value <= 0 ? undefined : { kind: "count", value }
}

/** The voters that a policy requires for a vote to count; undefined where it requires no quorum. */
export const voteQuorum = (sessionRules: SessionRules | undefined): number | undefined => {
  if (sessionRules?.mode !== "decision") return undefined
  const { participants, policy } = sessionRules.terms
  const { commitment, voting } = policy.rules
  if (!commitment.require_vote_quorum) return undefined
  const { type, value } = voting.quorum
  return type === "count" ? value : Math.ceil((value / 100) * participants.length)
}
