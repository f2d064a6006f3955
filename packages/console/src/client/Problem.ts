import * as HttpClientError from "effect/http/HttpClientError"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** Why a call did not do what it was made for, in a form that a page can show. */
export interface Problem {
  /** 0 when there was no answer. */
  readonly status: number
  readonly code: string
  readonly messages: ReadonlyArray<string>
  /** The id under which the service logged the request. */
  readonly requestId: string
  /** What the service says beside it. */
  readonly metadata: Schema.JsonObject | undefined
}

export class CallFailed extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.messages.join("; "))
    this.name = "CallFailed"
    this.problem = problem
  }
}

/** What all errors of both services have in common. */
const Answered = Schema.Struct({
  statusCode: Schema.Int,
  errorCode: Schema.optionalKey(Schema.String),
  message: Schema.Union([Schema.String, Schema.Array(Schema.String)]),
  metadata: Schema.optionalKey(Schema.JsonObject)
})
const readAnswered = Schema.decodeUnknownOption(Answered)
const readTag = Schema.decodeUnknownOption(Schema.Struct({ _tag: Schema.String }))

/** There was no answer: the service or the network is down. */
export const UNREACHABLE = "UNREACHABLE"
/** The answer cannot be decoded: console and service have different versions. */
export const UNREADABLE = "UNREADABLE_ANSWER"

/** Reads a failed call; total over whatever was thrown. */
export const problemOf = (failure: unknown, requestId: string): Problem => {
  if (failure instanceof CallFailed) return failure.problem
  const answered = Option.getOrUndefined(readAnswered({ ...plain(failure) }))
  if (answered !== undefined) {
    const { errorCode, message, metadata, statusCode } = answered
    const messages = typeof message === "string" ? [message] : message
    return { status: statusCode, code: errorCode ?? `HTTP ${statusCode}`, messages, requestId, metadata }
  }
  const status =
    HttpClientError.isHttpClientError(failure) && !isBroken(failure.reason) ? failure.response?.status : undefined
  if (status !== undefined && status >= 400) {
    const messages = [`the service, or a proxy in front of it, answers with the status ${status}`]
    return { status, code: `HTTP ${status}`, messages, requestId, metadata: undefined }
  }
  const tag = Option.getOrUndefined(readTag(failure))?._tag
  if (tag === "SchemaError" || status !== undefined) {
    const messages = ["the answer has another form than this console expects; reload the page"]
    return { status: 0, code: UNREADABLE, messages, requestId, metadata: undefined }
  }
  const messages = ["the service does not answer"]
  return { status: 0, code: UNREACHABLE, messages, requestId, metadata: undefined }
}

/** Whether the connection ended within the answer: `fetch` then fails to read the body, before anything decodes it. */
const isBroken = (reason: HttpClientError.HttpClientErrorReason): boolean =>
  reason._tag === "DecodeError" && (reason.cause instanceof TypeError || reason.cause instanceof DOMException)

/** The members that an error shows, inherited ones too. */
const plain = (failure: unknown): Readonly<Record<string, unknown>> => {
  if (typeof failure !== "object" || failure === null) return {}
  const members: Record<string, unknown> = {}
  for (const name of ["statusCode", "errorCode", "message", "metadata"]) {
    const value: unknown = Reflect.get(failure, name)
    if (value !== undefined) members[name] = value
  }
  return members
}

/** Whether the same call may succeed a little later. */
export const isPassing = ({ code, status }: Problem): boolean =>
  code === UNREACHABLE || status === 429 || status === 502 || status === 503 || status === 504

/** Whether the service refuses the call for good, such as with 403 or 404: the page misses no data. */
export const isRefusal = ({ status }: Problem): boolean => status >= 400 && status < 500 && status !== 429
