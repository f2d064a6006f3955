import type { Model } from "../runner/LlmCall.ts"
import { Quorum } from "../runner/Messages.ts"
import { hasSaid, messagesOf, type Session } from "../runner/Session.ts"
import { act, cancel, leading, progress, say, think, waitForOthers } from "../runner/Strategy.ts"
import { concluding, ended, opening, usedModel } from "../runner/Telemetry.ts"
import { releaseOf } from "./ReleaseContext.ts"

/** How long the release manager waits for the approvers, in milliseconds. */
const BALLOTS_WAIT_MS = 60_000

const MODEL: Model = { model: "vendor1-4o-mini", provider: "vendor1", baseLatencyMs: 240 }

/**
 * The initiator of a rollout approval: requests it, abstains (an agent does not approve its own request), waits for
 * every ballot and commits their result. A request whose artefact has to be built anew is withdrawn by
 * cancelling.
 */
export const releaseManager = leading(Quorum.ApprovalRequest, ({ brief, overdue, session }, kickoff) => {
  const { participants, self } = brief
  const release = releaseOf(brief.context)
  if (!hasSaid(session, self, Quorum.ApprovalRequest)) {
    return opening(brief, [say(Quorum.ApprovalRequest, kickoff)], 0.2, "the approvers")
  }
  const { requestId } = kickoff
  if (!hasSaid(session, self, Quorum.Abstain)) {
    const reason = "an agent does not approve its own request"
    return act(think("step back"), say(Quorum.Abstain, { requestId, reason }))
  }
  const ballots = countBallots(session)
  if (ballots.cast < participants.length && !overdue) return waitForOthers(brief.people, BALLOTS_WAIT_MS)
  if (release.secretsFound > 0 && ballots.rejections > 0) {
    const reason = `withdrawn: ${release.version} has to be built again without the secrets in it`
    return act(progress(1, reason), ended(brief, "ABSTAIN", "withdrawn"), cancel(reason))
  }
  // The pack states the bar of its policy in the request, too; the policy has the last word.
  const needed = kickoff.requiredApprovals
  const approved = ballots.approvals >= needed
  if (!approved && ballots.approvals + participants.length - ballots.cast >= needed) {
    return act(cancel(`${ballots.approvals} of ${needed} approvals when the time was up`))
  }
  const tally = `${ballots.approvals} approve, ${ballots.rejections} reject, ${needed} approvals needed`
  const reason = `${approved ? "ships" : "does not ship"}: ${tally}`
  return act(
    progress(0.8, "counting"),
    think("count"),
    usedModel(MODEL, brief, reason),
    think("commit"),
    ...concluding(
      brief,
      {
        commitmentId: `${requestId}-final`,
        action: approved ? "quorum.approved" : "quorum.rejected",
        positive: approved,
        scope: "production_release",
        reason
      },
      "ABSTAIN"
    )
  )
})

const countBallots = (session: Session) => {
  const approvals = messagesOf(session, Quorum.Approve).length
  const rejections = messagesOf(session, Quorum.Reject).length
  return { approvals, rejections, cast: approvals + rejections + messagesOf(session, Quorum.Abstain).length }
}
