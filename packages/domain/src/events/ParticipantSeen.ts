import * as Schema from "effect/Schema"
import { ParticipantStatus } from "../ParticipantStatus.ts"
import { eventType } from "./EventType.ts"
import { inData, member, textOr } from "./Members.ts"

/**
 * A participant became known: declared when the session was bound (the control plane says so, with the status `idle`),
 * or a sender that nobody declared, in front of its first message. The subject is the participant.
 */
export const ParticipantSeen = eventType("participant.seen", {
  participantId: textOr(inData.text()),
  role: inData.text(),
  status: member(Schema.UndefinedOr(ParticipantStatus), ({ data }) =>
    ParticipantStatus.literals.find((status) => status === data["status"])
  )
})
