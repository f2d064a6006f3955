import * as Result from "effect/Result"
import { type Act, counting, evaluateActs } from "../insight/Act.ts"
import type { ActivePolicy } from "../insight/ActivePolicy.ts"
import { ballotOf, hasBallots, type VoteValue } from "../insight/Ballots.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { type NotCounted, type Recount, recountOf, recountWithout } from "../insight/Recount.ts"
import { isOfDeadline } from "../insight/why/Persons.ts"
import { agentVotes } from "../marks/AgentVote.ts"
import type { CommitteeOutcome, CommitteeRun, SeatVote } from "./CommitteeRun.ts"
import { savedMs } from "./CriticalPath.ts"
import type { SeatInRun } from "./WorthTypes.ts"

/** What a run says about each seat of its committee, as plain data; lists are by the index of the seat. */
export interface CommitteeFacts extends Pick<CommitteeRun, "votes" | "outcome"> {
  /** Absent where the run cannot be counted again, and then `notCounted` says why. */
  readonly recount?: Recount
  readonly notCounted?: NotCounted
  /** Whether the opposite vote would have turned the outcome; undefined without a vote for or against. */
  readonly pivotal: ReadonlyArray<boolean | undefined>
  /** US dollars of the model calls of the seat up to the decision. */
  readonly costUsd: ReadonlyArray<number>
  /** Milliseconds from the first act to the last one of the seat before the decision; undefined without an act. */
  readonly atMs: ReadonlyArray<number | undefined>
}

/** Reads an ended run; the acts are evaluated once for all seats. */
export const committeeFacts = (run: Deliberation, by: ActivePolicy, seats: ReadonlyArray<string>): CommitteeFacts => {
  const { commitment, initiator, mode, participants, spending } = run
  const before = commitment === undefined ? run.acts : run.acts.filter(({ index }) => index < commitment.index)
  const acts = mode === undefined ? [] : counting(evaluateActs({ mode, initiator, participants }, before))
  const voteOf = mode !== undefined && hasBallots(mode) ? votesOn(acts, commitment?.proposalId) : () => undefined
  const recordOf = agentVotes(run, by)
  const recount = recountOf(run, by)
  const costs = new Map(spending.map(({ costUsd, participantId }) => [participantId, costUsd]))
  return {
    votes: seats.map(voteOf),
    outcome: outcomeOf(commitment?.positive),
    ...Result.match(recount, { onFailure: (notCounted) => ({ notCounted }), onSuccess: (recount) => ({ recount }) }),
    pivotal: seats.map((seat) => recordOf(seat)?.isPivotal),
    costUsd: seats.map((seat) => costs.get(seat) ?? 0),
    atMs: seats.map(lastActs(acts))
  }
}

const outcomeOf = (positive: boolean | null | undefined): CommitteeOutcome =>
  positive === true ? "positive" : positive === false ? "negative" : "none"

const VOTES: Readonly<Record<VoteValue, SeatVote>> = { APPROVE: "for", REJECT: "against", ABSTAIN: "abstain" }

/** The last vote of a seat on the decided proposal, or on any where the decision names none that is voted on. */
const votesOn = (acts: ReadonlyArray<Act>, decided: string | undefined): ((seat: string) => SeatVote | undefined) => {
  const cast = acts.flatMap((act) => {
    const word = ballotOf(act)
    return word === undefined || isOfDeadline(act) ? [] : [{ by: act.by, proposalId: act.proposalId, word }]
  })
  const isNamed = cast.some(({ proposalId }) => proposalId === decided)
  return (seat) => {
    const own = cast.findLast(({ by, proposalId }) => by === seat && (!isNamed || proposalId === decided))
    return own === undefined ? undefined : VOTES[own.word]
  }
}

const lastActs = (acts: ReadonlyArray<Act>): ((seat: string) => number | undefined) => {
  const start = Date.parse(acts[0]?.ts ?? "")
  return (seat) => {
    const last = acts.findLast(({ by }) => by === seat)
    return last === undefined ? undefined : Math.max(0, Date.parse(last.ts) - start)
  }
}

/** Each seat of a run by itself: the run is counted again without it. */
export const seatsInRun = (facts: CommitteeFacts, seats: ReadonlyArray<string>): ReadonlyArray<SeatInRun> =>
  seats.map((seat, index) => {
    const timeMs = facts.atMs[index]
    return {
      recount:
        facts.recount === undefined
          ? { kind: "not counted", reason: facts.notCounted ?? "no decision" }
          : recountWithout(facts.recount, new Set([seat])),
      isPivotal: facts.pivotal[index],
      costUsd: facts.costUsd[index] ?? 0,
      timeMs,
      savedMs: timeMs === undefined ? undefined : savedMs(facts.atMs, (other) => other !== index)
    }
  })
