import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { errorTable, failureWith, type Raised } from "./ErrorTables.ts"
import { reasonPhrases } from "./ReasonPhrases.ts"

/**
 * The launch service's errors: its own form `{statusCode, errorCode, message, metadata?}`, one class for each HTTP
 * status, and the framework's form `{message, error, statusCode}`, which has no code (docs/internals/launch.md#errors).
 */
const failure = failureWith({
  metadata: Schema.optionalKey(Field.object("More about it, where there is something to say"))
})

export class LaunchRejected extends failure<LaunchRejected>()(400, "LaunchRejected", [
  "INVALID_SCENARIO_REF",
  "VALIDATION_ERROR",
  "COMPILATION_ERROR"
]) {
  readonly _tag = "LaunchRejected"
}

export class LaunchForbidden extends failure<LaunchForbidden>()(403, "LaunchForbidden", [
  "FORBIDDEN",
  "SIGN_IN_NOT_FRESH",
  "PASSKEY_MISSING",
  "PASSKEY_REFUSED",
  "LINK_REFUSED",
  "LINK_CODE_WRONG",
  "LINK_CODE_MISSING"
]) {
  readonly _tag = "LaunchForbidden"
}

export class CatalogEntryNotFound extends failure<CatalogEntryNotFound>()(404, "CatalogEntryNotFound", [
  "PACK_NOT_FOUND",
  "SCENARIO_NOT_FOUND",
  "VERSION_NOT_FOUND",
  "TEMPLATE_NOT_FOUND",
  "AGENT_NOT_FOUND",
  "PROCESS_NOT_FOUND",
  "ITEM_NOT_FOUND",
  "DELEGATION_NOT_FOUND",
  "PASSKEY_NOT_FOUND",
  "LINK_NOT_FOUND"
]) {
  readonly _tag = "CatalogEntryNotFound"
}

/** A budget refuses the run; the message is the control plane's (docs/reference/alerts.md#admission). */
export class LaunchUnaffordable extends failure<LaunchUnaffordable>()(409, "LaunchUnaffordable", ["BUDGET_EXHAUSTED"]) {
  readonly _tag = "LaunchUnaffordable"
}

/** The idempotency key of a launch belongs to another one (docs/internals/launch.md#launch-keys). */
export class LaunchConflict extends failure<LaunchConflict>()(409, "LaunchConflict", ["CONFLICT"]) {
  readonly _tag = "LaunchConflict"
}

/** An answer that the item does not take: it has one, rests on something that has changed, or takes none now. */
export class AnswerConflict extends failure<AnswerConflict>()(409, "AnswerConflict", [
  "ITEM_ANSWERED",
  "ITEM_STALE",
  "ITEM_NOT_OPEN",
  "BASIS_UNKNOWN",
  "HISTORY_GONE"
]) {
  readonly _tag = "AnswerConflict"
}

/** An answer that comes too late, or by a link that is over; the message says what happened instead. */
export class ItemGone extends failure<ItemGone>()(410, "ItemGone", ["ITEM_CLOSED", "LINK_OVER"]) {
  readonly _tag = "ItemGone"
}

/** More answers in a minute than a person decides. */
export class TooManyAnswers extends failure<TooManyAnswers>()(429, "TooManyAnswers", ["TOO_MANY_ANSWERS"]) {
  readonly _tag = "TooManyAnswers"
}

/** More questions in a minute than a person writes. */
export class TooManyQuestions extends failure<TooManyQuestions>()(429, "TooManyQuestions", ["TOO_MANY_QUESTIONS"]) {
  readonly _tag = "TooManyQuestions"
}

/** More codes than are sent for one link. */
export class TooManyCodes extends failure<TooManyCodes>()(429, "TooManyCodes", ["TOO_MANY_CODES"]) {
  readonly _tag = "TooManyCodes"
}

/** More open event streams than a person, or the service, has. */
export class TooManyStreams extends failure<TooManyStreams>()(429, "TooManyStreams", ["TOO_MANY_STREAMS"]) {
  readonly _tag = "TooManyStreams"
}

/** The service reads the session of an item again, or its database or its mail server does not answer. */
export class InboxUnavailable extends failure<InboxUnavailable>()(503, "InboxUnavailable", [
  "SESSION_UNREAD",
  "DATABASE_UNAVAILABLE",
  "CODE_NOT_SENT"
]) {
  readonly _tag = "InboxUnavailable"
}

export class LauncherFault extends failure<LauncherFault>()(500, "LauncherFault", [
  "INVALID_PACK_DATA",
  "INVALID_CONFIG",
  "INTERNAL_ERROR"
]) {
  readonly _tag = "LauncherFault"
}

export class AgentStartFailed extends failure<AgentStartFailed>()(502, "AgentStartFailed", [
  "AUTH_MINT_FAILED",
  "AGENT_ATTACH_FAILED"
]) {
  readonly _tag = "AgentStartFailed"
}

/** No capacity for another launch within the timeout, or a full queue (docs/internals/launch.md#queue). */
export class LaunchesFull extends failure<LaunchesFull>()(503, "LaunchesFull", ["LAUNCHES_FULL"]) {
  readonly _tag = "LaunchesFull"
}

/** A malformed request body: a list of texts, or the JSON parser's text. */
export class MalformedBody extends Schema.Class<MalformedBody>("runplane/api/MalformedBody")(
  Schema.Struct({
    message: Schema.Union([Schema.String, Schema.Array(Schema.String)]).annotate({
      description: "Every broken rule, or the text of the JSON parser"
    }),
    error: Schema.tag(reasonPhrases[400]).annotate({ description: "The reason phrase of the status" }),
    statusCode: Schema.tag(400).annotate({ description: "The HTTP status" })
  }).annotate({ identifier: "MalformedBody", description: "A body or a query that breaks rules" }),
  { httpApiStatus: 400, description: "The body is not what the endpoint takes" }
) {
  readonly _tag = "MalformedBody"
}

export const INVALID_API_KEY_TEXT = "Invalid or missing API key"

export class ApiKeyRejected extends Schema.Error<ApiKeyRejected>("runplane/api/ApiKeyRejected")(
  Schema.Struct({
    message: Field.text("What is wrong with the key"),
    error: Schema.tag(reasonPhrases[401]).annotate({ description: "The reason phrase of the status" }),
    statusCode: Schema.tag(401).annotate({ description: "The HTTP status" })
  }).annotate({ identifier: "ApiKeyRejected", description: "A request without a valid key" }),
  { httpApiStatus: 401, description: "No valid API key" }
) {
  readonly _tag = "ApiKeyRejected"
}

/** The classes, each with the codes that it makes (docs/internals/launch.md#errors). */
const classes = [
  LaunchRejected,
  LaunchForbidden,
  CatalogEntryNotFound,
  LaunchUnaffordable,
  LaunchConflict,
  AnswerConflict,
  ItemGone,
  TooManyAnswers,
  TooManyQuestions,
  TooManyCodes,
  TooManyStreams,
  InboxUnavailable,
  LauncherFault,
  AgentStartFailed,
  LaunchesFull
] as const

const table = errorTable(classes)

export type LauncherErrorCode = keyof Raised<typeof classes>

/** The HTTP status that every code is answered with. */
export const launcherErrorStatus = table.status

export type LauncherErrorOfCode<Code extends LauncherErrorCode> = Raised<typeof classes>[Code]

/** The errors of answers to questions. */
export type AnswerError =
  | AnswerConflict
  | ItemGone
  | TooManyAnswers
  | TooManyQuestions
  | TooManyCodes
  | TooManyStreams
  | InboxUnavailable

/** The errors of everything else. */
export type LauncherError = Exclude<LauncherErrorOfCode<LauncherErrorCode>, AnswerError>

/** The error of a code: its class and its HTTP status follow from the code. */
export const launcherError = table.make
