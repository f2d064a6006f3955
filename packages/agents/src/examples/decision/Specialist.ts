import type { Brief } from "../runner/Brief.ts"
import type { Model } from "../runner/LlmCall.ts"
import { Decision } from "../runner/Messages.ts"
import { hasSaid, messagesOf, type Session } from "../runner/Session.ts"
import { act, done, progress, type Strategy, say, think, wait, waitForOthers } from "../runner/Strategy.ts"
import { alert, ended, started, usedModel } from "../runner/Telemetry.ts"
import { type Assessment, voteFor } from "./Assessment.ts"

/**
 * One specialist of a decision: waits for the proposal, assesses it, waits until every other specialist has done so too
 * (the first vote closes evaluations and objections), and votes. A person who may evaluate or object has until its
 * deadline for that.
 */
export const specialist =
  (assess: (brief: Brief) => Assessment, model: Model): Strategy =>
  ({ brief, overdue, session }) => {
    const [proposal] = messagesOf(session, Decision.Proposal)
    if (proposal === undefined) return wait
    const { proposalId } = proposal.payload
    const assessment = assess(brief)
    const { alerts, confidence, objection, reason, recommendation } = assessment

    if (!hasSaid(session, brief.self, Decision.Evaluation)) {
      return act(
        started(brief),
        progress(0.1, "reading the proposal"),
        think("read"),
        progress(0.3, "assessing"),
        think("assess"),
        usedModel(model, brief, reason),
        ...alerts.map((type) => alert(brief, type, objection?.severity ?? "medium", reason)),
        think("answer"),
        // The objection goes first: peers wait for evaluations only.
        ...(objection === undefined ? [] : [say(Decision.Objection, { proposalId, ...objection })]),
        say(Decision.Evaluation, { proposalId, recommendation, confidence, reason }),
        think("listen"),
        progress(0.6, "waiting for the other specialists")
      )
    }
    if (hasSaid(session, brief.self, Decision.Vote)) return done
    const people = new Set(brief.people.map(({ participant }) => participant))
    const agents = brief.participants.filter((other) => other !== brief.self && other !== proposal.sender)
    const isDue = (other: string) => !people.has(other) && !hasSaid(session, other, Decision.Evaluation)
    if (agents.some(isDue)) return wait
    const open = brief.people.filter(({ evaluates, participant }) => evaluates && !hasSpoken(session, participant))
    if (open.length > 0 && !overdue) return waitForOthers(open, 0)
    const vote = voteFor(assessment)
    return act(
      progress(0.75, "voting"),
      think("vote"),
      think("ballot"),
      say(Decision.Vote, { proposalId, vote, reason }),
      progress(1, "done"),
      ended(brief, vote, recommendation)
    )
  }

/** Whether a participant has evaluated, objected, or voted, after which no evaluation of it follows. */
const hasSpoken = (session: Session, participant: string): boolean =>
  [Decision.Evaluation, Decision.Objection, Decision.Vote].some((schema) => hasSaid(session, participant, schema))
