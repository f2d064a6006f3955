import type { Model } from "../runner/LlmCall.ts"
import { Task } from "../runner/Messages.ts"
import { hasSaid, messagesOf } from "../runner/Session.ts"
import { act, cancel, leading, say, think, waitFor } from "../runner/Strategy.ts"
import { concluding, opening, usedModel } from "../runner/Telemetry.ts"
import { erasureOf } from "./ErasureContext.ts"

/** How long the officer waits for the task to be taken and done, in milliseconds since its last word. */
const REPORT_WAIT_MS = 60_000

const MODEL: Model = { model: "vendor1-4o-mini", provider: "vendor1", baseLatencyMs: 250 }

/**
 * The initiator of an erasure: requests the task, waits for its report and commits it. When no permitted engineer
 * accepts the task, or the policy refuses a report without proof, the session is cancelled and the request stays open.
 */
export const privacyOfficer = leading(Task.Request, ({ brief, overdue, session }, kickoff) => {
  const { participants, self } = brief
  const { requestedAssignee, taskId } = kickoff
  if (!hasSaid(session, self, Task.Request)) {
    return opening(brief, [say(Task.Request, kickoff)], 0.1, "an engineer for the task")
  }
  const conclude = (action: "task.completed" | "task.failed", vote: string, reason: string) => {
    const commitment = { commitmentId: `${taskId}-final`, action, scope: "data_protection", reason }
    const positive = action === "task.completed"
    return act(
      think("verify"),
      usedModel(MODEL, brief, reason),
      ...concluding(brief, { ...commitment, positive }, vote)
    )
  }
  const [completed] = messagesOf(session, Task.Complete)
  if (completed !== undefined) {
    return conclude("task.completed", "COMPLETE", `done by ${completed.sender}: ${completed.payload.summary}`)
  }
  const [failed] = messagesOf(session, Task.Fail)
  if (failed !== undefined) {
    const reason = `${failed.sender} could not do it (${failed.payload.errorCode}): ${failed.payload.reason}`
    return conclude("task.failed", "FAIL", reason)
  }
  const assignees = requestedAssignee === "" ? participants.filter((other) => other !== self) : [requestedAssignee]
  const refused = assignees.filter((other) => hasSaid(session, other, Task.Reject))
  if (refused.length === assignees.length || (refused.length > 0 && !erasureOf(brief.context).reassignable)) {
    return act(cancel(`no permitted engineer has time for ${taskId}: ${refused.join(", ")}`))
  }
  return overdue ? act(cancel(`no report on ${taskId} in time`)) : waitFor(REPORT_WAIT_MS)
})
