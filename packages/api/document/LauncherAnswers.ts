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

const ITEM = "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"
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
    launcherError("FORBIDDEN", roleText(["operator"], "viewer"))
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
  ItemNotFound: errorAnswer(
    "no item of the caller has this id",
    launcherError("ITEM_NOT_FOUND", `no item has the id ${ITEM}`)
  ),
  NoSeatOfSession: errorAnswer(
    "no person has a seat in the session",
    launcherError("ITEM_NOT_FOUND", `no seat of a person is in session ${SESSION}`)
  ),
  ErasureTooEarly: errorAnswer(
    "the session goes on, or the control plane lacks records of it; the text says which",
    launcherError("CONFLICT", `session ${SESSION} goes on: erase its texts when it is over`)
  ),
  PersonForbidden: errorAnswer(
    "the caller may not answer for this seat; the text says why",
    launcherError("FORBIDDEN", "you may not answer: the requester of a run answers none of its questions")
  ),
  SignInNotFresh: errorAnswer(
    "a sign-in at the issuer of the last five minutes is required",
    launcherError(
      "SIGN_IN_NOT_FRESH",
      "a sign-in at the issuer of the last five minutes is required: sign in again in the page"
    )
  ),
  PasskeyMissing: errorAnswer(
    "the person has no passkey for this page from before the question opened",
    launcherError("PASSKEY_MISSING", "you have enrolled no passkey here before this question opened")
  ),
  PasskeyRefused: errorAnswer(
    "the passkey proves nothing, or is not enrolled; the text says why",
    launcherError("PASSKEY_REFUSED", "the passkey was refused: its device verified no person")
  ),
  PasskeyNotFound: errorAnswer(
    "no passkey of the caller has this id",
    launcherError("PASSKEY_NOT_FOUND", `no passkey of yours has the id ${ITEM}`)
  ),
  LinkNotFound: errorAnswer(
    "no question has this link",
    launcherError("LINK_NOT_FOUND", "no question has this link: open it as it is in the mail")
  ),
  LinkOver: errorAnswer(
    "the link takes no answer any more; `metadata` is why, and the state of the question",
    launcherError("LINK_OVER", "the link is over: its time is over", { end: "expired", state: "open" })
  ),
  LinkRefused: errorAnswer(
    "the question requires a sign-in, or people.yaml gives the person no link any more",
    launcherError("LINK_REFUSED", "people.yaml of the scenario gives this person no personal link any more")
  ),
  LinkCodeMissing: errorAnswer(
    "no code of the link counts now",
    launcherError("LINK_CODE_MISSING", "no code was sent yet: request one")
  ),
  LinkCodeWrong: errorAnswer(
    "the code is wrong; `metadata.left` is how many more wrong ones the link takes",
    launcherError("LINK_CODE_WRONG", "the code is wrong; 4 more wrong ones end the link", { left: 4 })
  ),
  TooManyCodes: errorAnswer(
    "the link has sent as many codes as one may",
    launcherError("TOO_MANY_CODES", "a link sends at most 5 codes")
  ),
  CodeNotSent: errorAnswer(
    "the mail server did not take the code; `Retry-After` says when another try may help",
    launcherError("CODE_NOT_SENT", "the code was not sent: connection refused")
  ),
  InvalidAnswer: errorAnswer(
    "the answer does not fit the seat; `metadata.field` is the field",
    launcherError("VALIDATION_ERROR", "reason: this seat requires one", { field: "reason" })
  ),
  InvalidDelegation: errorAnswer(
    "the delegation breaks a rule; `metadata.field` is the field",
    launcherError("VALIDATION_ERROR", "until: a delegation lasts at most 90 days of 24 hours", { field: "until" })
  ),
  DelegationsFull: errorAnswer(
    "the person has as many delegations as one may have",
    launcherError("CONFLICT", "a person has at most 100 delegations that are not over")
  ),
  DelegationNotFound: errorAnswer(
    "the caller has given no delegation with this id",
    launcherError("DELEGATION_NOT_FOUND", `you have given no delegation with the id ${ITEM}`)
  ),
  DelegationOver: errorAnswer(
    "the delegation is ended or revoked already",
    launcherError("CONFLICT", `delegation ${ITEM} is revoked already`)
  ),
  InvalidReturn: errorAnswer(
    "the item cannot be returned to this person or group; `metadata.field` is the field",
    launcherError(
      "VALIDATION_ERROR",
      "to: person:ann may not answer: the requester of a run answers none of its questions",
      {
        field: "to"
      }
    )
  ),
  UnknownCursor: errorAnswer(
    "the cursor is not one of this list",
    launcherError("VALIDATION_ERROR", "cursor is not one of this list", { field: "cursor" })
  ),
  ItemAnswered: errorAnswer(
    "the item has another answer; `metadata` is who gave it, when, and which act unless that is withheld",
    launcherError("ITEM_ANSWERED", "ben has answered this item with reject at 2026-03-10T09:24:41.000Z", {
      by: "ben",
      at: "2026-03-10T09:24:41.000Z",
      act: "reject"
    })
  ),
  ItemStale: errorAnswer(
    "what the answer rests on has changed; `metadata` is the difference, and the item that asks anew",
    launcherError("ITEM_STALE", "the item is stale: another proposal was accepted after what you were shown", {
      reason: "another proposal",
      was: "c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2",
      now: "c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2",
      newItem: "0197c0de-7a1b-7d2e-8f3a-4b5c6d7e8f90"
    })
  ),
  ItemNotOpen: errorAnswer(
    "the item takes no answer yet: it waits for the other participants",
    launcherError("ITEM_NOT_OPEN", "the item is not open yet: it waits for the other participants")
  ),
  BasisUnknown: errorAnswer(
    "the session never was at this basis",
    launcherError("BASIS_UNKNOWN", "the session has no message 6 with this running hash: read the item again")
  ),
  HistoryGone: errorAnswer(
    "the runtime has dropped the history of the session, so the item takes no answer any more",
    launcherError("HISTORY_GONE", "the item takes no answer: the runtime has dropped the history of the session")
  ),
  ItemClosed: errorAnswer(
    "the answer comes too late; `metadata` is what happened instead",
    launcherError("ITEM_CLOSED", "the item is closed: no answer came by its deadline", { state: "expired" })
  ),
  TooManyAnswers: errorAnswer(
    "the person has given as many answers in the last minute as one may; `Retry-After` says for how long",
    launcherError("TOO_MANY_ANSWERS", "a person gives at most 30 answers a minute")
  ),
  InvalidQuestion: errorAnswer(
    "the question cannot be stored; `metadata.field` is the field",
    launcherError("VALIDATION_ERROR", "text: must not be blank", { field: "text" })
  ),
  TooManyQuestions: errorAnswer(
    "the person has asked as many questions in the last minute as one may",
    launcherError("TOO_MANY_QUESTIONS", "a person sends at most 30 questions a minute")
  ),
  TooManyStreams: errorAnswer(
    "the person, or the service, has as many streams open as one may",
    launcherError("TOO_MANY_STREAMS", "a person has 20 streams of the inbox open at a time")
  ),
  SessionUnread: errorAnswer(
    "the service reads the session again, and takes answers afterwards",
    launcherError("SESSION_UNREAD", "the item takes no answer now: the session is being read again")
  ),
  InboxDatabaseAway: errorAnswer(
    "the database of the inbox does not answer",
    launcherError("DATABASE_UNAVAILABLE", "the database of the inbox does not answer")
  ),
  NoPeopleDatabase: errorAnswer(
    "the service has no database for the items of people",
    launcherError("INVALID_CONFIG", "questions to people need a database: set LAUNCHER_DATABASE_URL")
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
