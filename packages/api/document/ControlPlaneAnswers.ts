import { controlPlaneError, NotFound, ValidationFailed } from "../src/errors/ControlPlaneErrors.ts"
import {
  alertNotFound,
  alertRuleExists,
  alertRuleNotFound,
  artifactConflict,
  artifactOfLauncher,
  badRequest,
  budgetExhausted,
  cancelCallbackAnswered,
  cancelNotPossible,
  endpointRemoved,
  erasureConflict,
  erasureNotFound,
  ISSUER_AWAY_TEXT,
  ingestDisabled,
  internalFailure,
  invalidSessionId,
  invalidTransition,
  markDefinitionNotFound,
  markKeyReused,
  markNameReserved,
  markNotFound,
  markOfAnother,
  messageNotFound,
  notRunning,
  notSuspended,
  observedOnly,
  payloadTooLarge,
  rateLimitExceeded,
  roleForbidden,
  runCannotBeSealed,
  runNotFound,
  runNotSealed,
  runReadOnly,
  runtimeFailure,
  searchTooSlow,
  sessionAlreadyExists,
  spanInboxFull,
  tooFewRuns,
  tooManyOf,
  unauthenticated,
  unknownCursor,
  unknownRuntimeKind,
  unsupportedMediaType,
  viewNameTaken,
  viewNotFound,
  viewOfAnother,
  viewReadOnly
} from "../src/errors/Failures.ts"
import { UUID_EXPECTED } from "../src/validation/Params.ts"
import { errorAnswer } from "./ErrorAnswer.ts"

const RUN = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const WEBHOOK = "0197c0de-6f0a-7c53-9a56-0d9c6f5f7a10"

/**
 * Every failure of an operation of the control plane (docs/reference/errors.md#error-codes). The constructors of the
 * service make the bodies, so the document cannot show other texts.
 */
export const controlPlaneAnswers = {
  BrokenRules: errorAnswer(
    "the body, the query or the path breaks rules; `message` lists every broken one",
    new ValidationFailed({
      message: ["mode must be one of the following values: live, sandbox", "property kickoff should not exist"]
    })
  ),
  UnreadableBody: errorAnswer(
    "the body is not JSON; `message` is the parser's",
    badRequest("Unexpected token 'o', \"nope\" is not valid JSON")
  ),
  MalformedId: errorAnswer("an id in the path is not a UUID", badRequest(UUID_EXPECTED)),
  InvalidSessionId: errorAnswer("`session.sessionId` has none of the three forms", invalidSessionId()),
  UnknownRuntimeKind: errorAnswer("no runtime of this kind is registered", unknownRuntimeKind("cobol")),
  CancelNotPossible: errorAnswer("the run has neither a cancel callback nor a delegation", cancelNotPossible()),
  NotRunning: errorAnswer("the run is not running", notRunning("suspended")),
  NotSuspended: errorAnswer("the run is not suspended", notSuspended("running")),
  NotTerminal: errorAnswer(
    "the run has not ended",
    badRequest("only terminal runs (completed, failed, cancelled) can be deleted")
  ),
  NoDescriptor: errorAnswer(
    "the run has no stored descriptor, as runs that were discovered",
    badRequest("run does not have an execution request in metadata")
  ),
  UnknownCursor: errorAnswer("the cursor is of another list, or of another order", unknownCursor()),
  SearchTooSlow: errorAnswer("the search took longer than searches may", searchTooSlow(["id", "status", "createdAt"])),
  RunBeingErased: errorAnswer(
    "texts of the run are erased while it is read, again and again",
    controlPlaneError("SERVICE_UNAVAILABLE", `texts of run ${WEBHOOK} were erased while it was read`)
  ),
  EvidenceRefused: errorAnswer(
    "the search finds more runs than one bundle has, or none; or a zip cannot hold the run",
    badRequest("q finds more than 1000 runs, the most of one bundle")
  ),
  UnreadableSearch: errorAnswer(
    "the search names what does not exist, or cannot be read",
    badRequest('q at 8: "done" is not a value of status; expected queued, starting')
  ),
  ArtifactRefused: errorAnswer(
    "the content of a `people.item` or `people.answer` breaks its form, or its message is another; `message` names it",
    badRequest("inline: nonce must be a string matching the RegExp ^[0-9a-f]{64}$")
  ),
  ArtifactOfLauncher: errorAnswer(
    "only the launch service may add artifacts of the kinds `people.item` and `people.answer`",
    artifactOfLauncher("people.answer")
  ),
  ArtifactConflict: errorAnswer(
    "the run has another artifact with the key, or no message of the answer on record yet",
    artifactConflict("report-17")
  ),
  MessageNotFound: errorAnswer("the run has no such accepted message on record", messageNotFound(RUN, "m-17")),
  ViewNameTaken: errorAnswer("another view of the resource has the name", viewNameTaken("Expensive")),
  ReadOnlyView: errorAnswer("the view comes with the product", viewReadOnly("Active")),
  ViewOfAnother: errorAnswer("another caller saved the view", viewOfAnother("Expensive and declined")),
  ViewNotFound: errorAnswer("there is no such view", viewNotFound(WEBHOOK)),
  MarkRefused: errorAnswer(
    "the run has no such target, or the value breaks the definition of the name; `message` names the field",
    badRequest("target.id must be a participant of the run that has events: risk-analyst")
  ),
  MarkConflict: errorAnswer(
    "the key was used with another body, or the run has too many marks",
    markKeyReused("crm-4711")
  ),
  MarkOfAnother: errorAnswer("another caller added the mark", markOfAnother()),
  MarkNotFound: errorAnswer("the run has no such mark", markNotFound(WEBHOOK)),
  InvalidMarkDefinition: errorAnswer(
    "the parts of the definition contradict each other",
    badRequest("min must not be larger than max")
  ),
  ReservedMarkName: errorAnswer("the name is reserved", markNameReserved("correct")),
  MarkDefinitionNotFound: errorAnswer("the name has no definition", markDefinitionNotFound("tone")),
  TooManyMarkDefinitions: errorAnswer(
    "there are as many definitions as may be",
    controlPlaneError("CONFLICT", "there are 1000 definitions of marks already")
  ),
  TooFewRuns: errorAnswer(
    "there are too few runs to confirm a smaller committee; `message` says how many more are needed",
    tooFewRuns({ cases: 88, needed: 149, missing: 61 })
  ),
  ErasureRefused: errorAnswer(
    "the request names neither or both of find and members, has no plan, or its reason has the text",
    badRequest("plan is required: send the plan of a dry run, or dryRun: true")
  ),
  ErasureConflict: errorAnswer(
    "the seal of the run is of version 1, a member cannot be erased, or the plan is not that of the present state",
    erasureConflict("the plan is out of date: it erased 1 member, now 2 members match")
  ),
  ErasureNotFound: errorAnswer("no erasure has the id", erasureNotFound(WEBHOOK)),
  InvalidWindow: errorAnswer("the window ends before it begins", badRequest("to must be after from")),
  BudgetExhausted: errorAnswer(
    "a budget with admission has no money for the run; `message` names rule, figures and the end of the period",
    budgetExhausted({
      rule: "support-budget",
      name: "Budget of support",
      key: "support/refund@1.0.0",
      period: "2026-07",
      periodEndsAt: "2026-07-31T22:00:00.000Z",
      limitUsd: 100,
      spentUsd: 97.5,
      reservedUsd: 2,
      expectedUsd: 1.25
    })
  ),
  AlertRuleRefused: errorAnswer(
    "the fields do not fit each other, or a receiver is not allowed; `message` names the field",
    badRequest("levels.1.at must be greater than levels.0.at")
  ),
  AlertRuleNotFound: errorAnswer("no alert rule has this id", alertRuleNotFound("support-budget")),
  AlertRuleConflict: errorAnswer(
    "there is a rule with the id, or there are as many rules as may be",
    alertRuleExists("support-budget")
  ),
  AlertNotFound: errorAnswer("no alert has this id", alertNotFound(WEBHOOK)),
  TooManySilences: errorAnswer("there are as many silences as may be", tooManyOf(1_000, "silences")),
  RefusedTarget: errorAnswer(
    "the URL leads where deliveries may not go",
    badRequest("url is not allowed: 169.254.169.254 is a link-local or metadata address")
  ),
  ReservedPolicy: errorAnswer("the id is reserved", badRequest("policy.default is reserved")),
  InvalidPolicyDefinition: errorAnswer(
    "the rules do not fit the mode, or the runtime finds them wrong; `message` names path and key",
    controlPlaneError("INVALID_POLICY_DEFINITION", '/voting: unrecognized key "treshold"', {
      faults: ['/voting: unrecognized key "treshold"']
    })
  ),
  QuestionRefused: errorAnswer(
    "the question does not apply to this run; `message` names the field and the reason",
    badRequest("votes.0.participantId: agent://stranger does not take part")
  ),
  NoPolicyToTry: errorAnswer(
    "the body has neither a policy nor the id of one, or both",
    badRequest("policy or policyVersion is required")
  ),
  Unauthenticated: errorAnswer(
    "the key or token is missing or not valid",
    unauthenticated("Invalid authorization token")
  ),
  RoleForbidden: errorAnswer(
    "the role of the key or token is not enough, or the token has none; the text names the role",
    roleForbidden("admin", "viewer")
  ),
  IssuerUnavailable: errorAnswer(
    "a token cannot be checked, since its issuer does not answer; `Retry-After` says when to try again",
    controlPlaneError("SERVICE_UNAVAILABLE", ISSUER_AWAY_TEXT)
  ),
  RunNotFound: errorAnswer("no run has this id", runNotFound(RUN)),
  RunReadOnly: errorAnswer("the run has left the database, and only the archive has it", runReadOnly(RUN)),
  RunNotSealed: errorAnswer("the run has not ended, so it is not sealed yet", runNotSealed(RUN, "running")),
  RunCannotBeSealed: errorAnswer("the run's log is damaged: events are missing", runCannotBeSealed(RUN)),
  WebhookNotFound: errorAnswer(
    "no subscription has this id",
    new NotFound({ errorCode: "NOT_FOUND", message: `webhook ${WEBHOOK} not found` })
  ),
  DeliveryNotFound: errorAnswer(
    "the subscription has no delivery of this id",
    new NotFound({ errorCode: "NOT_FOUND", message: `delivery ${WEBHOOK} not found` })
  ),
  RegistryReadOnly: errorAnswer(
    "the runtime's registry cannot be written",
    controlPlaneError("REGISTRY_READ_ONLY", "registry is loaded from files")
  ),
  InvalidStateTransition: errorAnswer(
    "the status of the run does not allow this",
    invalidTransition(RUN, "completed", "cancelled")
  ),
  SessionOpened: errorAnswer(
    "the session is on the runtime",
    controlPlaneError("CONFLICT", `session ${RUN} has been opened`)
  ),
  SessionAlreadyExists: errorAnswer("another run has this session", sessionAlreadyExists(RUN)),
  WebhookInactive: errorAnswer(
    "the subscription is not active",
    controlPlaneError("CONFLICT", `webhook ${WEBHOOK} is not active`)
  ),
  EndpointRemoved: errorAnswer("always", endpointRemoved("POST /runs/:id/messages")),
  IngestDisabled: errorAnswer("the service receives no OpenTelemetry", ingestDisabled()),
  SpanInboxFull: errorAnswer("too many received spans wait; `Retry-After` says when to try again", spanInboxFull()),
  ObservedOnly: errorAnswer("the run comes from OpenTelemetry and has no session", observedOnly(RUN, "cancel")),
  PayloadTooLarge: errorAnswer("the body is over 1 MB, or over the limit of an export", payloadTooLarge()),
  UnsupportedMediaType: errorAnswer("the operation does not take the content type", unsupportedMediaType("text/xml")),
  TooManyRequests: errorAnswer(
    "the client's budget of requests is spent; `Retry-After` says for how long",
    rateLimitExceeded()
  ),
  InternalFailure: errorAnswer("a fault of the service", internalFailure()),
  CancelCallbackFailed: errorAnswer(
    "the cancel callback was not answered with 2xx, or not in time",
    cancelCallbackAnswered("https://agents.example.org/cancel", 500)
  ),
  RuntimeRefusedArgument: errorAnswer(
    "the runtime finds an argument wrong",
    runtimeFailure("INVALID_ARGUMENT", "session_id must not be empty")
  ),
  RuntimeRefusedService: errorAnswer(
    "the runtime refused the service's own credential",
    runtimeFailure("UNAUTHENTICATED", "token has expired")
  ),
  RuntimeForbids: errorAnswer(
    "the runtime does not allow the service to do this",
    runtimeFailure("PERMISSION_DENIED", "not allowed to manage the registry")
  ),
  RuntimeKnowsNoSuchThing: errorAnswer(
    "the runtime does not know the thing",
    runtimeFailure("NOT_FOUND", "policy policy.incident.strict not found")
  ),
  RuntimeConflict: errorAnswer(
    "the state of the thing on the runtime does not allow this",
    runtimeFailure("FAILED_PRECONDITION", "session is not open")
  ),
  RuntimeLimit: errorAnswer(
    "the runtime's own limit is reached",
    runtimeFailure("RESOURCE_EXHAUSTED", "rate limit exceeded")
  ),
  RuntimeFault: errorAnswer("a fault of the runtime", runtimeFailure("UNKNOWN", "storage failed")),
  RuntimeLacksOperation: errorAnswer(
    "the runtime does not know this operation",
    runtimeFailure("UNIMPLEMENTED", "unknown method")
  ),
  RuntimeUnavailable: errorAnswer("the runtime cannot be reached", runtimeFailure("UNAVAILABLE", "connection refused")),
  CircuitBreakerOpen: errorAnswer(
    "after consecutive failures the runtime is not called for a while",
    controlPlaneError("CIRCUIT_BREAKER_OPEN", "circuit breaker is open")
  ),
  RuntimeTimeout: errorAnswer(
    "the runtime did not answer in time",
    runtimeFailure("DEADLINE_EXCEEDED", "deadline exceeded")
  ),
  DatabaseUnavailable: errorAnswer(
    "the database cannot be used; `Retry-After` says when to try again",
    controlPlaneError("SERVICE_UNAVAILABLE", "the database is unavailable")
  ),
  DriftUnavailable: errorAnswer(
    "the sessions could not be listed; `metadata.code` says whether the runtime is unreachable (`RUNTIME_UNAVAILABLE`) " +
      "or not asked (`CIRCUIT_BREAKER_OPEN`)",
    controlPlaneError("SERVICE_UNAVAILABLE", "RUNTIME_UNAVAILABLE: connection refused", { code: "RUNTIME_UNAVAILABLE" })
  )
}
