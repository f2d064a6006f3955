import type { Brief } from "../runner/Brief.ts"
import type { Model } from "../runner/LlmCall.ts"
import { Decision } from "../runner/Messages.ts"
import { hasSaid, messagesOf, type Session } from "../runner/Session.ts"
import { act, cancel, leading, progress, say, think, waitForOthers } from "../runner/Strategy.ts"
import { concluding, opening, usedModel } from "../runner/Telemetry.ts"
import { decide, type GroupRecord, hintsOf } from "./GroupDecision.ts"

/** How long the lead waits for the votes of agents after its proposal, in milliseconds. */
const VOTES_WAIT_MS = 60_000

const MODEL: Model = { model: "vendor1-4o", provider: "vendor1", baseLatencyMs: 520 }

export interface Leadership {
  /** The lead's name for the group that decides with it. */
  readonly group: string
  /** The authority under which it commits. */
  readonly scope: string
  /** Why there is nothing to decide any more when all have voted; undefined when there is. */
  readonly calledOff?: (brief: Brief) => string | undefined
}

/**
 * The initiator of a decision: opens the session, puts the proposal, waits for all votes or for as long as it has
 * patience, votes and commits. Whether that is enough, the policy decides.
 */
export const lead = ({ calledOff, group, scope }: Leadership) =>
  leading(Decision.Proposal, ({ brief, overdue, session }, kickoff) => {
    const { self } = brief
    if (!hasSaid(session, self, Decision.Proposal)) {
      return opening(brief, [say(Decision.Proposal, kickoff)], 0.2, `the ${group}`)
    }
    const record = recordOf(
      session,
      brief.participants.filter((participant) => participant !== self)
    )
    if (record.votes.size < record.specialists.length && !overdue) return waitForOthers(brief.people, VOTES_WAIT_MS)
    const over = calledOff?.(brief)
    if (over !== undefined) return act(cancel(over))
    const { action, outcomePositive, reason, vote } = decide(hintsOf(brief.hints), record)
    const { proposalId } = kickoff
    return act(
      progress(0.8, "deciding"),
      think("decide"),
      think("weigh"),
      usedModel(MODEL, brief, reason),
      say(Decision.Vote, { proposalId, vote, reason }),
      think("commit"),
      ...concluding(
        brief,
        { commitmentId: `${proposalId}-final`, action, positive: outcomePositive, scope, reason },
        vote
      )
    )
  })

/** What the specialists said so far. */
const recordOf = (session: Session, specialists: ReadonlyArray<string>): GroupRecord => ({
  specialists,
  votes: new Map(
    messagesOf(session, Decision.Vote)
      .filter(({ sender }) => specialists.includes(sender))
      .map(({ payload, sender }) => [sender, payload.vote.toUpperCase()])
  ),
  criticalObjections: messagesOf(session, Decision.Objection).filter(
    ({ payload }) => payload.severity.toLowerCase() === "critical"
  ).length
})
