import type * as Schema from "effect/Schema"
import { parseExactObject } from "../frames/PayloadTypes.ts"
import type { SessionSnapshot, StreamStatus } from "../frames/RuntimeFrames.ts"
import type { ReceiptReport } from "../receipts/ReceiptReport.ts"
import type { RunStatus } from "../run/RunStatus.ts"
import { cleanNumber, cleanText, isDeeperThan, MAX_JSON_DEPTH } from "../values/CleanJson.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { draftEvent, type EventDraft } from "./CanonicalEvent.ts"
import type { CanonicalEventType } from "./CanonicalEventType.ts"
import type { DraftHead } from "./EventType.ts"
import type { AnswerFact, ItemFact, TurnFact } from "./PeopleFacts.ts"
import type { EventSource, SubjectKind } from "./RecordedEvent.ts"
import type { ShadowFact } from "./ShadowFact.ts"

/**
 * The events that the control plane emits itself. All times are given by the caller, as ISO text; optional values that
 * are undefined leave their key out.
 */

/** Which part of the control plane speaks: the `source.name` of the event. */
export type ControlPlaneSource =
  | "run-manager"
  | "run-executor"
  | "stream-consumer"
  | "run-recovery"
  | "observability-controller"

interface RunEvent {
  readonly ts: string
  readonly runId: string
  readonly traceId: string
}

interface RunEnd extends RunEvent {
  readonly endedAt: string
  readonly runtimeSessionId: string
}

interface RunPause extends RunEvent {
  readonly runtimeSessionId: string
  readonly reason?: string | undefined
}

export const runCreated = (
  event: RunEvent & {
    readonly modeName: string
    readonly runtimeKind: string
    readonly runtimeVersion?: string | undefined
    readonly sessionId: string
  }
): EventDraft => {
  const { modeName, runtimeKind, runtimeVersion, sessionId, traceId } = event
  const status: RunStatus = "queued"
  return runEvent("run.created", event, { status, modeName, runtimeKind, runtimeVersion, sessionId, traceId })
}

export const runStarted = (
  event: RunEvent & { readonly startedAt: string; readonly modeName: string; readonly runtimeKind: string }
): EventDraft => {
  const { modeName, runtimeKind, startedAt, traceId } = event
  const status: RunStatus = "starting"
  return runEvent("run.started", event, { status, startedAt, modeName, runtimeKind, traceId })
}

export const runCompleted = (event: RunEnd): EventDraft => runEvent("run.completed", event, endData("completed", event))

export const runFailed = (event: RunEnd & { readonly error: string; readonly errorCode: string }): EventDraft =>
  runEvent("run.failed", event, { ...endData("failed", event), error: event.error, errorCode: event.errorCode })

export const runCancelled = (event: RunEnd & { readonly reason?: string | undefined }): EventDraft =>
  runEvent("run.cancelled", event, { ...endData("cancelled", event), reason: event.reason })

/** The end of a run that ended by silence, by its root, which came later. `name` is that of the run. */
export const runCorrected = (
  event: RunEnd & {
    readonly status: "completed" | "failed"
    readonly startedAt: string
    readonly errorCode?: string | undefined
    readonly error?: string | undefined
    readonly name?: string | undefined
  }
): EventDraft =>
  runEvent("run.corrected", event, {
    ...endData(event.status, event),
    startedAt: event.startedAt,
    endedBecause: "root",
    name: event.name,
    errorCode: event.errorCode,
    error: event.error
  })

export const runSuspended = (event: RunPause): EventDraft =>
  runEvent("run.suspended", event, pauseData("suspended", event))

export const runResumed = (event: RunPause): EventDraft => runEvent("run.resumed", event, pauseData("running", event))

/** The session that an observer bound to, as the runtime describes it; without a policy it is `policy.default`. */
export const sessionBound = (ts: string, session: SessionSnapshot): EventDraft =>
  draftEvent("session.bound", headOf(ts, "session", session.sessionId, "run-executor"), {
    sessionId: cleanText(session.sessionId),
    initiator: cleanText(session.initiator),
    state: session.state,
    modeName: cleanText(session.mode),
    modeVersion: cleanText(session.modeVersion),
    configurationVersion: cleanText(session.configurationVersion),
    policyVersion: session.policyVersion === "" ? "policy.default" : cleanText(session.policyVersion),
    participants: session.participants.map(cleanText),
    ...contextData(session)
  })

/** A policy as a runtime describes it; `rules` is the text of a JSON object. */
export interface DescribedPolicy {
  readonly policyId: string
  readonly mode: string
  readonly schemaVersion: number
  readonly description: string
  readonly rules: string
}

/** Rules and descriptions up to this size are recorded, each. Characters. */
export const MAX_RECORDED_RULES = 512 * 1024

/**
 * The policy that the session is bound to, as the runtime describes it when the run is bound
 * (docs/reference/decisions.md#the-policy-on-record). Rules that are too large are not recorded, and neither is the
 * descriptor.
 */
export const policyResolved = (ts: string, session: SessionSnapshot, policy: DescribedPolicy): EventDraft => {
  const policyId = cleanText(policy.policyId)
  const description = cleanText(policy.description.slice(0, MAX_RECORDED_RULES))
  const { mode, rules, schemaVersion } = policy
  const isRecorded = rules.length <= MAX_RECORDED_RULES
  return draftEvent("policy.resolved", headOf(ts, "policy", policyId, "run-executor"), {
    modeName: cleanText(session.mode),
    messageType: "PolicyResolved",
    sessionId: cleanText(session.sessionId),
    policyVersion: policyId,
    decodedPayload: { policyVersion: policyId, policyId, description, resolvedAt: ts },
    ...(isRecorded && {
      descriptor: {
        policyId,
        mode: cleanText(mode),
        schemaVersion: cleanNumber(schemaVersion),
        description,
        rules: readableRules(rules)
      }
    })
  })
}

/** The object in the JSON text, or the text itself when it has no object that can be recorded unchanged. */
const readableRules = (text: string): Schema.Json => {
  const json = parseExactObject(text)
  const isKept = json !== undefined && json.faults.listed.length === 0 && !isDeeperThan(json.object, MAX_JSON_DEPTH - 4)
  return isKept ? json.object : cleanText(text)
}

/** A state of the session, either known by itself (after binding, from WatchSessions) or with the whole snapshot. */
export const sessionStateChanged = (
  ts: string,
  session: Pick<SessionSnapshot, "sessionId" | "state"> | SessionSnapshot
): EventDraft =>
  draftEvent(
    "session.state.changed",
    headOf(ts, "session", session.sessionId, "run-executor"),
    "mode" in session ? sessionStateData(session) : { sessionId: cleanText(session.sessionId), state: session.state }
  )

export const streamOpened = (
  ts: string,
  sessionId: string,
  stream: { readonly status: StreamStatus; readonly detail?: string; readonly requestedAfter?: number }
): EventDraft =>
  draftEvent(
    "session.stream.opened",
    headOf(ts, "session", sessionId, stream.status === "recovered" ? "run-recovery" : "stream-consumer"),
    streamOpenedData(stream)
  )

/** A participant that was declared when the session was bound, and has sent nothing so far. */
export const participantSeen = (ts: string, participantId: string): EventDraft =>
  draftEvent("participant.seen", headOf(ts, "participant", participantId, "run-executor"), {
    participantId: cleanText(participantId),
    status: "idle"
  })

export const artifactCreated = (
  ts: string,
  artifact: {
    readonly artifactId: string
    readonly kind: string
    readonly label: string
    readonly uri?: string | undefined
    readonly traceId?: string | undefined
    /** SHA-256 of the inline content as it is served, hexadecimal; absent without content. */
    readonly contentSha256?: string | undefined
    /** The check of the receipt that the artifact holds. */
    readonly receipt?: ReceiptReport | undefined
    /** The question or the answer of a person that the artifact holds. */
    readonly item?: ItemFact | undefined
    readonly answer?: AnswerFact | undefined
    /** The turn of an agent that it is about. */
    readonly turn?: TurnFact | undefined
    /** The shadow whose acts the artifact holds. */
    readonly shadow?: ShadowFact | undefined
  },
  sourceName: ControlPlaneSource
): EventDraft => {
  const { answer, artifactId, contentSha256, item, kind, label, receipt, shadow, turn, uri, traceId } = artifact
  return draftEvent(
    "artifact.created",
    { ts, subject: { kind: "artifact", id: artifactId }, source: source(sourceName) },
    {
      ...present({ kind, label, artifactId, uri, traceId, contentSha256 }),
      ...(receipt !== undefined && { receipt: { ...receipt } }),
      ...(item !== undefined && { item: { ...item } }),
      ...(answer !== undefined && { answer: { ...answer } }),
      ...(turn !== undefined && { turn: { ...turn } }),
      ...(shadow !== undefined && { shadow: { ...shadow, acts: shadow.acts.map((act) => ({ ...act })) } })
    }
  )
}

/** The data of session.state.changed from a snapshot: what the runtime left empty is absent. */
export const sessionStateData = (session: SessionSnapshot): JsonObject => ({
  sessionId: cleanText(session.sessionId),
  state: session.state,
  ...(session.startedAtUnixMs > 0 && { startedAtUnixMs: cleanNumber(session.startedAtUnixMs) }),
  ...(session.expiresAtUnixMs > 0 && { expiresAtUnixMs: cleanNumber(session.expiresAtUnixMs) }),
  modeName: cleanText(session.mode),
  ...(session.modeVersion !== "" && { modeVersion: cleanText(session.modeVersion) }),
  ...(session.configurationVersion !== "" && { configurationVersion: cleanText(session.configurationVersion) }),
  ...(session.policyVersion !== "" && { policyVersion: cleanText(session.policyVersion) }),
  ...contextData(session)
})

export const streamOpenedData = (stream: {
  readonly status: StreamStatus
  readonly detail?: string
  readonly requestedAfter?: number
}): JsonObject => ({
  status: stream.status,
  ...(stream.detail !== undefined && { detail: cleanText(stream.detail) }),
  ...(stream.requestedAfter !== undefined && { requestedAfter: cleanNumber(stream.requestedAfter) })
})

const contextData = (session: SessionSnapshot): JsonObject => ({
  ...(session.contextId !== "" && { contextId: cleanText(session.contextId) }),
  ...(session.extensionKeys.length > 0 && { extensionKeys: session.extensionKeys.map(cleanText) })
})

const source = (name: ControlPlaneSource): EventSource => ({ kind: "control-plane", name })

const headOf = (ts: string, kind: SubjectKind, id: string, name: ControlPlaneSource): DraftHead => ({
  ts,
  subject: { kind, id: cleanText(id) },
  source: source(name)
})

const endData = (status: RunStatus, { endedAt, runtimeSessionId, traceId }: RunEnd) => ({
  status,
  endedAt,
  runtimeSessionId,
  traceId
})

const pauseData = (status: RunStatus, { reason, runtimeSessionId, traceId }: RunPause) => ({
  status,
  runtimeSessionId,
  traceId,
  reason
})

const runEvent = (
  type: CanonicalEventType,
  { runId, ts }: RunEvent,
  data: Readonly<Record<string, string | undefined>>
): EventDraft =>
  draftEvent(type, { ts, subject: { kind: "run", id: runId }, source: source("run-manager") }, present(data))

const present = (data: Readonly<Record<string, string | undefined>>): JsonObject => {
  const entries: Record<string, string> = {}
  for (const [key, value] of Object.entries(data)) if (value !== undefined) entries[key] = cleanText(value)
  return entries
}
