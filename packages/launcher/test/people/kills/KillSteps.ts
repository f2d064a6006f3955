/** Where the process of the fault test kills itself, in the order in which an answer comes there. */
export const KILL_STEPS = [
  "item-stored",
  "in-answer",
  "answer-stored",
  "outbox-read",
  "message-sent",
  "acknowledged",
  "accepted",
  "artifact-posted"
] as const
export type KillStep = (typeof KILL_STEPS)[number]
