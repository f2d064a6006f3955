/** What a figure of refusals can see: the log has those of the session stream. */
export const REFUSALS_SEEN = "the runtime reports a refused commitment only to its sender"

/** Whether a search counts refusals by policy. */
export const countsRefusals = (q: string): boolean => q.includes("policy.denied")
