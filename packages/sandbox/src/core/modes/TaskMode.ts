import { isReleaseFrom, type TaskRecord, type TaskRejection } from "@runplane/domain"
import { TaskMode as Wire } from "@runplane/runtime"
import * as Chunk from "effect/Chunk"
import * as Result from "effect/Result"
import { decodePayload } from "../Decode.ts"
import { initiatorOnly, type Move, makeMode, participantsOnly, ruledBy, type SessionBinding } from "../Mode.ts"
import { Forbidden, InvalidPayload, policyDenied, type Rejection } from "../Rejection.ts"

/**
 * Task mode (docs/internals/runtime.md#task-mode): the initiator requests one task, one assignee accepts it, works and
 * reports its end; then the session may be committed.
 */
export interface TaskState {
  readonly task: { readonly taskId: string; readonly requestedAssignee: string } | undefined
  readonly assignee: string | undefined
  readonly rejections: Chunk.Chunk<TaskRejection>
  readonly updates: number
  readonly report: Report | undefined
}

interface Report {
  readonly outcome: "completed" | "failed"
  /** Bytes of the reported output; a failure has none. */
  readonly outputBytes: number
}

const refused = Result.fail(InvalidPayload)

/** The named assignee when the request names one, otherwise any participant except the initiator. */
const isEligible = (task: { readonly requestedAssignee: string }, sender: string, binding: SessionBinding): boolean =>
  task.requestedAssignee === "" ? sender !== binding.initiator : sender === task.requestedAssignee

/** Empty or the sender itself: a task is taken and ended in one's own name. */
const namesSender = (assignee: string, sender: string): boolean => assignee === "" || assignee === sender

/** Releases after 0.13.0 call a reassignment that the policy does not allow a malformed message. */
const REASSIGNMENT_DENIED = "the policy does not allow reassignment after a rejection"

const reassignmentDenied = ({ release }: SessionBinding): Rejection =>
  isReleaseFrom(release, "0.13.2")
    ? InvalidPayload
    : policyDenied([{ code: "reassignment_not_allowed", message: REASSIGNMENT_DENIED }])

const request: Move<TaskState> = (state, message, { participants }) =>
  Result.flatMap(decodePayload(Wire.TaskRequestPayloadSchema, message.payload), ({ requestedAssignee, taskId }) => {
    const known = requestedAssignee === "" || participants.includes(requestedAssignee)
    if (state.task !== undefined || taskId === "" || !known) return refused
    return Result.succeed({ ...state, task: { taskId, requestedAssignee } })
  })

const accept: Move<TaskState> = (state, message, binding) =>
  Result.flatMap(decodePayload(Wire.TaskAcceptPayloadSchema, message.payload), ({ assignee, taskId }) => {
    const { assignee: active, rejections, task } = state
    if (task === undefined || taskId !== task.taskId) return refused
    // From 0.13.0 on a refusal is final, and concerns only the participant that refused.
    const isPersonal = isReleaseFrom(binding.release, "0.13.0")
    if (active !== undefined || (isPersonal && hasRefused(rejections, message.sender))) return refused
    const reassigns = Chunk.some(rejections, ({ whileAssigned }) => whileAssigned || !isPersonal)
    if (reassigns && !binding.policy.rules.assignment.allow_reassignment_on_reject) {
      return Result.fail(reassignmentDenied(binding))
    }
    if (!namesSender(assignee, message.sender)) return refused
    if (!isEligible(task, message.sender, binding)) return Result.fail(Forbidden)
    return Result.succeed({ ...state, assignee: message.sender })
  })

const hasRefused = (rejections: Chunk.Chunk<TaskRejection>, participant: string): boolean =>
  Chunk.some(rejections, ({ by }) => by === participant)

const reject: Move<TaskState> = (state, message, binding) =>
  Result.flatMap(decodePayload(Wire.TaskRejectPayloadSchema, message.payload), ({ assignee, taskId }) => {
    const { assignee: active, rejections, task } = state
    if (task === undefined || taskId !== task.taskId) return refused
    const isActive = active === message.sender
    if (isActive && !binding.policy.rules.assignment.allow_reassignment_on_reject) {
      return Result.fail(reassignmentDenied(binding))
    }
    if (active !== undefined && !isActive) return refused
    if (!namesSender(assignee, message.sender)) return refused
    if (!isActive && !isEligible(task, message.sender, binding)) return Result.fail(Forbidden)
    if (hasRefused(rejections, message.sender)) return refused
    const refusal = { by: message.sender, whileAssigned: isActive }
    return Result.succeed({ ...state, assignee: undefined, rejections: Chunk.append(rejections, refusal) })
  })

const update: Move<TaskState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.TaskUpdatePayloadSchema, message.payload), ({ taskId }) => {
    if (taskId !== state.task?.taskId) return refused
    if (!isAtWork(state, message.sender)) return Result.fail(Forbidden)
    return Result.succeed({ ...state, updates: state.updates + 1 })
  })

const complete: Move<TaskState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.TaskCompletePayloadSchema, message.payload), ({ assignee, output, taskId }) =>
    report(state, message.sender, taskId, assignee, { outcome: "completed", outputBytes: output.length })
  )

const fail: Move<TaskState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.TaskFailPayloadSchema, message.payload), ({ assignee, taskId }) =>
    report(state, message.sender, taskId, assignee, { outcome: "failed", outputBytes: 0 })
  )

const report = (
  state: TaskState,
  sender: string,
  taskId: string,
  assignee: string,
  report: Report
): Result.Result<TaskState, Rejection> => {
  if (taskId !== state.task?.taskId) return refused
  if (!isAtWork(state, sender)) return Result.fail(Forbidden)
  return namesSender(assignee, sender) ? Result.succeed({ ...state, report }) : refused
}

/** Whether this participant has the task and has not reported its end yet. */
const isAtWork = ({ assignee, report }: TaskState, sender: string): boolean =>
  report === undefined && assignee === sender

const recordOf = ({ assignee, rejections, report, task }: TaskState): TaskRecord => ({
  mode: "task",
  requestedAssignee: task?.requestedAssignee ?? "",
  assignee,
  rejections,
  report
})

export const TaskMode = makeMode<TaskState>({
  info: {
    mode: "macp.mode.task.v1",
    title: "Task",
    description: "The initiator requests one task; one assignee accepts it, reports progress and its end.",
    determinismClass: "structural-only",
    participantModel: "orchestrated"
  },
  policyAuthority: true,
  start: ({ initiator, participants }) =>
    participants.some((participant) => participant !== initiator)
      ? Result.succeed({
          task: undefined,
          assignee: undefined,
          rejections: Chunk.empty(),
          updates: 0,
          report: undefined
        })
      : refused,
  authorize: (_state, { sender, type }, binding) =>
    type === "TaskRequest" ? initiatorOnly(sender, binding) : participantsOnly(sender, binding),
  moves: {
    TaskRequest: request,
    TaskAccept: accept,
    TaskReject: reject,
    TaskUpdate: update,
    TaskComplete: complete,
    TaskFail: fail
  },
  ...ruledBy(recordOf),
  commit: (state) => state,
  view: (state) => ({
    task:
      state.task === undefined
        ? null
        : { task_id: state.task.taskId, requested_assignee: state.task.requestedAssignee },
    active_assignee: state.assignee ?? null,
    rejections: Array.from(state.rejections, ({ by }) => by),
    updates: state.updates,
    terminal_report: state.report?.outcome ?? null
  })
})
