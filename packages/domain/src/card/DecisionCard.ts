import { counting } from "../insight/Act.ts"
import type { ActivePolicy, SessionRules } from "../insight/ActivePolicy.ts"
import { hasBallots } from "../insight/Ballots.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { decidingActs, optionsOf } from "../insight/Proposals.ts"
import { type Votes, votesOf } from "../insight/Tally.ts"
import type { CardAnswers, CardRing, CardTally, DecisionCard, HeadCount } from "./Card.ts"
import { cardSentences } from "./CardSentences.ts"
import { cardVerdict, verdictWord } from "./CardVerdict.ts"
import { type CardSeat, seatsByRole, seatsOn } from "./Seats.ts"
import { approvalRule, type Sums, sumsOf, voteQuorum, voteRule } from "./Ticks.ts"

/** Rings of one card, the latest ones. */
const MAX_RINGS = 12

/** The picture of a run's decision. Its pivotal seats and sentences are those of the answers. */
export const decisionCard = (run: Deliberation, { sessionRules }: ActivePolicy, answers: CardAnswers): DecisionCard => {
  const { commitment, mode } = run
  const verdict = cardVerdict(run)
  const votes = votesOf(run, sessionRules)
  const pivotal = pivotalOf(run, answers)
  const all = ringsOf(run, sessionRules, votes, pivotal)
  const rings = [...all.filter(({ committed }) => committed), ...all.filter(({ committed }) => !committed)]
  const shown = rings.length > MAX_RINGS ? rings.slice(0, MAX_RINGS) : rings
  const tally = all.length > 1 ? tallyOf(run, sessionRules, votes, all.length) : undefined
  const hasVotes = mode !== undefined && hasBallots(mode)
  const voters = new Set(
    all.flatMap(({ seats }) => seats.flatMap(({ participantId, vote }) => (vote === "none" ? [] : [participantId])))
  )
  const voted = hasVotes ? voters.size : 0
  const quorum = voteQuorum(sessionRules)
  const weighted = sessionRules?.mode === "decision" && sessionRules.terms.policy.rules.voting.algorithm === "weighted"
  const base = { hasVotes, weighted, rings: shown, voted, participants: run.participants.length }
  const question = run.intent ?? new Map(optionsOf(decidingActs(run))).get(votes.committed ?? "")
  return {
    runId: run.runId,
    modeName: run.modeName,
    ...(question !== undefined && { question }),
    verdict,
    word: verdictWord(verdict, mode),
    ...(commitment !== undefined && { action: commitment.action }),
    ...(commitment !== undefined && commitment.by !== "" && { by: commitment.by }),
    ...(commitment?.confidence !== undefined && { confidence: commitment.confidence }),
    outOfReach: isOutOfReach(answers),
    ...base,
    ...(rings.length > shown.length && { ringsLeftOut: rings.length - shown.length }),
    ...(tally !== undefined && { tally }),
    ...(quorum !== undefined && { quorum: { need: quorum } }),
    counts: countsText({ ...base, ...(tally !== undefined && { tally }) }),
    sentences: cardSentences(verdict, answers)
  }
}

const isOutOfReach = ({ forecast, why }: CardAnswers): boolean => {
  const approvals = forecast?.outcomes.filter(({ outcome }) => outcome === "positive") ?? []
  return why.outcome === null && approvals.length > 0 && approvals.every(({ status }) => status === "impossible")
}

type IsPivotal = (participantId: string, proposalId: string) => boolean

/** The participants whose act decides: in an open run by the forecast, else by why, which knows the proposal too. */
const pivotalOf = ({ acts }: Deliberation, { forecast, why }: CardAnswers): IsPivotal => {
  if (why.outcome === null) {
    const ids = new Set((forecast?.pivotal ?? []).map(({ participantId }) => participantId))
    return (participantId) => ids.has(participantId)
  }
  const seqs = new Set(why.counterfactuals.flatMap(({ seq, stillAllowed }) => (stillAllowed ? [] : [seq])))
  const keys = new Set(acts.flatMap(({ by, proposalId, seq }) => (seqs.has(seq) ? [keyOf(by, proposalId)] : [])))
  return (participantId, proposalId) => keys.has(keyOf(participantId, proposalId))
}

const keyOf = (participantId: string, proposalId: string) => `${participantId.length} ${participantId} ${proposalId}`

const ringsOf = (
  run: Deliberation,
  sessionRules: SessionRules | undefined,
  votes: Votes,
  isPivotal: IsPivotal
): ReadonlyArray<CardRing> => {
  const { mode, participants } = run
  const acts = counting(decidingActs(run))
  const seatsAt = (proposalId: string) =>
    seatsOn(proposalId, participants, acts, sessionRules, (participantId) => isPivotal(participantId, proposalId))
  if (mode === undefined || !hasBallots(mode)) {
    if (participants.length === 0) return []
    const abouts = new Set(acts.map(({ proposalId }) => proposalId))
    const seats = seatsByRole(participants, acts, (who) => [...abouts].some((about) => isPivotal(who, about)))
    return [{ proposalId: "", name: "", committed: run.commitment !== undefined, seats, counts: countsOf(seats) }]
  }
  const proposers = new Map(
    acts.flatMap(({ by, proposalId, type }) =>
      type === "Proposal" || type === "ApprovalRequest" ? [[proposalId, by] as const] : []
    )
  )
  const subjects = [...votes.names]
  // Before anything is proposed the seats are empty, not absent.
  if (subjects.length === 0 && participants.length > 0) {
    const seats = seatsAt("")
    return [{ proposalId: "", name: "", committed: false, seats, counts: countsOf(seats) }]
  }
  return subjects.map(([proposalId, name]): CardRing => {
    const seats = seatsAt(proposalId)
    // The runtime tallies the votes of all proposals together.
    const rule =
      mode === "quorum"
        ? approvalRule(sessionRules, acts, proposalId)
        : subjects.length === 1
          ? voteRule(sessionRules)
          : undefined
    const by = proposers.get(proposalId)
    return {
      proposalId,
      name,
      ...(by !== undefined && by !== "" && { by }),
      committed: proposalId === votes.committed,
      seats,
      counts: countsOf(seats),
      ...(rule !== undefined && { rule })
    }
  })
}

const countsOf = (seats: ReadonlyArray<CardSeat>): HeadCount => {
  const counts = { for: 0, against: 0, abstained: 0, none: 0 }
  for (const { vote } of seats) counts[vote] += 1
  return counts
}

const tallyOf = (
  run: Deliberation,
  sessionRules: SessionRules | undefined,
  { counted }: Votes,
  proposals: number
): CardTally | undefined => {
  const rule = voteRule(sessionRules)
  if (counted === undefined || rule === undefined) return undefined
  const of = sumsOf(seatsOn("", run.participants, [], sessionRules, () => false)).of * proposals
  const sums: Sums =
    counted.weights === undefined ? { for: counted.approve, against: counted.reject, of } : { ...counted.weights, of }
  return { ...sums, passes: counted.passes, rule }
}

/** The figures of a card in one line: "5 for, 1 against, 6 of 7 voted". */
export const countsText = ({
  hasVotes,
  participants,
  rings,
  tally,
  voted,
  weighted
}: Pick<DecisionCard, "hasVotes" | "participants" | "rings" | "tally" | "voted" | "weighted">): string => {
  if (!hasVotes) return `${participants} ${participants === 1 ? "participant" : "participants"}`
  const turnout = `${voted} of ${participants} voted`
  const [first] = rings
  if (first === undefined) return turnout
  if (rings.length > 1 && !first.committed) return `${rings.length} proposals, ${turnout}`
  const { abstained } = first.counts
  const sums = weighted ? sumsOf(first.seats) : first.counts
  const heads = `${figure(sums.for)} for, ${figure(sums.against)} against${weighted ? " by weight" : ""}`
  const rest = abstained === 0 ? "" : `, ${abstained} abstained`
  const about = tally === undefined ? "" : ` on ${first.name}`
  return `${heads}${rest}${about}, ${turnout}`
}

/** A sum of weights without the rounding errors of its addition. */
const figure = (value: number): number => Number(value.toPrecision(6))
