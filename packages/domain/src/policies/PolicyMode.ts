/** The mode of a policy that applies to every mode. */
export const ANY_MODE = "*"

/** Whether a policy may govern sessions of a mode. */
export const policyFitsMode = (policyMode: string, mode: string): boolean =>
  policyMode === ANY_MODE || policyMode === mode
