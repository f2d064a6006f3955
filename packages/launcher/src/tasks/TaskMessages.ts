import * as Effect from "effect/Effect"
import { requested } from "./Skills.ts"
import { invalid, taskError, taskNotFound } from "./TaskErrors.ts"
import { contextIdOf, hashOf, taskIdOf } from "./TaskIds.ts"
import type { TaskLaunches } from "./TaskLaunches.ts"
import type { TaskCaller, TaskReadOptions, TaskReads } from "./TaskReads.ts"
import type { Received } from "./TaskRequests.ts"
import type { TaskPlan } from "./TaskRows.ts"

export interface TaskMessageOptions extends Pick<TaskReadOptions, "rows" | "skills"> {
  readonly launches: Pick<TaskLaunches, "wake">
  readonly reads: Pick<TaskReads, "owned">
}

/** Stores the messages of callers, each once. */
export const makeTaskMessages = ({ launches, reads: { owned }, rows, skills }: TaskMessageOptions) => {
  const planOf = Effect.fnUntraced(function* (message: Received, asked: string | undefined) {
    const found = yield* Effect.fromResult(requested(message, yield* skills, asked))
    const empty = {
      skill: undefined,
      scenarioRef: undefined,
      template: undefined,
      inputs: undefined,
      reason: undefined
    }
    const plan: TaskPlan =
      found._tag === "Ask"
        ? { ...empty, state: "TASK_STATE_INPUT_REQUIRED", skill: found.skill, reason: found.why }
        : { ...empty, state: "TASK_STATE_SUBMITTED", ...found }
    return plan
  })

  const usedDifferently = (messageId: string) =>
    invalid("message.messageId", `${messageId} was used before, with other content`)

  /** Stores a message once, with what it makes of its task. The id of the task. */
  const accept = Effect.fn("Tasks.accept")(function* (caller: TaskCaller, message: Received) {
    const { messageId } = message
    const key = { caller: caller.id, messageId, contentSha256: hashOf(message) }
    const earlier = yield* rows.message(key)
    if (earlier !== undefined) {
      if (earlier.contentSha256 !== key.contentSha256) return yield* usedDifferently(messageId)
      return earlier.task
    }
    const continued = message.taskId === undefined ? undefined : yield* owned(caller, message.taskId)
    const plan = yield* planOf(message, continued?.skill)
    const added = Effect.gen(function* () {
      if (continued !== undefined) {
        const row = yield* rows.lock(continued.id, caller.id)
        if (row === undefined) return yield* taskNotFound(continued.id)
        if (message.contextId !== undefined && message.contextId !== row.contextId) {
          return yield* invalid("message.contextId", `is not the context of task ${row.id}`)
        }
        const same = yield* rows.addMessage(key, row.id)
        if (same !== undefined) return same
        if (row.state !== "TASK_STATE_INPUT_REQUIRED") {
          return yield* taskError("UnsupportedOperation", `task ${row.id} takes no further message`)
        }
        yield* rows.plan(row.id, key.contentSha256, plan)
        return { task: row.id, contentSha256: key.contentSha256 }
      }
      const id = taskIdOf(caller.id, messageId)
      const contextId = message.contextId ?? contextIdOf(id)
      yield* rows.add({ id, caller: caller.id, requester: caller.person, contextId }, key, plan)
      return (yield* rows.addMessage(key, id)) ?? { task: id, contentSha256: key.contentSha256 }
    })
    const stored = yield* rows.inTransaction(added)
    if (stored.contentSha256 !== key.contentSha256) return yield* usedDifferently(messageId)
    yield* launches.wake
    return stored.task
  })

  return { accept }
}
