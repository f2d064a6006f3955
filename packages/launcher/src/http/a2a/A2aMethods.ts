import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type * as Stream from "effect/Stream"
import { type TaskError, taskError } from "../../tasks/TaskErrors.ts"
import type { TaskCaller } from "../../tasks/TaskReads.ts"
import { readList, readSend, readTaskRequest, type TaskRequest } from "../../tasks/TaskRequests.ts"
import type { TaskUpdate } from "../../tasks/TaskStream.ts"
import type { TasksShape } from "../../tasks/Tasks.ts"

/** What a method answers. */
export type Answered =
  | { readonly _tag: "Result"; readonly result: object }
  | { readonly _tag: "Stream"; readonly updates: Stream.Stream<TaskUpdate, TaskError> }

interface Call {
  readonly caller: TaskCaller
  readonly params: unknown
  /** The index that a stream continues behind, of `Last-Event-ID`. */
  readonly lastEventId: number | undefined
}

export interface Method {
  readonly access: "viewer" | "operator"
  readonly run: (tasks: TasksShape, call: Call) => Effect.Effect<Answered, TaskError>
}

const result = (result: object): Answered => ({ _tag: "Result", result })
const stream = (updates: Stream.Stream<TaskUpdate, TaskError>): Answered => ({ _tag: "Stream", updates })

const withParams =
  <A>(read: (params: unknown) => Result.Result<A, TaskError>) =>
  (work: (tasks: TasksShape, caller: TaskCaller, request: A, call: Call) => Effect.Effect<Answered, TaskError>) =>
  (tasks: TasksShape, call: Call) =>
    Effect.flatMap(Effect.fromResult(read(call.params)), (request) => work(tasks, call.caller, request, call))

const ofTask = withParams<TaskRequest>(readTaskRequest)

const refused =
  (error: TaskError): Method["run"] =>
  () =>
    Effect.fail(error)

const noPush: Method = {
  access: "viewer",
  run: refused(taskError("PushNotSupported", "this service sends no push notifications"))
}

/** The methods of A2A 1.0, by their names in JSON-RPC (docs/reference/a2a.md#methods). */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  [
    "SendMessage",
    {
      access: "operator",
      run: withParams(readSend)((tasks, caller, request) =>
        Effect.map(tasks.send(caller, request), (task) => result({ task }))
      )
    }
  ],
  [
    "SendStreamingMessage",
    {
      access: "operator",
      run: withParams(readSend)((tasks, caller, request, { lastEventId }) =>
        Effect.map(tasks.sendStreaming(caller, { ...request, since: request.since ?? lastEventId }), stream)
      )
    }
  ],
  [
    "GetTask",
    { access: "viewer", run: ofTask((tasks, caller, request) => Effect.map(tasks.get(caller, request), result)) }
  ],
  [
    "ListTasks",
    {
      access: "viewer",
      run: withParams(readList)((tasks, caller, request) => Effect.map(tasks.list(caller, request), result))
    }
  ],
  [
    "CancelTask",
    { access: "operator", run: ofTask((tasks, caller, request) => Effect.map(tasks.cancel(caller, request), result)) }
  ],
  [
    "SubscribeToTask",
    {
      access: "viewer",
      run: ofTask((tasks, caller, request, { lastEventId }) =>
        Effect.map(tasks.subscribe(caller, { ...request, since: request.since ?? lastEventId }), stream)
      )
    }
  ],
  ["CreateTaskPushNotificationConfig", noPush],
  ["GetTaskPushNotificationConfig", noPush],
  ["ListTaskPushNotificationConfigs", noPush],
  ["DeleteTaskPushNotificationConfig", noPush],
  [
    "GetExtendedAgentCard",
    {
      access: "viewer",
      run: refused(taskError("UnsupportedOperation", "this service has no extended card"))
    }
  ]
])
