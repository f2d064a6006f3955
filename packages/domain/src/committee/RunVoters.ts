import { type Act, counting } from "../insight/Act.ts"
import type { ActivePolicy } from "../insight/ActivePolicy.ts"
import { ballotOf } from "../insight/Ballots.ts"
import type { Deliberation } from "../insight/Deliberation.ts"
import { committedSubject, decidingActs } from "../insight/Proposals.ts"
import { agentVotes } from "../marks/AgentVote.ts"

/** Participants of a run that a committee can have; a run with more of them is not counted. */
export const MAX_COMMITTEE = 50

/** The last ballot of a participant on the decided proposal. */
export type CommitteeVote = "for" | "against" | "abstain" | undefined

/** A participant of a decided run, as its committee counts it. */
export interface RunVoter {
  readonly participantId: string
  readonly vote: CommitteeVote
  /** Whether the outcome would be another with the opposite vote. */
  readonly isPivotal: boolean
  /** Of its model calls up to the decision. */
  readonly costUsd: number
  readonly guessedCostUsd: number
  /** From the opening of the decided proposal to its last act before the decision. Milliseconds. */
  readonly waitMs: number | undefined
  /** The models that it called up to the decision. */
  readonly models: ReadonlyArray<string>
}

/** The committee of a decided run. */
export interface RunVoters {
  /** What was committed. */
  readonly positive: boolean
  /** In the order of their names. */
  readonly voters: ReadonlyArray<RunVoter>
}

/**
 * The committee of a run that has decided by votes; undefined for every other run, for an outcome that is not stated,
 * and for more participants than `MAX_COMMITTEE`.
 */
export const runVoters = (run: Deliberation, by: ActivePolicy): RunVoters | undefined => {
  const { commitment, participants } = run
  const positive = commitment?.positive ?? null
  if (positive === null || participants.length === 0 || participants.length > MAX_COMMITTEE) return undefined
  const voteOf = agentVotes(run, by)
  const acts = counting(decidingActs(run))
  const subject = committedSubject(run, acts)
  const onSubject = acts.filter(({ proposalId }) => subject === undefined || proposalId === subject)
  const openedAt = timeOf(onSubject[0])
  const voters = participants.toSorted().map((participantId): RunVoter => {
    const vote = voteOf(participantId)
    const own = onSubject.filter((act) => act.by === participantId)
    const abstains = own.some((act) => ballotOf(act) === "ABSTAIN")
    const spent = run.spending.find((one) => one.participantId === participantId)
    const actedAt = timeOf(own.at(-1))
    return {
      participantId,
      vote:
        vote === undefined ? (abstains ? "abstain" : undefined) : vote.isForOutcome === positive ? "for" : "against",
      isPivotal: vote?.isPivotal ?? false,
      costUsd: spent?.costUsd ?? 0,
      guessedCostUsd: spent?.guessedCostUsd ?? 0,
      waitMs: openedAt === undefined || actedAt === undefined ? undefined : Math.max(0, actedAt - openedAt),
      models: run.models.get(participantId) ?? []
    }
  })
  return voters.some(({ vote }) => vote !== undefined) ? { positive, voters } : undefined
}

const timeOf = (act: Act | undefined): number | undefined => {
  const time = Date.parse(act?.ts ?? "")
  return Number.isNaN(time) ? undefined : time
}
