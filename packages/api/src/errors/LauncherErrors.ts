import { Field } from "@runplane/domain"
import * as Schema from "effect/Schema"
import { type LauncherErrorCode, reasonPhrases } from "./ErrorCodes.ts"

/**
 * The launch service's errors: its own form `{statusCode, errorCode, message, metadata?}`, one class for each HTTP
 * status, and the framework's form `{message, error, statusCode}`, which has no code (launch-details section 10.1).
 */
const body = <const Status extends number, const Codes extends ReadonlyArray<LauncherErrorCode>>(
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

interface ErrorDetails {
  readonly message: string
  readonly metadata?: Schema.JsonObject
}

/** How an error of each code is made: the one place where a code meets its class. */
const constructors = {
  PACK_NOT_FOUND: (details: ErrorDetails) => new CatalogEntryNotFound({ errorCode: "PACK_NOT_FOUND", ...details }),
  SCENARIO_NOT_FOUND: (details: ErrorDetails) =>
    new CatalogEntryNotFound({ errorCode: "SCENARIO_NOT_FOUND", ...details }),
  VERSION_NOT_FOUND: (details: ErrorDetails) =>
    new CatalogEntryNotFound({ errorCode: "VERSION_NOT_FOUND", ...details }),
  TEMPLATE_NOT_FOUND: (details: ErrorDetails) =>
    new CatalogEntryNotFound({ errorCode: "TEMPLATE_NOT_FOUND", ...details }),
  AGENT_NOT_FOUND: (details: ErrorDetails) => new CatalogEntryNotFound({ errorCode: "AGENT_NOT_FOUND", ...details }),
  INVALID_SCENARIO_REF: (details: ErrorDetails) =>
    new LaunchRejected({ errorCode: "INVALID_SCENARIO_REF", ...details }),
  VALIDATION_ERROR: (details: ErrorDetails) => new LaunchRejected({ errorCode: "VALIDATION_ERROR", ...details }),
  COMPILATION_ERROR: (details: ErrorDetails) => new LaunchRejected({ errorCode: "COMPILATION_ERROR", ...details }),
  INVALID_PACK_DATA: (details: ErrorDetails) => new LauncherFault({ errorCode: "INVALID_PACK_DATA", ...details }),
  INVALID_CONFIG: (details: ErrorDetails) => new LauncherFault({ errorCode: "INVALID_CONFIG", ...details }),
  AUTH_MINT_FAILED: (details: ErrorDetails) => new AgentStartFailed({ errorCode: "AUTH_MINT_FAILED", ...details }),
  AGENT_ATTACH_FAILED: (details: ErrorDetails) =>
    new AgentStartFailed({ errorCode: "AGENT_ATTACH_FAILED", ...details }),
  INTERNAL_ERROR: (details: ErrorDetails) => new LauncherFault({ errorCode: "INTERNAL_ERROR", ...details })
} as const satisfies Record<LauncherErrorCode, (details: ErrorDetails) => { readonly statusCode: number }>

export type LauncherErrorOfCode<Code extends LauncherErrorCode> = ReturnType<(typeof constructors)[Code]>

export type LauncherError = LauncherErrorOfCode<LauncherErrorCode>

/** The error of a code: its class and its HTTP status follow from the code. */
export const launcherError = <const Code extends LauncherErrorCode>(
  code: Code,
  message: string,
  metadata?: Schema.JsonObject
): LauncherErrorOfCode<Code> => {
  const make: (details: ErrorDetails) => LauncherError = constructors[code]
  // The constructor found under a code makes that code's error; TypeScript does not follow the lookup.
  return make(metadata === undefined ? { message } : { message, metadata }) as LauncherErrorOfCode<Code>
}
