/** The steps at which a process that reads a receipt is killed. */
export const KILL_STEPS = ["before-call", "after-answer", "in-commit", "after-commit"] as const
export type KillStep = (typeof KILL_STEPS)[number]
