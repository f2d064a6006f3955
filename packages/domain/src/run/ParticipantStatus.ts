import * as Schema from "effect/Schema"

/** What a participant is doing, as far as its messages show. */
export const ParticipantStatus = Schema.Literals([
  "idle",
  "active",
  "waiting",
  "completed",
  "failed",
  "skipped"
]).annotate({ description: "skipped: declared, but sent nothing until the run ended" })
export type ParticipantStatus = typeof ParticipantStatus.Type
