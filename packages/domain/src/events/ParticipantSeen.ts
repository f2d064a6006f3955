import * as Schema from "effect/Schema"
import { textAt } from "../JsonReader.ts"
import { ParticipantStatus } from "../ParticipantStatus.ts"
import { eventType, maybeText } from "./EventType.ts"

/**
 * A participant became known: declared when the session was bound (the control plane says so, with the status `idle`),
 * or a sender that nobody declared, in front of its first message. The subject is the participant.
 */
export const ParticipantSeen = eventType(
  "participant.seen",
  { participantId: Schema.String, role: maybeText, status: Schema.UndefinedOr(ParticipantStatus) },
  (json, subjectId) => ({
    participantId: textAt(json, "participantId") ?? subjectId,
    role: textAt(json, "role"),
    status: ParticipantStatus.literals.find((status) => status === json["status"])
  })
)
