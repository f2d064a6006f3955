import { INTERNAL_ERROR_CODE, TASK_NOT_FOUND_CODE } from "@runplane/domain"
import * as Data from "effect/Data"
import type { JsonObject } from "../common/Json.ts"

interface Kind {
  /** Of JSON-RPC. */
  readonly code: number
  /** Of HTTP+JSON. */
  readonly status: number
  readonly rpcStatus: string
  readonly reason: string
}

const kind = (code: number, status: number, rpcStatus: string, reason: string): Kind => ({
  code,
  status,
  rpcStatus,
  reason
})

/** The errors of A2A 1.0 and of JSON-RPC, in both bindings. */
const KINDS = {
  TaskNotFound: kind(TASK_NOT_FOUND_CODE, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
  TaskNotCancelable: kind(-32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
  PushNotSupported: kind(-32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
  UnsupportedOperation: kind(-32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
  ContentTypeNotSupported: kind(-32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"),
  VersionNotSupported: kind(-32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"),
  InvalidParams: kind(-32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
  InvalidRequest: kind(-32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
  MethodNotFound: kind(-32601, 404, "NOT_FOUND", "METHOD_NOT_FOUND"),
  ParseError: kind(-32700, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"),
  Internal: kind(INTERNAL_ERROR_CODE, 500, "INTERNAL", "INTERNAL_ERROR"),
  Unavailable: kind(INTERNAL_ERROR_CODE, 503, "UNAVAILABLE", "UNAVAILABLE")
} satisfies Readonly<Record<string, Kind>>

export type TaskErrorKind = keyof typeof KINDS

/** Why a request of an A2A client is refused. */
export class TaskError extends Data.TaggedError("TaskError")<{
  readonly kind: TaskErrorKind
  readonly message: string
  /** The field at fault: `message.messageId`. */
  readonly field?: string | undefined
}> {}

export const taskError = (kind: TaskErrorKind, message: string, field?: string): TaskError =>
  new TaskError({ kind, message: field === undefined ? message : `${field} ${message}`, field })

export const invalid = (field: string, message: string): TaskError => taskError("InvalidParams", message, field)

/** The same text for a task that is not there, and for one of another caller. */
export const taskNotFound = (id: string): TaskError => taskError("TaskNotFound", `task ${id} was not found`)

const detailsOf = ({ field, kind, message }: TaskError): ReadonlyArray<JsonObject> => [
  {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: KINDS[kind].reason,
    domain: "a2a-protocol.org",
    metadata: {}
  },
  ...(field === undefined
    ? []
    : [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: [{ field, description: message }]
        }
      ])
]

/** The error member of a JSON-RPC answer. */
export const rpcErrorOf = (error: TaskError) => ({
  code: KINDS[error.kind].code,
  message: error.message,
  data: detailsOf(error)
})

/** Status and body of an HTTP+JSON answer. */
export const httpErrorOf = (error: TaskError) => {
  const { rpcStatus, status } = KINDS[error.kind]
  return {
    status,
    body: { error: { code: status, status: rpcStatus, message: error.message, details: detailsOf(error) } }
  }
}

/** The outcome as a label of metrics. */
export const outcomeOf = ({ kind }: TaskError): string => KINDS[kind].reason.toLowerCase()
