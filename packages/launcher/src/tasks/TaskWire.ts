import type { A2aPart } from "@runplane/domain"
import type { JsonObject } from "../common/Json.ts"

/** The objects of A2A 1.0 in their JSON form, as far as the service sends them (docs/reference/a2a.md). */

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

export interface Message {
  readonly messageId: string
  readonly contextId: string
  readonly taskId: string
  readonly role: "ROLE_USER" | "ROLE_AGENT"
  readonly parts: ReadonlyArray<A2aPart>
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
  readonly parts: ReadonlyArray<A2aPart>
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
