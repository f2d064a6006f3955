export {
  contentType,
  encodeExportAnswer,
  encodeStatus,
  type PartialSuccess,
  type StatusOf
} from "./Answers.ts"
export {
  BodyMalformed,
  type BodyOptions,
  BodyTooLarge,
  type ContentCoding,
  contentCodings,
  inflateBody,
  readBody,
  receiveBody,
  releaseBody
} from "./Body.ts"
export { type Dropped, OTLP_LIMITS, type OtlpLimits } from "./Bounds.ts"
export { type ReadReport, type TakeTelemetry, telemetryKey } from "./Collect.ts"
export { codeOf, framed, GrpcCode, messageIn, PREFIX_BYTES, readPrefix, retryDetails, trailerText } from "./Grpc.ts"
export {
  type OtlpEncoding,
  type OtlpRequest,
  type OtlpSignal,
  type ReadTelemetry,
  readEach,
  readTelemetry,
  TooManyParts
} from "./Read.ts"
