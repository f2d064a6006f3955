import type { Json, JsonObject } from "../common/Json.ts"

/** The objects of A2A 1.0 in their JSON form, as far as the service sends them (docs/reference/a2a.md). */

/** The version of the protocol that the service speaks. */
export const PROTOCOL_VERSION = "1.0"

/** All states, in the order of their numbers, which clients may send in place of the names. */
export const TASK_STATES = [
  "TASK_STATE_UNSPECIFIED",
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED"
] as const

/** The states that tasks of this service have. */
export const USED_STATES = [
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED"
] as const
export type TaskState = (typeof USED_STATES)[number]

const FINAL: ReadonlySet<TaskState> = new Set(["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED"])
export const isFinal = (state: TaskState): boolean => FINAL.has(state)

export const JSON_TYPE = "application/json"
export const MARKDOWN_TYPE = "text/markdown"
export const TEXT_TYPE = "text/plain"

export type Part =
  | { readonly text: string; readonly mediaType: string }
  | { readonly data: Json; readonly mediaType: typeof JSON_TYPE }

export const textPart = (text: string, mediaType: string = TEXT_TYPE): Part => ({ text, mediaType })
export const dataPart = (data: Json): Part => ({ data, mediaType: JSON_TYPE })

export interface Message {
  readonly messageId: string
  readonly contextId: string
  readonly taskId: string
  readonly role: "ROLE_USER" | "ROLE_AGENT"
  readonly parts: ReadonlyArray<Part>
}

export interface TaskStatus {
  readonly state: TaskState
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly message?: Message
}

export interface Artifact {
  readonly artifactId: "decision" | "receipt" | "seal"
  readonly name: string
  readonly description: string
  readonly parts: ReadonlyArray<Part>
}

export interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: TaskStatus
  readonly artifacts?: ReadonlyArray<Artifact>
  readonly history?: ReadonlyArray<Message>
  readonly metadata: JsonObject
}

/** One object of a stream. */
export type StreamResponse =
  | { readonly task: Task }
  | {
      readonly statusUpdate: {
        readonly taskId: string
        readonly contextId: string
        readonly status: TaskStatus
        readonly metadata: JsonObject
      }
    }
  | {
      readonly artifactUpdate: {
        readonly taskId: string
        readonly contextId: string
        readonly artifact: Artifact
        readonly append: false
        readonly lastChunk: true
        readonly metadata: JsonObject
      }
    }
