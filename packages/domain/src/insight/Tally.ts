import { OTLP_MODE_NAME } from "../events/MessageHeader.ts"
import { countText, countVotes, needOf, passesEmpty, vetoOn } from "../policies/DecisionEvaluation.ts"
import type { PolicyRules } from "../policies/RuleSchemas.ts"
import { type Act, counting } from "./Act.ts"
import type { SessionRules } from "./ActivePolicy.ts"
import { ballotOf, hasBallots, type VoteValue } from "./Ballots.ts"
import type { Deliberation } from "./Deliberation.ts"
import { committedSubject, decidingActs, namedSubjects, optionsOf } from "./Proposals.ts"

/** Ballots by their kind. A participant has one on each proposal. */
export interface Ballots {
  readonly approve: number
  readonly reject: number
  readonly abstain: number
}

/** Sums of weights, under a policy that weighs votes. */
export interface Weights {
  readonly for: number
  readonly against: number
}

/** The ballots on one proposal or request that count, up to the commitment (docs/reference/decisions.md#tallies). */
export interface Tally extends Ballots {
  readonly proposalId: string
  /** What is proposed, in its sender's words; absent when it is not stated. */
  readonly option?: string
  /** Whether the commitment is about it, as far as that is known. */
  readonly isCommitted: boolean
  /** Absent under a policy that does not weigh votes. */
  readonly weights?: Weights
  /** "on go: 0 approve, 3 reject"; without its name where it is the only one. */
  readonly text: string
}

/** The votes as the policy counts them: over all proposals together. */
export interface CountedVotes extends Ballots {
  readonly algorithm: PolicyRules["voting"]["algorithm"]
  /** The share that approvals have to reach, 0 to 1; absent where no share decides. */
  readonly threshold?: number
  /** Proposals whose votes are counted together. */
  readonly proposals: number
  readonly weights?: Weights
  /** Whether the count supports a positive outcome. */
  readonly passes: boolean
  /** "3 approve, 1 reject, majority 0.5" */
  readonly text: string
}

/** Tallies of one answer, the latest ones. The one of the commitment is always there. */
export const MAX_TALLIES = 20

/** What the votes of a run say, by proposal and as its policy counts them. */
export interface Votes {
  readonly tallies: ReadonlyArray<Tally>
  /** Earlier tallies that are left out. */
  readonly leftOut: number
  /** Absent without known rules, for other modes, and for a policy that counts no votes. */
  readonly counted?: CountedVotes
  /** The id of the proposal of the commitment; absent where that is not known. */
  readonly committed?: string
  /** How sentences name each proposal. */
  readonly names: ReadonlyMap<string, string>
  /** Whether critical objections decline the decision by themselves, whatever its votes are. */
  readonly isVetoed: boolean
  /** Declared participants without a ballot; empty while no event declares the participants. */
  readonly silent: ReadonlyArray<string>
}

/** Reads the votes of a run up to its commitment. Linear in its acts. */
export const votesOf = (run: Deliberation, sessionRules: SessionRules | undefined): Votes => {
  const acts = counting(decidingActs(run))
  const names = run.mode !== undefined && hasBallots(run.mode) ? namedSubjects(acts) : new Map<string, string>()
  const committed = names.size === 0 ? undefined : committedSubject(run, acts)
  const cast = new Map<string, Array<Cast>>(Array.from(names.keys(), (id) => [id, []]))
  const voters = new Set<string>()
  for (const act of acts) {
    const vote = ballotOf(act)
    if (vote === undefined) continue
    cast.get(act.proposalId)?.push({ voter: act.by, vote })
    voters.add(act.by)
  }
  const options = new Map(optionsOf(acts))
  const shown = [...cast].filter(([id], at) => at >= cast.size - MAX_TALLIES || id === committed)
  const tallies = shown.map(([proposalId, votes]): Tally => {
    const ballots = ballotsIn(votes)
    const weights = weightsOf(sessionRules, votes)
    const option = options.get(proposalId)
    const about = names.size > 1 ? `on ${names.get(proposalId) ?? proposalId}: ` : ""
    return {
      proposalId,
      ...(option !== undefined && { option }),
      isCommitted: proposalId === committed,
      ...ballots,
      ...(weights !== undefined && { weights }),
      text: `${about}${ballotsText(ballots, weights)}`
    }
  })
  const counted = countedVotes(sessionRules, names.size, [...cast.values()].flat())
  const isDeclared = run.areDeclared && run.modeName !== OTLP_MODE_NAME
  return {
    tallies,
    leftOut: cast.size - shown.length,
    ...(counted !== undefined && { counted }),
    ...(committed !== undefined && { committed }),
    names,
    isVetoed: isDeclined(sessionRules, acts),
    silent: isDeclared && names.size > 0 ? run.participants.filter((participant) => !voters.has(participant)) : []
  }
}

const isDeclined = (sessionRules: SessionRules | undefined, acts: ReadonlyArray<Act>): boolean => {
  if (sessionRules?.mode !== "decision") return false
  const objections = acts.flatMap(({ by, severity = "", type }) => (type === "Objection" ? [{ by, severity }] : []))
  return vetoOn(sessionRules.terms, { objections }, false).declines
}

interface Cast {
  readonly voter: string
  readonly vote: VoteValue
}

const ballotsIn = (votes: ReadonlyArray<Cast>): Ballots => {
  const ballots = { approve: 0, reject: 0, abstain: 0 }
  for (const { vote } of votes) ballots[KEYS[vote]] += 1
  return ballots
}

const KEYS = { APPROVE: "approve", REJECT: "reject", ABSTAIN: "abstain" } as const

const weightsOf = (sessionRules: SessionRules | undefined, votes: ReadonlyArray<Cast>): Weights | undefined => {
  if (sessionRules?.mode !== "decision" || sessionRules.terms.policy.rules.voting.algorithm !== "weighted")
    return undefined
  const { approve, reject } = countVotes(sessionRules.terms, votes)
  return { for: approve, against: reject }
}

/** "2 approve, 1 reject, 1 abstain", or "weights 5 for, 2 against (1 approve, 2 reject)". */
export const ballotsText = ({ abstain, approve, reject }: Ballots, weights?: Weights): string => {
  const heads = `${approve} approve, ${reject} reject${abstain === 0 ? "" : `, ${abstain} abstain`}`
  return weights === undefined ? heads : `${weightsText(weights)} (${heads})`
}

const weightsText = (weights: Weights): string =>
  countText({ algorithm: "weighted" }, { approve: weights.for, reject: weights.against })

const countedVotes = (
  sessionRules: SessionRules | undefined,
  proposals: number,
  votes: ReadonlyArray<Cast>
): CountedVotes | undefined => {
  if (sessionRules?.mode !== "decision") return undefined
  const { terms } = sessionRules
  const { voting } = terms.policy.rules
  if (voting.algorithm === "none") return undefined
  const { approve, passes, reject } = countVotes(terms, votes)
  const isEmpty = approve + reject === 0
  const need = needOf(voting, terms.participants.length, reject)
  const ballots = ballotsIn(votes)
  const weights = weightsOf(sessionRules, votes)
  return {
    algorithm: voting.algorithm,
    ...(typeof need === "number" && { threshold: need }),
    proposals,
    ...ballots,
    ...(weights !== undefined && { weights }),
    passes: isEmpty ? passesEmpty(terms) : passes,
    text: `${ballotsText(ballots, weights)}, ${ruleText(voting)}`
  }
}

/** The rule that a count has to satisfy: "majority 0.5", "supermajority of two thirds", "unanimous". */
export const ruleText = (voting: PolicyRules["voting"]): string => {
  const need = needOf(voting, 0, 0)
  if (typeof need === "string") return voting.algorithm
  return need === 2 / 3 ? `${voting.algorithm} of two thirds` : `${voting.algorithm} ${need}`
}

/** Whether more of these ballots, by weight where votes are weighed, are against a proposal than for it. */
export const isOutvoted = ({ approve, reject, weights }: Pick<Tally, "approve" | "reject" | "weights">): boolean =>
  weights === undefined ? reject > approve : weights.against > weights.for

/** The tallies that the text of a rule does not have already: several ones, and those that no rule counts. */
export const shownTallies = <T extends Pick<Tally, "text">>({
  counted,
  tallies = []
}: {
  readonly counted?: object | undefined
  readonly tallies?: ReadonlyArray<T> | undefined
}): ReadonlyArray<T> => (tallies.length > 1 || counted === undefined ? tallies : [])
