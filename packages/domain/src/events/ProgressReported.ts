import * as Schema from "effect/Schema"
import { numberAt, textAt } from "../JsonReader.ts"
import { eventType, maybeNumber, maybeText } from "./EventType.ts"
import { messageHeader, payloadOf, readHeader } from "./MessageHeader.ts"

/**
 * How far a participant has come. From a Progress (the subject is the participant), and beside `proposal.updated` from
 * TaskUpdate, TaskComplete and TaskFail (the subject is the message).
 */
export const ProgressReported = eventType(
  "progress.reported",
  {
    ...messageHeader,
    /** 0 to 100. */
    percentage: maybeNumber,
    /** May be empty. */
    message: Schema.String,
    progressToken: maybeText,
    /** The amount that is all of it, when the sender counts something. */
    total: maybeNumber,
    /** Message whose work is reported on. */
    targetMessageId: maybeText
  },
  (json) => {
    const payload = payloadOf(json)
    return {
      ...readHeader(json),
      percentage: numberAt(payload, "percentage"),
      message: textAt(payload, "message") ?? "",
      progressToken: textAt(payload, "progressToken"),
      total: numberAt(payload, "total"),
      targetMessageId: textAt(payload, "targetMessageId")
    }
  }
)
