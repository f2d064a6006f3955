import { TaskMode as Wire } from "@runplane/runtime"
import * as Chunk from "effect/Chunk"
import * as Result from "effect/Result"
import { decodePayload } from "../Decode.ts"
import {
  applyMoves,
  initiatorOnly,
  type Mode,
  type ModeRules,
  type Move,
  makeMode,
  participantsOnly,
  type SessionBinding
} from "../Mode.ts"
import { unsupportedVersion } from "../PolicySemantics.ts"
import { Forbidden, InvalidPayload, policyDenied, type Rejection } from "../Rejection.ts"

/**
 * Task mode (runtime-wire section 8.4): the initiator asks for one task, one assignee takes it, works and reports its end;
 * then the session may be committed.
 */
export interface TaskState {
  readonly task: { readonly taskId: string; readonly requestedAssignee: string } | undefined
  readonly assignee: string | undefined
  readonly rejectedBy: Chunk.Chunk<string>
  readonly updates: number
  readonly report: Report | undefined
}

interface Report {
  readonly outcome: "completed" | "failed"
  /** Bytes of the reported output; a failure has none. */
  readonly outputBytes: number
}

const refused = Result.fail(InvalidPayload)

/** The named assignee when the request names one, otherwise anybody but the initiator. */
const isEligible = (task: { readonly requestedAssignee: string }, sender: string, binding: SessionBinding): boolean =>
  task.requestedAssignee === "" ? sender !== binding.initiator : sender === task.requestedAssignee

/** Empty or the sender itself: nobody takes or ends a task for somebody else. */
const namesSender = (assignee: string, sender: string): boolean => assignee === "" || assignee === sender

/** Releases from 0.13.2 on call a reassignment that the policy does not allow a malformed message. */
const reassignmentDenied = ({ newerRuntime }: SessionBinding): Rejection =>
  newerRuntime ? InvalidPayload : policyDenied(["the policy does not allow reassignment after a rejection"])

const request: Move<TaskState> = (state, message, { participants }) =>
  Result.flatMap(decodePayload(Wire.TaskRequestPayloadSchema, message.payload), ({ requestedAssignee, taskId }) => {
    const known = requestedAssignee === "" || participants.includes(requestedAssignee)
    if (state.task !== undefined || taskId === "" || !known) return refused
    return Result.succeed({ ...state, task: { taskId, requestedAssignee } })
  })

const accept: Move<TaskState> = (state, message, binding) =>
  Result.flatMap(decodePayload(Wire.TaskAcceptPayloadSchema, message.payload), ({ assignee, taskId }) => {
    const { assignee: active, rejectedBy, task } = state
    if (task === undefined || taskId !== task.taskId) return refused
    if (!isEligible(task, message.sender, binding)) return Result.fail(Forbidden)
    if (active !== undefined || !namesSender(assignee, message.sender)) return refused
    if (Chunk.isNonEmpty(rejectedBy) && !binding.policy.rules.assignment.allow_reassignment_on_reject) {
      return Result.fail(reassignmentDenied(binding))
    }
    return Result.succeed({ ...state, assignee: message.sender })
  })

const reject: Move<TaskState> = (state, message, binding) =>
  Result.flatMap(decodePayload(Wire.TaskRejectPayloadSchema, message.payload), ({ assignee, taskId }) => {
    const { assignee: active, rejectedBy, task } = state
    if (task === undefined || taskId !== task.taskId) return refused
    if (!isEligible(task, message.sender, binding)) return Result.fail(Forbidden)
    if (!namesSender(assignee, message.sender)) return refused
    const isActive = active === message.sender
    if (active !== undefined && !isActive) return refused
    if (Chunk.some(rejectedBy, (who) => who === message.sender)) return refused
    if (isActive && !binding.policy.rules.assignment.allow_reassignment_on_reject) {
      return Result.fail(reassignmentDenied(binding))
    }
    return Result.succeed({ ...state, assignee: undefined, rejectedBy: Chunk.append(rejectedBy, message.sender) })
  })

const update: Move<TaskState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.TaskUpdatePayloadSchema, message.payload), ({ taskId }) =>
    taskId !== state.task?.taskId || state.report !== undefined
      ? refused
      : Result.succeed({ ...state, updates: state.updates + 1 })
  )

const complete: Move<TaskState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.TaskCompletePayloadSchema, message.payload), ({ assignee, output, taskId }) =>
    report(state, message.sender, taskId, assignee, { outcome: "completed", outputBytes: output.length })
  )

const fail: Move<TaskState> = (state, message) =>
  Result.flatMap(decodePayload(Wire.TaskFailPayloadSchema, message.payload), ({ assignee, taskId }) =>
    report(state, message.sender, taskId, assignee, { outcome: "failed", outputBytes: 0 })
  )

const report = (state: TaskState, sender: string, taskId: string, assignee: string, report: Report) =>
  taskId !== state.task?.taskId || state.report !== undefined || !namesSender(assignee, sender)
    ? refused
    : Result.succeed({ ...state, report })

/** Sent by the participant who has the task, and by nobody before somebody has. */
const WORK = new Set(["TaskUpdate", "TaskComplete", "TaskFail"])

const deny = (state: TaskState, { policy, semantics }: SessionBinding, outcomePositive: boolean) => {
  const unsupported = unsupportedVersion(policy, semantics)
  if (unsupported !== undefined) return [unsupported]
  const missing = policy.rules.completion.require_output && (state.report?.outputBytes ?? 0) === 0
  return outcomePositive && missing ? ["policy requires task output before commitment"] : []
}

export const taskRules: ModeRules<TaskState> = {
  info: {
    mode: "macp.mode.task.v1",
    modeVersion: "1.0.0",
    title: "Task",
    description: "The initiator requests one task; one assignee accepts it, reports progress and its end.",
    determinismClass: "structural-only",
    participantModel: "orchestrated",
    messageTypes: [
      "SessionStart",
      "TaskRequest",
      "TaskAccept",
      "TaskReject",
      "TaskUpdate",
      "TaskComplete",
      "TaskFail",
      "Commitment"
    ],
    schemaUris: { protobuf: "macp/modes/task/v1/task.proto" }
  },
  policyAuthority: true,
  start: ({ initiator, participants }) =>
    participants.some((participant) => participant !== initiator)
      ? Result.succeed({
          task: undefined,
          assignee: undefined,
          rejectedBy: Chunk.empty(),
          updates: 0,
          report: undefined
        })
      : refused,
  authorize: (state, { sender, type }, binding) => {
    if (type === "TaskRequest") return initiatorOnly(sender, binding)
    if (WORK.has(type)) return sender === state.assignee ? undefined : Forbidden
    return participantsOnly(sender, binding)
  },
  apply: applyMoves({
    TaskRequest: request,
    TaskAccept: accept,
    TaskReject: reject,
    TaskUpdate: update,
    TaskComplete: complete,
    TaskFail: fail
  }),
  readyToCommit: (state) => state.report !== undefined,
  deny,
  commit: (state) => state,
  view: (state) => ({
    task:
      state.task === undefined
        ? null
        : { task_id: state.task.taskId, requested_assignee: state.task.requestedAssignee },
    active_assignee: state.assignee ?? null,
    rejections: Chunk.toReadonlyArray(state.rejectedBy),
    updates: state.updates,
    terminal_report: state.report?.outcome ?? null
  })
}

export const TaskMode: Mode = makeMode(taskRules)
