import { type Act, counting } from "../insight/Act.ts"
import type { ActivePolicy, SessionRules } from "../insight/ActivePolicy.ts"
import { ballotOf, hasBallots } from "../insight/Ballots.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { type ForecastOptions, forecastInSlices } from "../insight/Forecast.ts"
import { decidingActs, optionsOf } from "../insight/Proposals.ts"
import { type Votes, votesOf } from "../insight/Tally.ts"
import { type Why, whyInSlices } from "../insight/Why.ts"
import { runSliced, type Sliced } from "../values/Sliced.ts"
import type { CardAnswers, CardRing, CardTally, DecisionCard, HeadCount } from "./Card.ts"
import { cardSentences } from "./CardSentences.ts"
import { cardVerdict, verdictWord } from "./CardVerdict.ts"
import { approvalRule, type Sums, sumsOf, voteQuorum, voteRule } from "./Ticks.ts"
import { type CardVoter, votersByRole, votersOn } from "./Voters.ts"

/** Rings of one card, the latest ones. */
const MAX_RINGS = 12

/** The picture of a run's decision. Its pivotal voters and sentences are those of the answers. */
export const decisionCard = (run: Deliberation, { sessionRules }: ActivePolicy, answers: CardAnswers): DecisionCard => {
  const card = cardWithoutReasons(run, sessionRules, pivotalOf(run, answers))
  return { ...card, outOfReach: isOutOfReach(answers), sentences: cardSentences(card.verdict, answers) }
}

const isOutOfReach = ({ forecast, why }: CardAnswers): boolean => {
  const approvals = forecast?.outcomes.filter(({ outcome }) => outcome === "positive") ?? []
  return why.outcome === null && approvals.length > 0 && approvals.every(({ status }) => status === "impossible")
}

/** What the record of a run alone says of its card, without the answers of why. */
export const cardWithoutReasons = (
  run: Deliberation,
  sessionRules: SessionRules | undefined,
  isPivotal: IsPivotal = () => false
): Omit<DecisionCard, "outOfReach" | "sentences"> => {
  const { commitment, mode } = run
  const verdict = cardVerdict(run)
  const votes = votesOf(run, sessionRules)
  const acts = counting(decidingActs(run))
  const { leftOut, rings } = ringsOf(run, sessionRules, votes, acts, isPivotal)
  const tally = votes.names.size > 1 ? tallyOf(run, sessionRules, votes) : undefined
  const hasVotes = mode !== undefined && hasBallots(mode)
  const voted = hasVotes ? votersAmong(run.participants, votes, acts) : 0
  const quorum = voteQuorum(sessionRules)
  const weighted = sessionRules?.mode === "decision" && sessionRules.terms.policy.rules.voting.algorithm === "weighted"
  const base = { hasVotes, weighted, rings, voted, participants: run.participants.length }
  const question = run.intent ?? new Map(optionsOf(acts)).get(votes.committed ?? "")
  return {
    runId: run.runId,
    modeName: run.modeName,
    ...(question !== undefined && { question }),
    verdict,
    word: verdictWord(verdict, mode),
    ...(commitment !== undefined && { action: commitment.action }),
    ...(commitment !== undefined && commitment.by !== "" && { by: commitment.by }),
    ...(commitment?.confidence !== undefined && { confidence: commitment.confidence }),
    ...base,
    ...(leftOut > 0 && { ringsLeftOut: leftOut }),
    ...(tally !== undefined && { tally }),
    ...(quorum !== undefined && { quorum: { need: quorum } }),
    counts: countsText({ ...base, ringsLeftOut: leftOut, ...(tally !== undefined && { tally }) })
  }
}

/** A card with the reasons that it shows. */
export interface ReasonedCard {
  readonly card: DecisionCard
  readonly why: Why
}

/** The card of a run with the answers that it shows; an open run has its forecast. */
export const reasonedCard = (run: Deliberation, by: ActivePolicy, options: ForecastOptions = {}): ReasonedCard =>
  runSliced(cardInSlices(run, by, options))

/** The same in slices, for long runs. */
export function* cardInSlices(
  run: Deliberation,
  by: ActivePolicy,
  options: ForecastOptions = {}
): Sliced<ReasonedCard> {
  const why = yield* whyInSlices(run, by)
  const verdict = cardVerdict(run)
  const isOpen = verdict === "open" || verdict === "suspended"
  const forecast = isOpen ? yield* forecastInSlices(run, by, options) : undefined
  yield
  return { card: decisionCard(run, by, { why, forecast }), why }
}

/** Whether the decision depends on a participant: on one proposal, or on any. */
type IsPivotal = (participantId: string, proposalId?: string) => boolean

/** The participants whose act decides: in an open run by the forecast, else by why, which knows the proposal too. */
const pivotalOf = ({ acts }: Deliberation, { forecast, why }: CardAnswers): IsPivotal => {
  if (why.outcome === null) {
    const ids = new Set((forecast?.pivotal ?? []).map(({ participantId }) => participantId))
    return (participantId) => ids.has(participantId)
  }
  const seqs = new Set(why.counterfactuals.flatMap(({ seq, stillAllowed }) => (stillAllowed ? [] : [seq])))
  const deciding = acts.filter(({ seq }) => seqs.has(seq))
  const keys = new Set(deciding.map(({ by, proposalId }) => keyOf(by, proposalId)))
  const ids = new Set(deciding.map(({ by }) => by))
  return (participantId, proposalId) =>
    proposalId === undefined ? ids.has(participantId) : keys.has(keyOf(participantId, proposalId))
}

const keyOf = (participantId: string, proposalId: string) => `${participantId.length} ${participantId} ${proposalId}`

/** The participants with a ballot on any proposal. */
const votersAmong = (participants: ReadonlyArray<string>, { names }: Votes, acts: ReadonlyArray<Act>): number => {
  const voters = new Set(
    acts.flatMap((act) => (names.has(act.proposalId) && ballotOf(act) !== undefined ? [act.by] : []))
  )
  return participants.filter((participant) => voters.has(participant)).length
}

/** The ring of the commitment first, then the latest others in their order. */
const ringsOf = (
  run: Deliberation,
  sessionRules: SessionRules | undefined,
  { committed, names }: Votes,
  acts: ReadonlyArray<Act>,
  isPivotal: IsPivotal
): { readonly rings: ReadonlyArray<CardRing>; readonly leftOut: number } => {
  const { mode, participants } = run
  const only = (ring: Omit<CardRing, "counts">) => ({
    rings: participants.length === 0 ? [] : [{ ...ring, counts: countsOf(ring.seats) }],
    leftOut: 0
  })
  if (mode === undefined || !hasBallots(mode)) {
    const voters = votersByRole(participants, acts, isPivotal)
    return only({ proposalId: "", name: "", committed: run.commitment !== undefined, seats: voters })
  }
  // Before anything is proposed the voters are empty, not absent.
  if (names.size === 0) {
    const voters = votersOn("", participants, [], sessionRules, (participantId) => isPivotal(participantId, ""))
    return only({ proposalId: "", name: "", committed: false, seats: voters })
  }
  const others = [...names.keys()].filter((proposalId) => proposalId !== committed)
  const chosen = committed === undefined ? [] : [committed]
  const latest = others.slice(Math.max(0, others.length - (MAX_RINGS - chosen.length)))
  const actsOn = new Map([...chosen, ...latest].map((proposalId): [string, Array<Act>] => [proposalId, []]))
  for (const act of acts) actsOn.get(act.proposalId)?.push(act)
  const rings = Array.from(actsOn, ([proposalId, about]): CardRing => {
    const voters = votersOn(proposalId, participants, about, sessionRules, (id) => isPivotal(id, proposalId))
    // The runtime tallies the votes of all proposals together.
    const rule =
      mode === "quorum"
        ? approvalRule(sessionRules, about, proposalId)
        : names.size === 1
          ? voteRule(sessionRules)
          : undefined
    const by = about.findLast(({ type }) => type === "Proposal" || type === "ApprovalRequest")?.by ?? ""
    return {
      proposalId,
      name: names.get(proposalId) ?? proposalId,
      ...(by !== "" && { by }),
      committed: proposalId === committed,
      seats: voters,
      counts: countsOf(voters),
      ...(rule !== undefined && { rule })
    }
  })
  return { rings, leftOut: names.size - rings.length }
}

const countsOf = (voters: ReadonlyArray<CardVoter>): HeadCount => {
  const counts = { for: 0, against: 0, abstained: 0, none: 0 }
  for (const { vote } of voters) counts[vote] += 1
  return counts
}

const tallyOf = (
  run: Deliberation,
  sessionRules: SessionRules | undefined,
  { counted, names }: Votes
): CardTally | undefined => {
  const rule = voteRule(sessionRules)
  if (counted === undefined || rule === undefined) return undefined
  const of = sumsOf(votersOn("", run.participants, [], sessionRules, () => false)).of * names.size
  const sums: Sums =
    counted.weights === undefined ? { for: counted.approve, against: counted.reject, of } : { ...counted.weights, of }
  return { ...sums, passes: counted.passes, rule }
}

/** The figures of a card in one line: "5 for, 1 against, 6 of 7 voted". */
export const countsText = ({
  hasVotes,
  participants,
  rings,
  ringsLeftOut = 0,
  tally,
  voted,
  weighted
}: Pick<
  DecisionCard,
  "hasVotes" | "participants" | "rings" | "ringsLeftOut" | "tally" | "voted" | "weighted"
>): string => {
  if (!hasVotes) return `${participants} ${participants === 1 ? "participant" : "participants"}`
  const turnout = `${voted} of ${participants} voted`
  const [first] = rings
  if (first === undefined) return turnout
  if (rings.length > 1 && !first.committed) return `${rings.length + ringsLeftOut} proposals, ${turnout}`
  const { abstained } = first.counts
  const sums = weighted ? sumsOf(first.seats) : first.counts
  const heads = `${figure(sums.for)} for, ${figure(sums.against)} against${weighted ? " by weight" : ""}`
  const rest = abstained === 0 ? "" : `, ${abstained} abstained`
  const about = tally === undefined ? "" : ` on ${first.name}`
  return `${heads}${rest}${about}, ${turnout}`
}

/** A sum of weights without the rounding errors of its addition. */
const figure = (value: number): number => Number(value.toPrecision(6))
