import type * as Schema from "effect/Schema"

/** What both ends of A2A 1.0 write and read: the server of scenarios, and the client of agents that take part. */

/** The version that is spoken, in cards and in the header of requests. */
export const A2A_VERSION = "1.0"
export const A2A_VERSION_HEADER = "a2a-version"

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

const FINAL: ReadonlySet<string | undefined> = new Set<(typeof TASK_STATES)[number]>([
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_REJECTED"
])
const STOPPED: ReadonlySet<string | undefined> = new Set<string | undefined>([
  ...FINAL,
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_AUTH_REQUIRED"
])

/** Whether a task has ended. A state that is not known counts as work that goes on. */
export const isFinal = (state: string | undefined): boolean => FINAL.has(state)
/** Whether a task goes on by itself no further: it has ended, or waits for its client. */
export const isStopped = (state: string | undefined): boolean => STOPPED.has(state)

/** Codes of JSON-RPC in errors. */
export const TASK_NOT_FOUND_CODE = -32001
export const INTERNAL_ERROR_CODE = -32603

export const JSON_TYPE = "application/json"
export const MARKDOWN_TYPE = "text/markdown"
export const TEXT_TYPE = "text/plain"

export type A2aPart =
  | { readonly text: string; readonly mediaType: string }
  | { readonly data: Schema.Json; readonly mediaType: typeof JSON_TYPE }

export const textPart = (text: string, mediaType: string = TEXT_TYPE): A2aPart => ({ text, mediaType })
export const dataPart = (data: Schema.Json): A2aPart => ({ data, mediaType: JSON_TYPE })
