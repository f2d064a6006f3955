import { draftEvent, type EventDraft } from "../events/CanonicalEvent.ts"
import type { CanonicalEventType } from "../events/CanonicalEventType.ts"
import { outputBytesOf } from "../events/ProposalEvents.ts"
import type { SubjectKind } from "../events/RecordedEvent.ts"
import { outcomeOf } from "../run/Outcome.ts"
import { signalDataOf } from "../usage/LlmUsage.ts"
import { numberAt, textAt } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { derivedData, type EnvelopeContext, headOf, sentData } from "./EnvelopeContext.ts"
import { denialOfEnvelope } from "./PolicyDenial.ts"

/**
 * The event that a message means beyond having been received (docs/reference/events.md#message-types): one at most,
 * none for SessionStart and for unknown types.
 */
export const derivedEvent = (context: EnvelopeContext): EventDraft | undefined => {
  if (context.payload["policyDenied"] === true) return denialOfEnvelope(context)
  return derivationOf(context.messageType)?.(context)
}

/** Whether messages of this type have a derived event. */
export const derivesEvent = (messageType: string): boolean => derivationOf(messageType) !== undefined

/** Whether messages of this type make a proposal. */
export const createsProposal = (messageType: string): boolean => derivationOf(messageType) === proposalCreated

const derivationOf = (messageType: string): Derivation | undefined =>
  byType.get(messageType) ?? byLowerCaseType.get(messageType.toLowerCase())

/** progress.reported for the messages of the task mode, in addition to their derived event. */
export const taskProgressEvent = (context: EnvelopeContext): EventDraft | undefined => {
  const { payload } = context
  switch (context.messageType) {
    case "TaskUpdate": {
      const progress = statedNumberAt(context, "progress")
      if (progress === undefined) return undefined
      const percentage = progress > 0 && progress <= 1 ? percent(progress) : progress
      return taskProgress(context, { percentage, message: textAt(payload, "message", "status") ?? "" })
    }
    case "TaskComplete":
      return taskProgress(context, { percentage: 100, message: "completed" })
    case "TaskFail":
      return taskProgress(context, { message: textAt(payload, "reason") ?? "failed" })
    default:
      return undefined
  }
}

type Derivation = (context: EnvelopeContext) => EventDraft

const event = (
  context: EnvelopeContext,
  type: CanonicalEventType,
  kind: SubjectKind,
  id: string,
  decodedPayload = context.payload
): EventDraft => draftEvent(type, headOf(context, kind, id), derivedData(context, decodedPayload))

const proposalIdOf = ({ payload, messageId }: EnvelopeContext): string =>
  textAt(payload, "proposalId", "proposal_id") ??
  textAt(payload, "requestId", "request_id") ??
  textAt(payload, "taskId", "task_id") ??
  textAt(payload, "handoffId", "handoff_id") ??
  messageId

const proposalCreated: Derivation = (context) => event(context, "proposal.created", "proposal", proposalIdOf(context))

const proposalUpdated: Derivation = (context) => {
  const { messageType, payload } = context
  const { output } = payload
  return draftEvent("proposal.updated", headOf(context, "proposal", proposalIdOf(context)), {
    ...derivedData(context, payload),
    // The record of a decision counts them, also after the output was erased.
    ...(messageType === "TaskComplete" && output !== undefined && { outputBytes: outputBytesOf(output) })
  })
}

const decisionFinalized: Derivation = (context) => {
  const { payload, messageId } = context
  const id =
    textAt(payload, "commitmentId", "commitment_id") ?? textAt(payload, "decisionId", "decision_id") ?? messageId
  const { commitmentHash } = context
  return draftEvent("decision.finalized", headOf(context, "decision", id), {
    ...derivedData(context, withOutcome(context)),
    ...(commitmentHash !== undefined && { commitmentHash })
  })
}

/**
 * Adds the outcome in the specification's spelling. A protobuf `false` is the same as no flag at all, so it is taken
 * out and the action decides; a `false` in JSON is a statement.
 */
const withOutcome = ({ payload, payloadTypeName }: EnvelopeContext): JsonObject => {
  const { outcomePositive, ...unstated } = payload
  const stated = payloadTypeName !== undefined && outcomePositive === false ? unstated : payload
  const outcome = outcomeOf(stated)
  return outcome === null ? stated : { ...stated, outcome_positive: outcome }
}

/** Longest `data` of a signal that is in its event twice, characters. */
const MAX_LIFTED_DATA = 4_096

/** Consoles read the signal's `data` at the top level, so it is there too, unless it is long. */
const signalEmitted: Derivation = (context) => {
  const payload = withoutDefaults(context)
  const derived = derivedData(context, payload)
  const { data } = payload
  const isLifted = data !== undefined && JSON.stringify(data).length <= MAX_LIFTED_DATA
  const head = headOf(context, "signal", context.messageId)
  return draftEvent("signal.emitted", head, isLifted ? { ...derived, data } : derived)
}

/** Leaves out the defaults of protobuf, and lifts the severity that agents put into the JSON of `data`. */
const withoutDefaults = (context: EnvelopeContext): JsonObject => {
  const { payload } = context
  const severity = textAt(payload, "severity") ?? textAt(signalDataOf(payload) ?? {}, "severity")
  if (context.payloadTypeName === undefined) return severity === undefined ? payload : { ...payload, severity }
  const { confidence, correlationSessionId, ...rest } = payload
  return {
    ...rest,
    ...(typeof confidence === "number" && confidence !== 0 && { confidence }),
    ...(typeof correlationSessionId === "string" && correlationSessionId !== "" && { correlationSessionId }),
    ...(severity !== undefined && { severity })
  }
}

const signalAcknowledged: Derivation = (context) => {
  const signalId = textAt(context.payload, "signalId", "signal_id") ?? context.messageId
  return event(context, "signal.acknowledged", "signal", signalId)
}

const progressReported: Derivation = (context) => {
  const { payload } = context
  const progress = statedNumberAt(context, "progress")
  const total = numberAt(payload, "total")
  const percentage = progress === undefined ? undefined : percent(fractionOf(progress, total))
  const token = textAt(payload, "progressToken", "progress_token")
  const targetMessageId = textAt(payload, "targetMessageId", "target_message_id")
  return event(context, "progress.reported", "participant", context.sender, {
    ...(percentage !== undefined && Number.isFinite(percentage) && { percentage }),
    message: textAt(payload, "message") ?? "",
    ...(token !== undefined && { progressToken: token }),
    ...(total !== undefined && total > 0 && { total }),
    ...(targetMessageId !== undefined && { targetMessageId })
  })
}

/** Agents report either 0..1, or an amount out of a total. */
const fractionOf = (progress: number, total: number | undefined): number =>
  progress > 1 && total !== undefined && total >= progress ? progress / total : progress

const policyResolved: Derivation = (context) => {
  const { payload } = context
  const policyId = textAt(payload, "policyId", "policy_id")
  const policyVersion = textAt(payload, "policyVersion", "policy_version") ?? policyId
  return draftEvent("policy.resolved", headOf(context, "policy", policyId ?? policyVersion ?? context.messageId), {
    ...derivedData(context, payload),
    ...(policyVersion !== undefined && { policyVersion })
  })
}

const policyCommitmentEvaluated: Derivation = (context) =>
  event(
    context,
    "policy.commitment.evaluated",
    "policy",
    textAt(context.payload, "commitmentId", "commitment_id") ?? context.messageId
  )

const toolCallIdOf = ({ payload, messageId }: EnvelopeContext): string =>
  textAt(payload, "toolCallId", "tool_call_id") ?? textAt(payload, "requestId", "request_id") ?? messageId

const toolCalled: Derivation = (context) =>
  draftEvent("tool.called", headOf(context, "tool", toolCallIdOf(context)), {
    ...derivedData(context, context.payload),
    ...sentData(context)
  })

const toolCompleted: Derivation = (context) => event(context, "tool.completed", "tool", toolCallIdOf(context))

const derivations = (
  ...groups: ReadonlyArray<readonly [Derivation, ReadonlyArray<string>]>
): ReadonlyMap<string, Derivation> =>
  new Map(groups.flatMap(([derivation, types]) => types.map((type) => [type, derivation] as const)))

const byType = derivations(
  [proposalCreated, ["Proposal", "CounterProposal", "ApprovalRequest", "TaskRequest", "HandoffOffer"]],
  [
    proposalUpdated,
    [
      ...["Evaluation", "Objection", "Vote", "Accept", "Reject", "Withdraw", "Approve", "Abstain"],
      ...["TaskAccept", "TaskReject", "TaskUpdate", "TaskComplete", "TaskFail"],
      ...["HandoffContext", "HandoffAccept", "HandoffDecline", "Contribute"]
    ]
  ],
  [decisionFinalized, ["Commitment"]],
  [signalEmitted, ["Signal"]],
  [signalAcknowledged, ["SignalAck", "SignalAcknowledged"]],
  [progressReported, ["Progress"]],
  [policyResolved, ["PolicyResolved"]],
  [policyCommitmentEvaluated, ["PolicyCommitmentEvaluated"]],
  [denialOfEnvelope, ["PolicyDenied"]]
)

const byLowerCaseType = derivations(
  [toolCalled, ["toolcall", "toolrequest"]],
  [toolCompleted, ["toolresult", "toolcompleted", "tooloutput"]]
)

const taskProgress = (context: EnvelopeContext, decodedPayload: JsonObject): EventDraft =>
  event(context, "progress.reported", "message", context.messageId, decodedPayload)

/** A number that the sender really sent: a protobuf 0 is indistinguishable from an absent field. */
const statedNumberAt = (context: EnvelopeContext, key: string): number | undefined => {
  const value = numberAt(context.payload, key)
  return value === 0 && context.payloadTypeName !== undefined ? undefined : value
}

/** Percent of a fraction, without the digits that binary multiplication adds (0.55 is 55, not 55.00000000000001). */
const percent = (fraction: number): number => Math.round(fraction * 100 * 1e6) / 1e6
