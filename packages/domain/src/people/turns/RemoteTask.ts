import * as Schema from "effect/Schema"

/**
 * Tasks and messages of A2A 1.0 as their JSON has them. The writer is not trusted: members that we do not read are
 * dropped, and an unknown state counts as work that goes on.
 */

const optional = Schema.optionalKey

const RemotePart = Schema.Struct({ text: optional(Schema.String), data: optional(Schema.Json) })
export type RemotePart = typeof RemotePart.Type

const metadata = optional(Schema.JsonObject)

export const RemoteMessage = Schema.Struct({
  messageId: optional(Schema.String),
  parts: optional(Schema.Array(RemotePart)),
  metadata
})
export type RemoteMessage = typeof RemoteMessage.Type

export const RemoteTask = Schema.Struct({
  id: Schema.NonEmptyString,
  contextId: optional(Schema.String),
  status: optional(Schema.Struct({ state: optional(Schema.String), message: optional(RemoteMessage) })),
  artifacts: optional(Schema.Array(Schema.Struct({ parts: optional(Schema.Array(RemotePart)), metadata }))),
  history: optional(Schema.Array(RemoteMessage)),
  metadata
})
export type RemoteTask = typeof RemoteTask.Type

/** The answer to a message: a task, or a message without one. */
export const RemoteReply = Schema.Struct({ task: optional(RemoteTask), message: optional(RemoteMessage) })
export type RemoteReply = typeof RemoteReply.Type

/** One event of a stream; only what names the task and its state. */
export const RemoteEvent = Schema.Struct({
  task: optional(RemoteTask),
  message: optional(RemoteMessage),
  statusUpdate: optional(
    Schema.Struct({
      taskId: optional(Schema.String),
      status: optional(Schema.Struct({ state: optional(Schema.String) }))
    })
  ),
  artifactUpdate: optional(Schema.Struct({ taskId: optional(Schema.String) }))
})
export type RemoteEvent = typeof RemoteEvent.Type

/** The task that an event is about. */
export const taskOfEvent = ({ artifactUpdate, statusUpdate, task }: RemoteEvent): string | undefined =>
  task?.id ?? (statusUpdate?.taskId || artifactUpdate?.taskId || undefined)

/** Whether the history of a task has a message. */
export const hasMessage = ({ history = [] }: RemoteTask, id: string): boolean =>
  history.some(({ messageId }) => messageId === id)
