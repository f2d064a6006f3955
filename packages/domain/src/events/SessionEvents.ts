import * as Schema from "effect/Schema"
import { STREAM_STATUSES } from "../frames/RuntimeFrames.ts"
import { ParticipantStatus } from "../run/ParticipantStatus.ts"
import { textAt } from "../values/JsonReader.ts"
import { eventType } from "./EventType.ts"
import { inData, member, textOr } from "./Members.ts"

/** The session as the runtime describes it. The subject is the session. */

const session = {
  sessionId: inData.text(),
  /**
   * OPEN, SUSPENDED, RESOLVED, EXPIRED or CANCELLED. Protobuf's own spelling, `SESSION_STATE_OPEN`, is read as well.
   */
  state: member(Schema.UndefinedOr(Schema.String), ({ data }) => textAt(data, "state")?.replace(/^SESSION_STATE_/, "")),
  modeName: inData.text(),
  modeVersion: inData.text(),
  configurationVersion: inData.text(),
  policyVersion: inData.text(),
  contextId: inData.text(),
  extensionKeys: inData.texts()
}

/** The observer has found the session of the run, with its participants. Emitted by the control plane. */
export const SessionBound = eventType("session.bound", {
  ...session,
  initiator: inData.text(),
  participants: inData.texts()
})

/** The session has another state: a bare state after binding, or a whole snapshot of the runtime. */
export const SessionStateChanged = eventType("session.state.changed", {
  ...session,
  /** Unix milliseconds. */
  startedAtUnixMs: inData.number(),
  /** Unix milliseconds. */
  expiresAtUnixMs: inData.number()
})

/** The stream of the session's history was opened, lost, found again or closed, or has a hole (`gap`). */
export const SessionStreamOpened = eventType("session.stream.opened", {
  status: member(Schema.UndefinedOr(Schema.Literals(STREAM_STATUSES)), ({ data }) =>
    STREAM_STATUSES.find((status) => status === data["status"])
  ),
  /** In words, for people. */
  detail: inData.text(),
  /** Count of accepted envelopes after which the stream resumes. */
  requestedAfter: inData.number()
})

/**
 * A participant became known: declared when the session was bound (the control plane emits it, with the status `idle`),
 * or an undeclared sender, before its first message. The subject is the participant.
 */
export const ParticipantSeen = eventType("participant.seen", {
  participantId: textOr(inData.text()),
  role: inData.text(),
  status: member(Schema.UndefinedOr(ParticipantStatus), ({ data }) =>
    ParticipantStatus.literals.find((status) => status === data["status"])
  )
})
