/**
 * Codes of the runtime that become the code of a run's failure when the error text names them
 * (docs/reference/events.md#failure-codes).
 */
export const RUNTIME_FAILURE_CODES = [
  "UNKNOWN_POLICY_VERSION",
  "POLICY_DENIED",
  "INVALID_POLICY_DEFINITION",
  "SESSION_ALREADY_EXISTS"
] as const

export type RuntimeFailureCode = (typeof RUNTIME_FAILURE_CODES)[number]

/** The code that a failure text contains; the first of the list if several. */
export const failureCodeIn = (text: string): RuntimeFailureCode | undefined =>
  RUNTIME_FAILURE_CODES.find((code) => text.includes(code))
