import { textAt } from "../JsonReader.ts"
import type { JsonObject } from "../PayloadDecoder.ts"
import { eventType, maybeText } from "./EventType.ts"

/**
 * The life of the run's record. The control plane emits these itself, each in the transaction that changes the status;
 * the subject is the run.
 */

const identity = {
  modeName: maybeText,
  /** The session of the run. Recorded as `sessionId` while nobody has looked for the session. */
  runtimeSessionId: maybeText,
  /** W3C trace id of the run. */
  traceId: maybeText
}

const readIdentity = (json: JsonObject) => ({
  modeName: textAt(json, "modeName"),
  runtimeSessionId: textAt(json, "runtimeSessionId", "sessionId"),
  traceId: textAt(json, "traceId")
})

/** The run was accepted and waits for its session: `queued`. */
export const RunCreated = eventType(
  "run.created",
  { ...identity, runtimeKind: maybeText, runtimeVersion: maybeText },
  (json) => ({
    ...readIdentity(json),
    runtimeKind: textAt(json, "runtimeKind"),
    runtimeVersion: textAt(json, "runtimeVersion")
  })
)

/** An observer looks for the session: `starting`. */
export const RunStarted = eventType(
  "run.started",
  { ...identity, runtimeKind: maybeText, startedAt: maybeText },
  (json) => ({
    ...readIdentity(json),
    runtimeKind: textAt(json, "runtimeKind"),
    startedAt: textAt(json, "startedAt")
  })
)

/** The session was resolved and all of its history is in the log. */
export const RunCompleted = eventType("run.completed", { ...identity, endedAt: maybeText }, (json) => ({
  ...readIdentity(json),
  endedAt: textAt(json, "endedAt")
}))

/** The run cannot go on; `error` says why in words, `errorCode` for programs. */
export const RunFailed = eventType(
  "run.failed",
  { ...identity, endedAt: maybeText, error: maybeText, errorCode: maybeText },
  (json) => ({
    ...readIdentity(json),
    endedAt: textAt(json, "endedAt"),
    error: textAt(json, "error"),
    errorCode: textAt(json, "errorCode")
  })
)

/** A caller, or the session itself, cancelled the run. */
export const RunCancelled = eventType(
  "run.cancelled",
  { ...identity, endedAt: maybeText, reason: maybeText },
  (json) => ({ ...readIdentity(json), endedAt: textAt(json, "endedAt"), reason: textAt(json, "reason") })
)

/** The session pauses. */
export const RunSuspended = eventType("run.suspended", { ...identity, reason: maybeText }, (json) => ({
  ...readIdentity(json),
  reason: textAt(json, "reason")
}))

/** The session goes on after a pause. */
export const RunResumed = eventType("run.resumed", { ...identity, reason: maybeText }, (json) => ({
  ...readIdentity(json),
  reason: textAt(json, "reason")
}))
