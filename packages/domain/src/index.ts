export * from "./CanonicalEvent.ts"
export { cleanJson, cleanNumber, cleanObject, cleanText, MAX_JSON_DEPTH } from "./CleanJson.ts"
export {
  artifactCreated,
  type ControlPlaneSource,
  participantSeen,
  runCancelled,
  runCompleted,
  runCreated,
  runFailed,
  runResumed,
  runStarted,
  runSuspended,
  sessionBound,
  sessionStateChanged,
  streamOpened
} from "./ControlPlaneEvents.ts"
export * from "./Enrichment.ts"
export * from "./FailureCodes.ts"
export { Field } from "./Field.ts"
export * from "./Ids.ts"
export * from "./JsonReader.ts"
export * from "./LlmUsage.ts"
export * from "./Metrics.ts"
export * from "./Normaliser.ts"
export * from "./OutboundMessage.ts"
export * from "./Outcome.ts"
export * from "./PayloadDecoder.ts"
export { type DecodedPayload, decodePayload, payloadTypeName } from "./PayloadTypes.ts"
export * from "./Projector.ts"
export { policyRuleFaults } from "./policies/PolicyRules.ts"
export * from "./Redaction.ts"
export * from "./RunDescriptor.ts"
export * from "./RunMetrics.ts"
export * from "./RunState.ts"
export * from "./RunStatus.ts"
export * from "./RuntimeFrames.ts"
export * from "./TokenPricing.ts"
