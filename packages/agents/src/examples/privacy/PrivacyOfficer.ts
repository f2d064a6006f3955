import type { Model } from "../runner/LlmCall.ts"
import { Task } from "../runner/Messages.ts"
import { hasSaid, heard } from "../runner/Session.ts"
import { act, cancel, commit, leading, open, progress, say, think, waitFor } from "../runner/Strategy.ts"
import { ended, sharedContext, started, usedModel } from "../runner/Telemetry.ts"
import { erasureOf } from "./ErasureContext.ts"

/** How long the officer waits for the task to be taken and done, in milliseconds since its last word. */
const REPORT_WAIT_MS = 60_000

const MODEL: Model = { model: "vendor1-4o-mini", provider: "vendor1", baseLatencyMs: 250 }

/**
 * The initiator of an erasure: requests the task, waits for its report and commits it. When nobody takes the task who
 * may, or when the policy refuses a report without proof, the session is cancelled and the request stays open.
 */
export const privacyOfficer = leading(Task.Request, ({ brief, overdue, session }, kickoff) => {
  const { participants, self } = brief
  const { requestedAssignee, taskId } = kickoff
  if (!hasSaid(session, self, Task.Request)) {
    return act(
      open,
      started(brief),
      think("open"),
      think("brief"),
      say(Task.Request, kickoff),
      sharedContext(brief),
      progress(0.1, "waiting for somebody to take the task")
    )
  }
  const commitmentId = `${taskId}-final`
  const [completed] = heard(session, Task.Complete)
  if (completed !== undefined) {
    const reason = `done by ${completed.sender}: ${completed.payload.summary}`
    return act(
      think("verify"),
      usedModel(MODEL, brief, reason),
      commit({ commitmentId, action: "task.completed", positive: true, scope: "data_protection", reason }),
      progress(1, reason),
      ended(brief, "COMPLETE", "task.completed")
    )
  }
  const [failed] = heard(session, Task.Fail)
  if (failed !== undefined) {
    const reason = `${failed.sender} could not do it (${failed.payload.errorCode}): ${failed.payload.reason}`
    return act(
      think("verify"),
      usedModel(MODEL, brief, reason),
      commit({ commitmentId, action: "task.failed", positive: false, scope: "data_protection", reason }),
      progress(1, reason),
      ended(brief, "FAIL", "task.failed")
    )
  }
  const asked = requestedAssignee === "" ? participants.filter((other) => other !== self) : [requestedAssignee]
  const refused = asked.filter((other) => hasSaid(session, other, Task.Reject))
  if (refused.length === asked.length || (refused.length > 0 && !erasureOf(brief.context).reassignable)) {
    return act(cancel(`nobody who may take ${taskId} has time for it: ${refused.join(", ")}`))
  }
  return overdue ? act(cancel(`no report on ${taskId} in time`)) : waitFor(REPORT_WAIT_MS)
})
