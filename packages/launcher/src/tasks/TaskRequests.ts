import { isOneLine, jsonFaultText, parseExactJson, TASK_STATES } from "@runplane/domain"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { type Json, type JsonObject, withoutNulls } from "../common/Json.ts"
import { invalid, type TaskError, taskError } from "./TaskErrors.ts"
import { type TaskState, USED_STATES } from "./TaskWire.ts"

/** Characters of an id that a client chooses. */
const MAX_ID = 256
/** Parts of a message. */
const MAX_PARTS = 100
const DEFAULT_PAGE = 50
const MAX_PAGE = 100

const optional = Schema.optionalKey

const Id = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_ID), isOneLine)
const OptionalId = optional(Schema.Union([Schema.Literal(""), Id]))

/** Clients of HTTP+JSON send numbers of a query as texts. */
const WholeNumber = Schema.Union([Schema.Int, Schema.FiniteFromString.check(Schema.isInt())])

const Part = Schema.Struct({
  text: optional(Schema.String),
  data: optional(Schema.Json),
  raw: optional(Schema.Unknown),
  url: optional(Schema.Unknown)
})

const MessageText = Schema.Struct({
  messageId: Id,
  contextId: OptionalId,
  taskId: OptionalId,
  role: Schema.Literals(["ROLE_USER", 1]),
  parts: Schema.Array(Schema.Unknown).check(Schema.isMinLength(1), Schema.isMaxLength(MAX_PARTS)),
  metadata: optional(Schema.JsonObject)
})

const Configuration = Schema.Struct({
  historyLength: optional(WholeNumber),
  returnImmediately: optional(Schema.Boolean),
  taskPushNotificationConfig: optional(Schema.Unknown)
})

const Choice = Schema.Struct({
  skill: optional(Schema.String),
  template: optional(Schema.String),
  since: optional(WholeNumber)
})

/** A message of a client. */
export interface Received {
  readonly messageId: string
  readonly contextId: string | undefined
  /** The task that it continues. */
  readonly taskId: string | undefined
  /** The skill and the template that it names. */
  readonly skill: string | undefined
  readonly template: string | undefined
  /** The value of its data part; undefined for a message of text alone. */
  readonly data: Json | undefined
  /** What makes it the same message as another one with its id. */
  readonly content: JsonObject
}

export interface SendRequest {
  readonly message: Received
  readonly historyLength: number | undefined
  readonly returnImmediately: boolean
  /** Index of the last event that the client has; undefined for one that has none. */
  readonly since: number | undefined
}

/** The value of a JSON text of bounded depth, as its sender wrote it. */
export const readJson = (text: string): Result.Result<unknown, TaskError> => {
  const exact = parseExactJson(text)
  const fault = exact?.faults.listed[0]
  if (exact === undefined) return Result.fail(taskError("ParseError", "the body is not JSON, or is nested too deeply"))
  return fault === undefined ? Result.succeed(exact.value) : Result.fail(taskError("ParseError", jsonFaultText(fault)))
}

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

/** Decodes one object of a request; the refusal names the first field at fault. */
const decode =
  <S extends Schema.ConstraintDecoder<unknown>>(schema: S) =>
  (value: unknown, name: string): Result.Result<S["Type"], TaskError> => {
    if (!isObject(value)) return Result.fail(invalid(name, "must be an object"))
    return Result.mapError(Schema.decodeUnknownResult(schema)(withoutNulls(value)), (error) => {
      const issue = formatIssues(error.issue).issues[0]
      const keys = (issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part))
      const field = [...(name === "params" ? [] : [name]), ...keys].join(".")
      return invalid(field === "" ? "params" : field, `is not accepted: ${issue?.message ?? "wrong shape"}`)
    })
  }

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const decodeSend = decode(
  Schema.Struct({
    tenant: optional(Schema.String),
    message: Schema.Unknown,
    configuration: optional(Schema.Unknown),
    metadata: optional(Schema.JsonObject)
  })
)
const decodeMessage = decode(MessageText)
const decodeConfiguration = decode(Configuration)
const decodeChoice = decode(Choice)
const decodePart = decode(Part)

/** The params of `SendMessage` and `SendStreamingMessage`. */
export const readSend = (params: unknown): Result.Result<SendRequest, TaskError> =>
  Result.gen(function* () {
    const { configuration, message, metadata = {}, tenant } = yield* decodeSend(params, "params")
    yield* withoutTenant(tenant)
    const { historyLength, returnImmediately, taskPushNotificationConfig } = yield* decodeConfiguration(
      configuration ?? {},
      "configuration"
    )
    if (taskPushNotificationConfig !== undefined) {
      return yield* Result.fail(taskError("PushNotSupported", "this service sends no push notifications"))
    }
    const { since } = yield* decodeChoice(metadata, "metadata")
    return {
      message: yield* readMessage(message),
      historyLength: yield* readHistoryLength(historyLength),
      returnImmediately: returnImmediately ?? false,
      since: yield* readSince(since)
    }
  })

const readMessage = (value: unknown): Result.Result<Received, TaskError> =>
  Result.gen(function* () {
    const message = yield* decodeMessage(value, "message")
    const { metadata = {} } = message
    const { skill, template } = yield* decodeChoice(metadata, "message.metadata")
    const parts = yield* Result.all(message.parts.map((part, index) => decodePart(part, `message.parts.${index}`)))
    const file = parts.findIndex(({ raw, url }) => raw !== undefined || url !== undefined)
    if (file >= 0) {
      const text = "is a file: inputs come as a data part"
      return yield* Result.fail(taskError("ContentTypeNotSupported", text, `message.parts.${file}`))
    }
    const data = parts.flatMap((part) => (part.data === undefined ? [] : [part.data]))
    if (data.length > 1) return yield* Result.fail(invalid("message.parts", "must have at most one data part"))
    const contextId = message.contextId || undefined
    const taskId = message.taskId || undefined
    return {
      messageId: message.messageId,
      contextId,
      taskId,
      skill: skill || undefined,
      template: template || undefined,
      data: data[0],
      content: {
        parts: parts.map(({ data, text }) => (data === undefined ? { text: text ?? "" } : { data })),
        ...(contextId !== undefined && { contextId }),
        ...(taskId !== undefined && { taskId }),
        ...(skill && { skill }),
        ...(template && { template })
      }
    }
  })

const withoutTenant = (tenant: string | undefined): Result.Result<void, TaskError> =>
  tenant ? Result.fail(invalid("tenant", "must be absent: the interfaces of this service have none")) : Result.void

const readHistoryLength = (length: number | undefined): Result.Result<number | undefined, TaskError> =>
  length !== undefined && length < 0
    ? Result.fail(invalid("historyLength", "must not be negative"))
    : Result.succeed(length)

const readSince = (since: number | undefined): Result.Result<number | undefined, TaskError> =>
  since !== undefined && since < 0
    ? Result.fail(invalid("metadata.since", "must not be negative"))
    : Result.succeed(since)

const decodeId = decode(
  Schema.Struct({
    tenant: optional(Schema.String),
    id: Id,
    historyLength: optional(WholeNumber),
    metadata: optional(Schema.JsonObject)
  })
)

export interface TaskRequest {
  readonly id: string
  readonly historyLength: number | undefined
  readonly since: number | undefined
}

/** The params of `GetTask`, `CancelTask` and `SubscribeToTask`. */
export const readTaskRequest = (params: unknown): Result.Result<TaskRequest, TaskError> =>
  Result.gen(function* () {
    const { historyLength, id, metadata = {}, tenant } = yield* decodeId(params, "params")
    yield* withoutTenant(tenant)
    const { since } = yield* decodeChoice(metadata, "metadata")
    return { id, historyLength: yield* readHistoryLength(historyLength), since: yield* readSince(since) }
  })

const State = Schema.Union([Schema.Literals(TASK_STATES), Schema.Int, Schema.FiniteFromString.check(Schema.isInt())])

const decodeList = decode(
  Schema.Struct({
    tenant: optional(Schema.String),
    contextId: OptionalId,
    status: optional(State),
    pageSize: optional(WholeNumber),
    pageToken: optional(Schema.String.check(Schema.isMaxLength(MAX_ID))),
    historyLength: optional(WholeNumber),
    statusTimestampAfter: optional(Schema.String),
    includeArtifacts: optional(Schema.Union([Schema.Boolean, Schema.Literals(["true", "false"])]))
  })
)

export interface ListRequest {
  readonly contextId: string | undefined
  /** Undefined for all; `none` for a state that no task of this service has. */
  readonly state: TaskState | "none" | undefined
  readonly pageSize: number
  readonly pageToken: string | undefined
  readonly historyLength: number | undefined
  /** Unix milliseconds. */
  readonly changedAfter: number | undefined
  readonly includeArtifacts: boolean
}

/** The params of `ListTasks`. */
export const readList = (params: unknown): Result.Result<ListRequest, TaskError> =>
  Result.gen(function* () {
    const { contextId, historyLength, includeArtifacts, pageSize, pageToken, status, statusTimestampAfter, tenant } =
      yield* decodeList(params, "params")
    yield* withoutTenant(tenant)
    if (pageSize !== undefined && (pageSize < 1 || pageSize > MAX_PAGE)) {
      return yield* Result.fail(invalid("pageSize", `must be from 1 to ${MAX_PAGE}`))
    }
    const named = typeof status === "number" ? TASK_STATES[status] : status
    if (status !== undefined && named === undefined) {
      return yield* Result.fail(invalid("status", "is not a state of a task"))
    }
    const changedAfter = statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter)
    if (changedAfter !== undefined && Number.isNaN(changedAfter)) {
      return yield* Result.fail(invalid("statusTimestampAfter", "is not a time in ISO 8601"))
    }
    const isAll = named === undefined || named === "TASK_STATE_UNSPECIFIED"
    return {
      contextId: contextId || undefined,
      state: isAll ? undefined : (USED_STATES.find((state) => state === named) ?? "none"),
      pageSize: pageSize ?? DEFAULT_PAGE,
      pageToken: pageToken || undefined,
      historyLength: yield* readHistoryLength(historyLength),
      changedAfter,
      includeArtifacts: includeArtifacts === true || includeArtifacts === "true"
    }
  })
