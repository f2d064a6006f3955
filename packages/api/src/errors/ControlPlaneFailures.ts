import * as Errors from "./ControlPlaneErrors.ts"
import { failure } from "./Failure.ts"

/**
 * The ways in which operations of the control plane fail, each with its error (docs/reference/errors.md#error-codes).
 * Failures that every operation of the same form has (key, budget, input, faults of the service) have no name here: the
 * middleware declares them.
 */

export const RunNotFound = failure("RunNotFound", Errors.NotFound)
export const RunReadOnly = failure("RunReadOnly", Errors.Conflict)
export const ArtifactRefused = failure("ArtifactRefused", Errors.BadRequest)
export const ArtifactOfLauncher = failure("ArtifactOfLauncher", Errors.Forbidden)
export const ArtifactConflict = failure("ArtifactConflict", Errors.Conflict)
export const MessageNotFound = failure("MessageNotFound", Errors.NotFound)
export const InvalidSessionId = failure("InvalidSessionId", Errors.BadRequest)
export const UnknownRuntimeKind = failure("UnknownRuntimeKind", Errors.BadRequest)
export const CancelNotPossible = failure("CancelNotPossible", Errors.BadRequest)
export const CancelCallbackFailed = failure("CancelCallbackFailed", Errors.BadGateway)
export const NotRunning = failure("NotRunning", Errors.BadRequest)
export const NotSuspended = failure("NotSuspended", Errors.BadRequest)
export const NotTerminal = failure("NotTerminal", Errors.BadRequest)
export const NoDescriptor = failure("NoDescriptor", Errors.BadRequest)
export const InvalidStateTransition = failure("InvalidStateTransition", Errors.Conflict)
export const SessionOpened = failure("SessionOpened", Errors.Conflict)
export const SessionAlreadyExists = failure("SessionAlreadyExists", Errors.Conflict)
export const BudgetExhausted = failure("BudgetExhausted", Errors.Conflict)
export const EndpointRemoved = failure("EndpointRemoved", Errors.EndpointRemoved)
export const UnknownCursor = failure("UnknownCursor", Errors.BadRequest)
export const SearchTooSlow = failure("SearchTooSlow", Errors.BadRequest)
export const RunBeingErased = failure("RunBeingErased", Errors.Unavailable)
export const EvidenceRefused = failure("EvidenceRefused", Errors.BadRequest)
export const UnreadableSearch = failure("UnreadableSearch", Errors.BadRequest)
export const InvalidWindow = failure("InvalidWindow", Errors.BadRequest)
export const ViewNameTaken = failure("ViewNameTaken", Errors.Conflict)
export const ReadOnlyView = failure("ReadOnlyView", Errors.Forbidden)
export const ViewOfAnother = failure("ViewOfAnother", Errors.Forbidden)
export const ViewNotFound = failure("ViewNotFound", Errors.NotFound)
export const MarkRefused = failure("MarkRefused", Errors.BadRequest)
export const MarkConflict = failure("MarkConflict", Errors.Conflict)
export const MarkOfAnother = failure("MarkOfAnother", Errors.Forbidden)
export const MarkNotFound = failure("MarkNotFound", Errors.NotFound)
export const InvalidMarkDefinition = failure("InvalidMarkDefinition", Errors.BadRequest)
export const ReservedMarkName = failure("ReservedMarkName", Errors.Forbidden)
export const MarkDefinitionNotFound = failure("MarkDefinitionNotFound", Errors.NotFound)
export const TooManyMarkDefinitions = failure("TooManyMarkDefinitions", Errors.Conflict)
export const AlertRuleRefused = failure("AlertRuleRefused", Errors.BadRequest)
export const AlertRuleNotFound = failure("AlertRuleNotFound", Errors.NotFound)
export const AlertRuleConflict = failure("AlertRuleConflict", Errors.Conflict)
export const AlertNotFound = failure("AlertNotFound", Errors.NotFound)
export const TooManySilences = failure("TooManySilences", Errors.Conflict)
export const RefusedTarget = failure("RefusedTarget", Errors.BadRequest)
export const WebhookNotFound = failure("WebhookNotFound", Errors.NotFound)
export const DeliveryNotFound = failure("DeliveryNotFound", Errors.NotFound)
export const WebhookInactive = failure("WebhookInactive", Errors.Conflict)
export const ReservedPolicy = failure("ReservedPolicy", Errors.BadRequest)
export const InvalidPolicyDefinition = failure("InvalidPolicyDefinition", Errors.BadRequest)
export const RegistryReadOnly = failure("RegistryReadOnly", Errors.MethodNotAllowed)
export const QuestionRefused = failure("QuestionRefused", Errors.BadRequest)
export const NoPolicyToTry = failure("NoPolicyToTry", Errors.BadRequest)
export const TooFewRuns = failure("TooFewRuns", Errors.Conflict)
export const RunNotSealed = failure("RunNotSealed", Errors.Conflict)
export const RunCannotBeSealed = failure("RunCannotBeSealed", Errors.Conflict)
export const ErasureRefused = failure("ErasureRefused", Errors.BadRequest)
export const ErasureConflict = failure("ErasureConflict", Errors.Conflict)
export const ErasureNotFound = failure("ErasureNotFound", Errors.NotFound)
export const UnreadableBody = failure("UnreadableBody", Errors.BadRequest)
export const PayloadTooLarge = failure("PayloadTooLarge", Errors.PayloadTooLarge)
export const UnsupportedMediaType = failure("UnsupportedMediaType", Errors.UnsupportedMediaType)
export const IngestDisabled = failure("IngestDisabled", Errors.NotFound)
export const SpanInboxFull = failure("SpanInboxFull", Errors.Unavailable)
export const ObservedOnly = failure("ObservedOnly", Errors.Conflict)
export const DriftUnavailable = failure("DriftUnavailable", Errors.Unavailable)

const RuntimeRefusedArgument = failure("RuntimeRefusedArgument", Errors.BadRequest)
const RuntimeRefusedService = failure("RuntimeRefusedService", Errors.Unauthenticated)
const RuntimeForbids = failure("RuntimeForbids", Errors.Forbidden)
const RuntimeKnowsNoSuchThing = failure("RuntimeKnowsNoSuchThing", Errors.NotFound)
const RuntimeConflict = failure("RuntimeConflict", Errors.Conflict)
const RuntimeLimit = failure("RuntimeLimit", Errors.TooManyRequests)
const RuntimeFault = failure("RuntimeFault", Errors.InternalFailure)
const RuntimeLacksOperation = failure("RuntimeLacksOperation", Errors.NotImplemented)
const RuntimeUnavailable = failure("RuntimeUnavailable", Errors.Unavailable)
const CircuitBreakerOpen = failure("CircuitBreakerOpen", Errors.Unavailable)
export const RuntimeTimeout = failure("RuntimeTimeout", Errors.GatewayTimeout)

/** The failures of a call that reaches the runtime, or is not answered in time. */
export const runtimeReached = [
  RuntimeRefusedArgument,
  RuntimeRefusedService,
  RuntimeForbids,
  RuntimeKnowsNoSuchThing,
  RuntimeConflict,
  RuntimeLimit,
  RuntimeFault,
  RuntimeLacksOperation
] as const

/** The failures of a call of the runtime (docs/reference/errors.md#runtime-errors). */
export const runtime = [...runtimeReached, RuntimeUnavailable, CircuitBreakerOpen, RuntimeTimeout] as const
export type RuntimeFailure = (typeof runtime)[number]["Type"]
