import * as Schema from "effect/Schema"
import { numberAt, textAt, textsAt } from "../JsonReader.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import { STREAM_STATUSES } from "../RuntimeFrames.ts"
import { eventType, maybeNumber, maybeText, texts } from "./EventType.ts"

/** The session as the runtime describes it. The subject is the session. */

const session = {
  sessionId: maybeText,
  /**
   * OPEN, SUSPENDED, RESOLVED, EXPIRED or CANCELLED. Protobuf's own spelling, `SESSION_STATE_OPEN`, is read as well.
   */
  state: maybeText,
  modeName: maybeText,
  modeVersion: maybeText,
  configurationVersion: maybeText,
  policyVersion: maybeText,
  contextId: maybeText,
  extensionKeys: texts
}

const readSession = (json: JsonObject) => ({
  sessionId: textAt(json, "sessionId"),
  state: textAt(json, "state")?.replace(/^SESSION_STATE_/, ""),
  modeName: textAt(json, "modeName"),
  modeVersion: textAt(json, "modeVersion"),
  configurationVersion: textAt(json, "configurationVersion"),
  policyVersion: textAt(json, "policyVersion"),
  contextId: textAt(json, "contextId"),
  extensionKeys: textsAt(json, "extensionKeys")
})

/** The observer has found the session of the run, and who takes part in it. Emitted by the control plane. */
export const SessionBound = eventType(
  "session.bound",
  { ...session, initiator: maybeText, participants: texts },
  (json) => ({
    ...readSession(json),
    initiator: textAt(json, "initiator"),
    participants: textsAt(json, "participants")
  })
)

/** The session was seen in another state: a bare state after binding, or all that a snapshot of the runtime says. */
export const SessionStateChanged = eventType(
  "session.state.changed",
  {
    ...session,
    /** Unix milliseconds. */
    startedAtUnixMs: maybeNumber,
    /** Unix milliseconds. */
    expiresAtUnixMs: maybeNumber
  },
  (json) => ({
    ...readSession(json),
    startedAtUnixMs: numberAt(json, "startedAtUnixMs"),
    expiresAtUnixMs: numberAt(json, "expiresAtUnixMs")
  })
)

/** The stream of the session's history was opened, lost, found again or closed, or has a hole (`gap`). */
export const SessionStreamOpened = eventType(
  "session.stream.opened",
  {
    status: Schema.UndefinedOr(Schema.Literals(STREAM_STATUSES)),
    /** In words, for people. */
    detail: maybeText,
    /** Count of accepted envelopes after which the stream was asked to go on. */
    requestedAfter: maybeNumber
  },
  (json) => ({
    status: STREAM_STATUSES.find((status) => status === json["status"]),
    detail: textAt(json, "detail"),
    requestedAfter: numberAt(json, "requestedAfter")
  })
)
