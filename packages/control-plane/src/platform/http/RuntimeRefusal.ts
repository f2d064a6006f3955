import { circuitBreakerOpen, controlPlaneError, type RuntimeFailure, runtimeFailure } from "@runplane/api"
import type { SendAck } from "@runplane/domain"
import type { RuntimeError } from "@runplane/runtime"

/** The answer for a runtime call that failed: docs/reference/errors.md#runtime-errors. */
export const answerOfRuntimeError = (error: RuntimeError): RuntimeFailure =>
  error.reason === "CIRCUIT_BREAKER_OPEN"
    ? circuitBreakerOpen(error.message)
    : runtimeFailure(error.reason, error.message)

/**
 * Registry codes of refused control calls (docs/internals/runtime.md#registry-codes); every other refusal is a conflict
 * with the session's state.
 */
const codeOfAck: Readonly<Partial<Record<string, RuntimeFailure["errorCode"]>>> = {
  UNAUTHENTICATED: "UNAUTHENTICATED",
  FORBIDDEN: "FORBIDDEN",
  UNAUTHORIZED: "FORBIDDEN",
  SESSION_NOT_FOUND: "NOT_FOUND",
  INVALID_SESSION_ID: "INVALID_SESSION_ID",
  INVALID_ENVELOPE: "VALIDATION_ERROR",
  RATE_LIMITED: "RATE_LIMITED",
  POLICY_DENIED: "POLICY_DENIED",
  INTERNAL_ERROR: "INTERNAL_ERROR"
}

/** The answer for an ack with `ok: false`: the run is unchanged. */
export const answerOfRefusedAck = (action: string, { error }: SendAck): RuntimeFailure => {
  const code = (error === undefined ? undefined : codeOfAck[error.code]) ?? "CONFLICT"
  const reason = [error?.code, error?.message].filter((text) => text !== undefined && text !== "").join(": ")
  return controlPlaneError(code, `the runtime refused to ${action} the session${reason === "" ? "" : `: ${reason}`}`)
}
