import type { Model } from "../runner/LlmCall.ts"
import { Quorum } from "../runner/Messages.ts"
import { hasSaid, messagesOf } from "../runner/Session.ts"
import { type Action, act, done, progress, type Strategy, say, think, wait } from "../runner/Strategy.ts"
import { alert, ended, started, usedModel } from "../runner/Telemetry.ts"
import { releaseOf } from "./ReleaseContext.ts"
import type { Examine, Review } from "./Review.ts"

/** One approver of a release: waits for the request, examines the release, and casts its one ballot. */
export const approver =
  (examine: Examine, model: Model): Strategy =>
  ({ brief, session }) => {
    const [request] = messagesOf(session, Quorum.ApprovalRequest)
    if (request === undefined) return wait
    const { alerts, ballot, reason } = examine(releaseOf(brief.context), brief.seed)
    if (hasSaid(session, brief.self, Quorum[ballot])) return done
    return act(
      started(brief),
      progress(0.1, "reading the change"),
      think("read"),
      progress(0.4, "examining the release"),
      think("examine"),
      usedModel(model, brief, reason),
      ...alerts.map((type) => alert(brief, type, "high", reason)),
      think("decide"),
      cast(ballot, { requestId: request.payload.requestId, reason }),
      progress(1, "done"),
      ended(brief, ballot.toUpperCase(), ballot.toUpperCase())
    )
  }

const cast = (ballot: Review["ballot"], payload: { readonly requestId: string; readonly reason: string }): Action => {
  switch (ballot) {
    case "Approve":
      return say(Quorum.Approve, payload)
    case "Reject":
      return say(Quorum.Reject, payload)
    case "Abstain":
      return say(Quorum.Abstain, payload)
  }
}
