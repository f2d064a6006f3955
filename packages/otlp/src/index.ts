export {
  contentType,
  encodeExportAnswer,
  encodeStatus,
  type PartialSuccess,
  type StatusOf
} from "./Answers.ts"
export { BodyMalformed, type BodyOptions, BodyTooLarge, readBody } from "./Body.ts"
export { OTLP_LIMITS, type OtlpLimits } from "./Bounds.ts"
export { type ReadTelemetry, telemetryKey } from "./Collect.ts"
export { type OtlpEncoding, type OtlpSignal, readTelemetry } from "./Read.ts"
