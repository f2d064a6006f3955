import {
  INTERNAL_TEXT,
  ISSUER_AWAY_TEXT,
  payloadTooLarge,
  rateLimitExceeded,
  roleText
} from "../src/errors/Failures.ts"
import { ApiKeyRejected, INVALID_API_KEY_TEXT, launcherError, MalformedBody } from "../src/errors/LauncherErrors.ts"
import { reasonPhrases } from "../src/errors/ReasonPhrases.ts"
import { errorAnswer } from "./ErrorAnswer.ts"

const SESSION = "8d5a3f0c-93d4-4c4e-9d60-5c7f1c2a7e10"

/**
 * Every way in which an operation of the launch service fails (docs/internals/launch.md#errors).
 * Answers in the form of the HTTP framework have no `errorCode`.
 */
export const launcherAnswers = {
  BrokenRules: errorAnswer(
    "the body or the query breaks rules; `message` lists every broken one",
    new MalformedBody({ message: ["scenarioRef should not be empty", "scenarioRef must be a string"] })
  ),
  UnreadableBody: errorAnswer(
    "the body is not JSON; `message` is the parser's",
    new MalformedBody({ message: "Unexpected token 'o', \"nope\" is not valid JSON" })
  ),
  Unauthenticated: errorAnswer(
    "the key or token is missing or not valid",
    new ApiKeyRejected({ message: INVALID_API_KEY_TEXT })
  ),
  RoleForbidden: errorAnswer(
    "the role of the key or token is not enough, or the token has none; the text names the role",
    launcherError("FORBIDDEN", roleText("operator", "viewer"))
  ),
  IssuerUnavailable: errorAnswer("a token cannot be checked, since its issuer does not answer", {
    _tag: "IssuerUnavailable",
    statusCode: 503,
    message: ISSUER_AWAY_TEXT,
    error: reasonPhrases[503]
  }),
  PayloadTooLarge: errorAnswer("the body is over 1 MB", {
    _tag: "OversizedBody",
    statusCode: 413,
    message: payloadTooLarge().message,
    error: reasonPhrases[413]
  }),
  TooManyRequests: errorAnswer(
    "the client's budget of requests is spent; `Retry-After` says for how long",
    rateLimitExceeded()
  ),
  InvalidScenarioRef: errorAnswer(
    "the reference is not of the form pack/scenario@version",
    launcherError("INVALID_SCENARIO_REF", "invalid scenarioRef: missing '@' in \"incident/region-failover\"")
  ),
  InvalidInputs: errorAnswer(
    "the inputs do not fit the schema of the scenario; `metadata.errors` is the validator's list",
    launcherError("VALIDATION_ERROR", "Input validation failed", {
      errors: [
        {
          instancePath: "/replicationLagSeconds",
          schemaPath: "#/properties/replicationLagSeconds/type",
          keyword: "type",
          params: { type: "number" },
          message: "must be number"
        }
      ]
    })
  ),
  CompilationFailed: errorAnswer(
    "the scenario refers to an input that is not there, or its extensions are not texts",
    launcherError("COMPILATION_ERROR", "undefined placeholder: {{ inputs.service }}")
  ),
  LaunchUnaffordable: errorAnswer(
    "a budget with admission has no money for the run; the text is the control plane's",
    launcherError(
      "BUDGET_EXHAUSTED",
      "budget support-budget (Budget of support) of support/refund@1.0.0 admits no more runs: $97.50 spent, $2.00 " +
        "reserved, $1.25 expected would reach the limit of $100.00; the period 2026-07 ends at 2026-07-31T22:00:00.000Z"
    )
  ),
  LaunchConflict: errorAnswer(
    "the idempotency key belongs to a launch with another body, or its launches have failed too often",
    launcherError("CONFLICT", "the idempotencyKey ci-4711 has been used with another body")
  ),
  PackNotFound: errorAnswer("no pack has this slug", launcherError("PACK_NOT_FOUND", "pack not found: outage")),
  ScenarioNotFound: errorAnswer(
    "the pack has no scenario of this slug",
    launcherError("SCENARIO_NOT_FOUND", "scenario not found: incident/flood")
  ),
  VersionNotFound: errorAnswer(
    "the scenario has no such version",
    launcherError("VERSION_NOT_FOUND", "version not found: incident/region-failover@9.0.0")
  ),
  TemplateNotFound: errorAnswer(
    "the version has no template of this slug",
    launcherError("TEMPLATE_NOT_FOUND", "template not found: sev9 for incident/region-failover@1.0.0")
  ),
  AgentNotFound: errorAnswer(
    "no example agent has this id",
    launcherError("AGENT_NOT_FOUND", "example agent not found: weather-agent")
  ),
  InvalidPackData: errorAnswer(
    "a pack on disk is malformed",
    launcherError("INVALID_PACK_DATA", 'invalid kind in incident/pack.yaml: Expected "ScenarioPack", got "Pack"')
  ),
  InvalidConfig: errorAnswer(
    "the deployment lacks the host or the manifest of an agent",
    launcherError("INVALID_CONFIG", "agent manifest missing for replication-agent")
  ),
  InternalFailure: errorAnswer("a fault of the service", launcherError("INTERNAL_ERROR", INTERNAL_TEXT)),
  AuthMintFailed: errorAnswer(
    "the auth service gave no token for an agent",
    launcherError("AUTH_MINT_FAILED", "auth-service returned 503", { status: 503 })
  ),
  LaunchesFull: errorAnswer(
    "too many launches wait for capacity for their agents, or this one waited too long; `metadata.position` is its position",
    launcherError(
      "LAUNCHES_FULL",
      "no free slots for the agents of another launch: 16 agents run and 32 launches wait already",
      { position: 32 }
    )
  ),
  ProcessNotFound: errorAnswer(
    "no agent process has this id",
    launcherError("PROCESS_NOT_FOUND", "no agent process has the id 4f6c2b1e-8f0e-4d43-9d0c-6f1b0a7c9e21")
  ),
  AgentAttachFailed: errorAnswer(
    "an agent could not be started, or ended before it was attached",
    launcherError("AGENT_ATTACH_FAILED", "agents failed to attach: replication-analyst", {
      sessionId: SESSION,
      failedParticipants: [
        {
          participantId: "replication-analyst",
          agentRef: "replication-agent",
          reason: "process exited before attach confirmed (code=1, signal=null)"
        }
      ]
    })
  )
}
