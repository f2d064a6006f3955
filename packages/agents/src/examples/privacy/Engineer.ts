import type { Brief } from "../runner/Brief.ts"
import type { Model } from "../runner/LlmCall.ts"
import { Task } from "../runner/Messages.ts"
import { hasSaid, messagesOf, type Session } from "../runner/Session.ts"
import { type Action, act, done, progress, type Step, type Strategy, say, think, wait } from "../runner/Strategy.ts"
import { alert, ended, started, usedModel } from "../runner/Telemetry.ts"
import { recordsBySystem, refusal, reportOf, stepOf } from "./Erasure.ts"
import { type ErasureContext, erasureOf } from "./ErasureContext.ts"

/**
 * An engineer that erases data. A task with an assignee belongs to that engineer alone; otherwise the engineers answer
 * in the scenario's order, each after the earlier ones have refused, so that no two of them accept it.
 */
export const engineer =
  (model: Model): Strategy =>
  ({ brief, session }) => {
    const [request] = messagesOf(session, Task.Request)
    if (request === undefined) return wait
    const { requestedAssignee, taskId } = request.payload
    if (hasSaid(session, brief.self, Task.Reject)) return done
    const context = erasureOf(brief.context)
    if (!hasSaid(session, brief.self, Task.Accept)) {
      const refusedBefore = messagesOf(session, Task.Reject).length > 0
      if (refusedBefore && !context.reassignable) return done
      return isRequested(brief, session, requestedAssignee, request.sender)
        ? respond(brief, model, context, taskId)
        : wait
    }
    return isReported(session, brief.self) ? done : work(brief, context, taskId)
  }

const isRequested = (
  { participants, self }: Brief,
  session: Session,
  requested: string,
  initiator: string
): boolean => {
  if (requested !== "") return requested === self
  const before = participants.slice(0, participants.indexOf(self)).filter((other) => other !== initiator)
  return before.every((other) => hasSaid(session, other, Task.Reject))
}

const respond = (brief: Brief, model: Model, context: ErasureContext, taskId: string): Step => {
  const { self } = brief
  const refused = refusal(context, self)
  const reason = refused ?? `${context.systems.length} systems, ${context.recordsEstimated} records: can begin now`
  return act(
    started(brief),
    think("plan"),
    usedModel(model, brief, reason),
    refused === undefined
      ? say(Task.Accept, { taskId, assignee: self, reason })
      : say(Task.Reject, { taskId, assignee: self, reason }),
    ...(refused === undefined ? [] : [progress(1, "declined"), ended(brief, "REJECT", "task.rejected")])
  )
}

const work = (brief: Brief, context: ErasureContext, taskId: string): Step => {
  const { seed, self } = brief
  if (context.legalHold) {
    const reason = `${context.subjectRef} is under a legal hold: nothing may be erased before it is lifted`
    return act(
      think("check"),
      alert(brief, "legal_hold_found", "critical", reason),
      say(Task.Fail, { taskId, assignee: self, errorCode: "LEGAL_HOLD", reason, retryable: false }),
      ended(brief, "FAIL", "task.failed")
    )
  }
  const systems = recordsBySystem(context, seed)
  const steps = systems.flatMap((system, index): ReadonlyArray<Action> => {
    const fraction = (index + 1) / (systems.length + 1)
    const message = stepOf(system, seed)
    return [
      think(system.system),
      say(Task.Update, {
        taskId,
        status: "erasing",
        progress: Math.round(fraction * 100) / 100,
        message,
        partialOutput: new TextEncoder().encode(JSON.stringify(system))
      })
    ]
  })
  const records = systems.reduce((sum, system) => sum + system.records, 0)
  return act(
    ...steps,
    think("certify"),
    ...(context.erasureLog ? [] : [alert(brief, "erasure_log_missing", "high", "the systems kept no log of it")]),
    say(Task.Complete, {
      taskId,
      assignee: self,
      output: reportOf(context, self, seed),
      summary: `${records} records erased in ${systems.length} systems`
    }),
    ended(brief, "COMPLETE", "task.completed")
  )
}

const isReported = (session: Session, self: string): boolean =>
  hasSaid(session, self, Task.Complete) || hasSaid(session, self, Task.Fail)
