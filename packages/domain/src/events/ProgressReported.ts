import { eventType } from "./EventType.ts"
import { inPayload, textOr } from "./Members.ts"
import { messageHeader } from "./MessageHeader.ts"

/**
 * How far a participant has come. From a Progress (the subject is the participant), and beside `proposal.updated` from
 * TaskUpdate, TaskComplete and TaskFail (the subject is the message).
 */
export const ProgressReported = eventType("progress.reported", {
  ...messageHeader,
  /** 0 to 100. */
  percentage: inPayload.number(),
  /** May be empty. */
  message: textOr(inPayload.text(), ""),
  progressToken: inPayload.text(),
  /** The amount that is all of it, when the sender counts something. */
  total: inPayload.number(),
  /** Message whose work is reported on. */
  targetMessageId: inPayload.text()
})
