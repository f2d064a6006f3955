import { isReleaseFrom } from "../../policies/Release.ts"
import type { DecisionRecord, SessionTerms } from "../../policies/SessionRecord.ts"
import type { Statement } from "../Act.ts"
import { isAllowed } from "../ActivePolicy.ts"
import {
  choose,
  MAX_ENUMERATED,
  type ModeForecast,
  type Move,
  type Outstanding,
  type Step,
  smallestSets,
  statement
} from "./ModeForecast.ts"

/** More open votes than this, all voters times all proposals, are not followed to their ends. */
const MAX_OPEN_VOTES = 20_000
/** Most sets of voters in a list, when "so many of these" cannot describe them. */
const MAX_LISTED_SETS = 20

/** An open vote: a voter who has not voted on the proposal yet. */
interface Slot {
  readonly voter: string
  readonly proposalId: string
}

const NEW_PROPOSAL = "a new proposal"

/**
 * A decision: until the first vote all participants may propose, evaluate and object, then only vote, once on each
 * proposal. The tally rises with every approval and falls with every rejection, so these ends bound all others: all
 * open votes approve, all reject, and all participants without a vote abstain.
 */
export const decisionForecast = (
  terms: SessionTerms,
  acts: ReadonlyArray<Statement>,
  record: DecisionRecord
): ModeForecast => {
  const votes = [...record.votes]
  const isVoting = votes.length > 0
  const slots = openVotes(terms, acts)
  const voted = new Set(votes.map(({ voter }) => voter))
  const first = firstSlots(slots)
  return {
    record,
    ends: slots.length > MAX_OPEN_VOTES ? [] : endsOf(terms, record, slots, isVoting, voted),
    outstanding: outstandingOf(terms, record, first, isVoting),
    moves: movesOf(terms, record, first, isVoting, acts),
    needs: (positive) => needsOf(terms, record, slots, voted, isVoting, positive),
    isExact: slots.length <= MAX_ENUMERATED
  }
}

const openVotes = ({ participants }: SessionTerms, acts: ReadonlyArray<Statement>): ReadonlyArray<Slot> => {
  const proposals = [...new Set(acts.flatMap(({ proposalId, type }) => (type === "Proposal" ? [proposalId] : [])))]
  const cast = new Set(acts.flatMap(({ by, proposalId, type }) => (type === "Vote" ? [keyOf(by, proposalId)] : [])))
  const slots: Array<Slot> = []
  for (const proposalId of proposals.length > 0 ? proposals : [NEW_PROPOSAL]) {
    for (const voter of participants) {
      if (!cast.has(keyOf(voter, proposalId))) slots.push({ voter, proposalId })
      if (slots.length > MAX_OPEN_VOTES) return slots
    }
  }
  return slots
}

const keyOf = (voter: string, proposalId: string) => JSON.stringify([voter, proposalId])

const firstSlots = (slots: ReadonlyArray<Slot>): ReadonlyArray<Slot> => {
  const seen = new Set<string>()
  return slots.filter(({ voter }) => !seen.has(voter) && seen.add(voter))
}

const withVotes = (record: DecisionRecord, slots: ReadonlyArray<Slot>, vote: string): DecisionRecord => ({
  ...record,
  votes: [...record.votes, ...slots.map(({ voter }) => ({ voter, vote }))]
})

const proposed = (record: DecisionRecord): DecisionRecord => ({ ...record, proposals: Math.max(1, record.proposals) })

const evaluated = (record: DecisionRecord): DecisionRecord => ({
  ...record,
  evaluations: [...record.evaluations, { recommendation: "APPROVE", confidence: 1 }]
})

const vetoed = (record: DecisionRecord, times: number): DecisionRecord => ({
  ...record,
  objections: [...record.objections, ...Array.from({ length: times }, () => ({ by: "", severity: "critical" }))]
})

const endsOf = (
  { participants, policy }: SessionTerms,
  record: DecisionRecord,
  slots: ReadonlyArray<Slot>,
  isVoting: boolean,
  voted: ReadonlySet<string>
): ReadonlyArray<DecisionRecord> => {
  if (participants.length === 0) return [record]
  const silent = firstSlots(slots.filter(({ voter }) => !voted.has(voter)))
  const { evaluation, objection_handling } = policy.rules
  const begun = proposed(record)
  const discussed = isVoting || !evaluation.required_before_voting ? [begun] : [begun, evaluated(begun)]
  const argued =
    isVoting || !objection_handling.critical_severity_vetoes
      ? discussed
      : discussed.flatMap((one) => [one, vetoed(one, objection_handling.veto_threshold)])
  const ends = argued.flatMap((one) => [
    withVotes(one, slots, "APPROVE"),
    withVotes(one, slots, "REJECT"),
    withVotes(one, silent, "ABSTAIN")
  ])
  // Nothing is certain before there is something to vote on.
  return record.proposals === 0 ? [record, ...ends] : ends
}

const outstandingOf = (
  { participants }: SessionTerms,
  record: DecisionRecord,
  first: ReadonlyArray<Slot>,
  isVoting: boolean
): ReadonlyArray<Outstanding> => {
  if (isVoting) return first.map(({ voter }) => ({ participantId: voter, acts: ["Vote"] }))
  const acts = record.proposals > 0 ? ["Proposal", "Evaluation", "Objection", "Vote"] : ["Proposal"]
  return participants.map((participantId) => ({ participantId, acts }))
}

const movesOf = (
  { participants, policy: { rules } }: SessionTerms,
  record: DecisionRecord,
  first: ReadonlyArray<Slot>,
  isVoting: boolean,
  acts: ReadonlyArray<Statement>
): ReadonlyArray<Move> => {
  if (record.proposals === 0) {
    return participants.map((by) => ({ statement: statement(by, "Proposal", NEW_PROPOSAL), kind: "Proposal" }))
  }
  const weights = new Map(Object.entries(rules.voting.weights))
  const before = new Map<string, string>()
  for (const { voter, vote } of record.votes) before.set(voter, `${before.get(voter) ?? ""}${vote}`)
  const votes = first.flatMap(({ proposalId, voter }) =>
    ["APPROVE", "REJECT", "ABSTAIN"].map((vote) => ({
      statement: statement(voter, "Vote", proposalId, { vote }),
      kind: `Vote ${vote} ${weights.get(voter)} ${before.get(voter) ?? ""}`
    }))
  )
  const about = acts.find(({ type }) => type === "Proposal")?.proposalId ?? NEW_PROPOSAL
  const objections = participants.map((by) => ({
    statement: statement(by, "Objection", about, { severity: "critical" }),
    kind: "Objection"
  }))
  const evaluations = participants.map((by) => ({
    statement: statement(by, "Evaluation", about, { recommendation: "APPROVE", confidence: 1 }),
    kind: "Evaluation"
  }))
  return [
    ...votes,
    ...(!isVoting && rules.objection_handling.critical_severity_vetoes ? objections : []),
    ...(!isVoting && rules.evaluation.required_before_voting ? evaluations : [])
  ]
}

const needsOf = (
  terms: SessionTerms,
  record: DecisionRecord,
  slots: ReadonlyArray<Slot>,
  voted: ReadonlySet<string>,
  isVoting: boolean,
  positive: boolean
): ReadonlyArray<ReadonlyArray<Step>> => {
  const { participants, policy } = terms
  if (participants.length === 0) return []
  const opening: ReadonlyArray<Step> = record.proposals > 0 ? [] : [{ count: 1, of: participants, act: "Proposal" }]
  const start = proposed(record)
  const byVoting = votingNeeds(terms, start, slots, voted, isVoting, positive)
  const { critical_severity_vetoes, veto_threshold } = policy.rules.objection_handling
  const critical = [...record.objections].filter(({ severity }) => severity === "critical").length
  const missing = veto_threshold - critical
  const vetoes =
    !positive &&
    !isVoting &&
    critical_severity_vetoes &&
    missing > 0 &&
    missing <= participants.length &&
    isReleaseFrom(terms.release, "0.7.6")
  const byVeto: ReadonlyArray<ReadonlyArray<Step>> =
    vetoes && isAllowed(terms, vetoed(start, missing), false)
      ? [[{ count: missing, of: participants, act: "Objection", value: "critical" }]]
      : []
  return smallest([...byVoting, ...byVeto].map((steps) => [...opening, ...steps]))
}

const smallest = (sets: ReadonlyArray<ReadonlyArray<Step>>): ReadonlyArray<ReadonlyArray<Step>> => {
  const sizeOf = (steps: ReadonlyArray<Step>) => steps.reduce((total, { count }) => total + count, 0)
  const least = Math.min(...sets.map(sizeOf))
  return sets.filter((steps) => sizeOf(steps) === least)
}

const votingNeeds = (
  terms: SessionTerms,
  start: DecisionRecord,
  slots: ReadonlyArray<Slot>,
  voted: ReadonlySet<string>,
  isVoting: boolean,
  positive: boolean
): ReadonlyArray<ReadonlyArray<Step>> => {
  const { participants, policy } = terms
  const { minimum_confidence, required_before_voting } = policy.rules.evaluation
  const needsEvaluation =
    required_before_voting &&
    ![...start.evaluations].some(
      ({ confidence, recommendation }) => recommendation !== "REVIEW" && confidence >= minimum_confidence
    )
  if (needsEvaluation && isVoting) return []
  const base = needsEvaluation ? evaluated(start) : start
  const value = `not REVIEW, confidence of at least ${minimum_confidence}`
  const before: ReadonlyArray<Step> = needsEvaluation ? [{ count: 1, of: participants, act: "Evaluation", value }] : []
  const vote = positive ? "APPROVE" : "REJECT"
  const isEnough = (chosen: ReadonlyArray<Slot>) => isAllowed(terms, withVotes(base, chosen, vote), positive)
  return votersNeeded(terms, slots, voted, isEnough).map((steps) => [
    ...before,
    ...steps.map((step) => ({ ...step, value: vote }))
  ])
}

const votersNeeded = (
  { policy }: SessionTerms,
  slots: ReadonlyArray<Slot>,
  voted: ReadonlySet<string>,
  isEnough: (chosen: ReadonlyArray<Slot>) => boolean
): ReadonlyArray<ReadonlyArray<Step>> => {
  if (slots.length <= MAX_ENUMERATED) return asSteps(smallestSets(slots, isEnough))
  const weights = new Map(Object.entries(policy.rules.voting.weights))
  const weigh = ({ voter }: Slot) => weights.get(voter) ?? 0
  const rank = (slot: Slot) => (voted.has(slot.voter) ? 1 : 0)
  const ordered = [...slots].sort((left, right) => rank(left) - rank(right) || weigh(right) - weigh(left))
  // More votes of one kind never hurt, so the least number is found by halving.
  let [low, high] = [0, ordered.length + 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (middle > ordered.length || isEnough(ordered.slice(0, middle))) high = middle
    else low = middle + 1
  }
  if (low > ordered.length) return []
  const areAlike = ordered.every((slot) => weigh(slot) === weigh(ordered[0] ?? slot) && rank(slot) === 0)
  const isOneProposal = ordered.every(({ proposalId }) => proposalId === ordered[0]?.proposalId)
  if (low === 0) return [[]]
  return areAlike && isOneProposal && policy.rules.voting.algorithm !== "unanimous"
    ? [[{ count: low, of: ordered.map(({ voter }) => voter), act: "Vote" }]]
    : [stepsOf(ordered.slice(0, low))]
}

/** One step by proposal: all of these voters vote. */
const stepsOf = (chosen: ReadonlyArray<Slot>): ReadonlyArray<Step> =>
  [...new Set(chosen.map(({ proposalId }) => proposalId))].map((proposalId) => {
    const of = chosen.flatMap((slot) => (slot.proposalId === proposalId ? [slot.voter] : []))
    return { count: of.length, of, act: "Vote", ...(proposalId !== NEW_PROPOSAL && { proposalId }) }
  })

/** "So many of these" when the sets are all there are of their size on one proposal, else each by itself. */
const asSteps = (sets: ReadonlyArray<ReadonlyArray<Slot>>): ReadonlyArray<ReadonlyArray<Step>> => {
  const size = sets[0]?.length
  if (size === undefined) return []
  if (size === 0) return [[]]
  const all = [...new Set(sets.flat())]
  const [whole] = stepsOf(all)
  const isOneProposal = all.every(({ proposalId }) => proposalId === all[0]?.proposalId)
  if (isOneProposal && whole !== undefined && choose(all.length, size) === sets.length) {
    return [[{ ...whole, count: size }]]
  }
  return sets.slice(0, MAX_LISTED_SETS).map(stepsOf)
}
