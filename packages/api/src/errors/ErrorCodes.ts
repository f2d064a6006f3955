/**
 * Every `errorCode` of the control plane with the HTTP status it is answered with (http-details section 3.2; the codes
 * that the runtime's failures are reported with included). `INTERNAL_ERROR` also goes with 502 (a cancel callback that
 * failed) and with 429 (the service's own rate limit), as the specification shows.
 */
export const controlPlaneErrorStatus = {
  RUN_NOT_FOUND: 404,
  INVALID_STATE_TRANSITION: 409,
  RUNTIME_UNAVAILABLE: 503,
  RUNTIME_TIMEOUT: 504,
  STREAM_EXHAUSTED: 502,
  SESSION_EXPIRED: 409,
  VALIDATION_ERROR: 400,
  INTERNAL_ERROR: 500,
  MODE_NOT_SUPPORTED: 400,
  CIRCUIT_BREAKER_OPEN: 503,
  INVALID_SESSION_ID: 400,
  UNKNOWN_POLICY_VERSION: 400,
  POLICY_DENIED: 403,
  INVALID_POLICY_DEFINITION: 400,
  SESSION_ALREADY_EXISTS: 409,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNAUTHENTICATED: 401,
  NOT_IMPLEMENTED: 501,
  RATE_LIMITED: 429,
  ENDPOINT_REMOVED: 410,
  SERVICE_UNAVAILABLE: 503,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  REGISTRY_READ_ONLY: 405
} as const

export type ControlPlaneErrorCode = keyof typeof controlPlaneErrorStatus

/** Every `errorCode` that the launch service raises itself (scenario-launch-service "Errors"). */
export const launcherErrorStatus = {
  PACK_NOT_FOUND: 404,
  SCENARIO_NOT_FOUND: 404,
  VERSION_NOT_FOUND: 404,
  TEMPLATE_NOT_FOUND: 404,
  AGENT_NOT_FOUND: 404,
  INVALID_SCENARIO_REF: 400,
  VALIDATION_ERROR: 400,
  COMPILATION_ERROR: 400,
  INVALID_PACK_DATA: 500,
  INVALID_CONFIG: 500,
  AUTH_MINT_FAILED: 502,
  AGENT_ATTACH_FAILED: 502,
  INTERNAL_ERROR: 500
} as const

export type LauncherErrorCode = keyof typeof launcherErrorStatus

/** The reason phrases that errors in the form of the peer's HTTP framework carry as `error`. */
export const reasonPhrases = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  413: "Payload Too Large",
  415: "Unsupported Media Type"
} as const
