import type { BoundPolicy } from "./PolicyRules.ts"

/**
 * How rules that changed between runtime releases are read: `0.6.1` refuses every commitment under schema version 3, lets
 * a voter without a weight count 1.0 and keeps the decline column after `finalize_decline`; `0.7.6` does none of these
 * (runtime-wire sections 9.2 and 9.5).
 */
export type PolicySemantics = "0.6.1" | "0.7.6"

/** Why no commitment under this policy can be allowed, in any mode; undefined when its version is evaluated (section 9.2). */
export const unsupportedVersion = (policy: BoundPolicy, semantics: PolicySemantics): string | undefined =>
  semantics === "0.6.1" && policy.schemaVersion > 2
    ? `unsupported policy schema version ${policy.schemaVersion}`
    : undefined
