import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { errorTable, type MadeBy } from "./ErrorTables.ts"
import { reasonPhrases } from "./ReasonPhrases.ts"

/**
 * The launch service's errors: its own form `{statusCode, errorCode, message, metadata?}`, one class for each HTTP
 * status, and the framework's form `{message, error, statusCode}`, which has no code (docs/launch.md#errors).
 */
const body = <const Status extends number, const Codes extends ReadonlyArray<string>>(
  status: Status,
  codes: Codes,
  identifier: string
) =>
  Schema.Struct({
    statusCode: Schema.tag(status).annotate({ description: "The HTTP status" }),
    errorCode: Schema.Literals(codes).annotate({ description: "What went wrong, for programs" }),
    message: Field.text("What went wrong, for people"),
    metadata: Schema.optionalKey(Field.object("More about it, where there is something to say"))
  }).annotate({ identifier, description: `An error answered with ${status}` })

export class LaunchRejected extends Schema.Error<LaunchRejected>("runplane/api/LaunchRejected")(
  body(400, ["INVALID_SCENARIO_REF", "VALIDATION_ERROR", "COMPILATION_ERROR"], "LaunchRejected"),
  { httpApiStatus: 400, description: "The inputs or the reference cannot be compiled" }
) {
  readonly _tag = "LaunchRejected"
}

export class CatalogEntryNotFound extends Schema.Error<CatalogEntryNotFound>("runplane/api/CatalogEntryNotFound")(
  body(
    404,
    ["PACK_NOT_FOUND", "SCENARIO_NOT_FOUND", "VERSION_NOT_FOUND", "TEMPLATE_NOT_FOUND", "AGENT_NOT_FOUND"],
    "CatalogEntryNotFound"
  ),
  { httpApiStatus: 404, description: "No such pack, scenario, version, template or agent" }
) {
  readonly _tag = "CatalogEntryNotFound"
}

export class LauncherFault extends Schema.Error<LauncherFault>("runplane/api/LauncherFault")(
  body(500, ["INVALID_PACK_DATA", "INVALID_CONFIG", "INTERNAL_ERROR"], "LauncherFault"),
  { httpApiStatus: 500, description: "A broken pack file, a missing setting, or a fault of the service" }
) {
  readonly _tag = "LauncherFault"
}

export class AgentStartFailed extends Schema.Error<AgentStartFailed>("runplane/api/AgentStartFailed")(
  body(502, ["AUTH_MINT_FAILED", "AGENT_ATTACH_FAILED"], "AgentStartFailed"),
  { httpApiStatus: 502, description: "An example agent could not be started" }
) {
  readonly _tag = "AgentStartFailed"
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

/**
 * The class of every `errorCode` that the launch service raises itself, which has its status (docs/launch.md#errors).
 */
const classes = {
  PACK_NOT_FOUND: CatalogEntryNotFound,
  SCENARIO_NOT_FOUND: CatalogEntryNotFound,
  VERSION_NOT_FOUND: CatalogEntryNotFound,
  TEMPLATE_NOT_FOUND: CatalogEntryNotFound,
  AGENT_NOT_FOUND: CatalogEntryNotFound,
  INVALID_SCENARIO_REF: LaunchRejected,
  VALIDATION_ERROR: LaunchRejected,
  COMPILATION_ERROR: LaunchRejected,
  INVALID_PACK_DATA: LauncherFault,
  INVALID_CONFIG: LauncherFault,
  AUTH_MINT_FAILED: AgentStartFailed,
  AGENT_ATTACH_FAILED: AgentStartFailed,
  INTERNAL_ERROR: LauncherFault
} as const

const table = errorTable(classes)

export type LauncherErrorCode = keyof typeof classes

/** The HTTP status that every code is answered with. */
export const launcherErrorStatus = table.status

export type LauncherErrorOfCode<Code extends LauncherErrorCode> = MadeBy<(typeof classes)[Code]>

export type LauncherError = LauncherErrorOfCode<LauncherErrorCode>

/** The error of a code: its class and its HTTP status follow from the code. */
export const launcherError = table.make
