import { type LauncherErrorOfCode, launcherError } from "@runplane/api"
import type { JsonObject } from "../common/Json.ts"
import type {
  AgentAttachFailed,
  AgentNotFound,
  AuthMintFailed,
  CompileFailure,
  InvalidConfig
} from "../common/LaunchErrors.ts"

export type LaunchFailure = CompileFailure | AgentNotFound | InvalidConfig | AuthMintFailed | AgentAttachFailed

/** The `errorCode` of each failure. */
const codes = {
  InvalidScenarioRef: "INVALID_SCENARIO_REF",
  PackNotFound: "PACK_NOT_FOUND",
  ScenarioNotFound: "SCENARIO_NOT_FOUND",
  VersionNotFound: "VERSION_NOT_FOUND",
  TemplateNotFound: "TEMPLATE_NOT_FOUND",
  AgentNotFound: "AGENT_NOT_FOUND",
  InputsInvalid: "VALIDATION_ERROR",
  CompilationFailed: "COMPILATION_ERROR",
  InvalidPackData: "INVALID_PACK_DATA",
  InvalidConfig: "INVALID_CONFIG",
  AuthMintFailed: "AUTH_MINT_FAILED",
  AgentAttachFailed: "AGENT_ATTACH_FAILED"
} as const satisfies Record<LaunchFailure["_tag"], string>

/** The HTTP error of a failure. */
export const answerOf = <E extends LaunchFailure>(failure: E): LauncherErrorOfCode<(typeof codes)[E["_tag"]]> => {
  const tag: E["_tag"] = failure._tag
  return launcherError(codes[tag], failure.message, metadataOf(failure))
}

const metadataOf = (failure: LaunchFailure): JsonObject | undefined => {
  switch (failure._tag) {
    case "InputsInvalid":
      return { errors: failure.errors }
    case "AgentAttachFailed":
      return {
        sessionId: failure.sessionId,
        failedParticipants: failure.failedParticipants.map((participant) => ({ ...participant }))
      }
    case "AuthMintFailed":
      return failure.status === undefined ? undefined : { status: failure.status }
    default:
      return undefined
  }
}
