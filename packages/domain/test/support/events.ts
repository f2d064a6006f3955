import type { CanonicalEvent, CanonicalEventType, EventDraft, JsonObject, KnownEvent, RunState } from "@runplane/domain"
import {
  decodeEventText,
  draftEvent,
  emptyRunState,
  outputBytesOf,
  project,
  RunId,
  recordEvent
} from "@runplane/domain"
import * as Result from "effect/Result"

export const RUN_ID = "5b1f6c0e-6f0a-4c53-9a56-0d9c6f5f7a10"
const START_MS = Date.UTC(2026, 6, 1, 10)

/** The ISO time of the n-th event. */
export const at = (index: number): string => new Date(START_MS + index * 1000).toISOString()

/** A draft as the log would number it. */
export const stored = (draft: EventDraft, index: number): KnownEvent =>
  recordEvent(draft, { id: `event-${index}`, runId: RunId.make(RUN_ID), seq: index * 10, index })

/** The text that the log keeps of an event. */
export const textOf = ({ recorded }: CanonicalEvent): string => JSON.stringify(recorded)

/** An event as it is read from that text. */
export const reread = (event: CanonicalEvent): CanonicalEvent => Result.getOrThrow(decodeEventText(textOf(event)))

/** A draft as it will be recorded. */
export const recordedDraft = ({ data: _, recorded, ...head }: EventDraft) => ({ ...head, ...recorded })

/** An event of the runtime, as the normaliser would draft it. */
export const draft = (type: CanonicalEventType, data: JsonObject, subjectId = "s1"): EventDraft =>
  draftEvent(
    type,
    {
      ts: at(0),
      subject: { kind: "message", id: subjectId },
      source: { kind: "runtime", name: "rust-runtime", rawType: type }
    },
    data
  )

/** The bytes of an output, as the normaliser records them. */
export const countedOutput = (type: CanonicalEventType, messageType: string, { output }: JsonObject): JsonObject =>
  type === "proposal.updated" && messageType === "TaskComplete" && output !== undefined
    ? { outputBytes: outputBytesOf(output) }
    : {}

/** An event derived from a message. */
export const derived = (
  type: CanonicalEventType,
  messageType: string,
  sender: string,
  decodedPayload: JsonObject,
  subjectId = "m1"
): EventDraft =>
  draft(
    type,
    {
      ...{ messageType, sender, messageId: subjectId, decodedPayload },
      ...countedOutput(type, messageType, decodedPayload)
    },
    subjectId
  )

export const received = (messageType: string, sender: string, payload: JsonObject = {}, data: JsonObject = {}) =>
  draft("message.received", { messageType, sender, messageId: `m-${messageType}`, payload, ...data })

export const seen = (participantId: string, role?: string): EventDraft =>
  draft("participant.seen", { participantId, status: "idle", ...(role !== undefined && { role }) }, participantId)

export const number = (drafts: ReadonlyArray<EventDraft>): ReadonlyArray<KnownEvent> =>
  drafts.map((item, position) => stored({ ...item, ts: at(position + 1) }, position + 1))

export const fold = (drafts: ReadonlyArray<EventDraft>): RunState =>
  number(drafts).reduce<RunState>(project, emptyRunState(RUN_ID))

/** given(past).when(now): the state after the past and the events that happen now; the n-th event happens at(n). */
export const given = (...past: ReadonlyArray<EventDraft>) => ({
  when: (...now: ReadonlyArray<EventDraft>): RunState => fold([...past, ...now])
})

/** The first events of a run, and its ends. */
export const created = draft("run.created", {
  status: "queued",
  modeName: "macp.mode.decision.v1",
  runtimeKind: "rust",
  sessionId: "session-1",
  traceId: "trace-1"
})
export const started = draft("run.started", { status: "starting", startedAt: "2026-07-01T09:59:00.000Z" })
export const boundBy = (...participants: ReadonlyArray<string>): EventDraft =>
  draft("session.bound", {
    sessionId: "session-1",
    initiator: "lead",
    policyVersion: "policy.default",
    participants,
    contextId: "ctx",
    extensionKeys: ["x"]
  })
export const bound = boundBy()
export const stateChanged = (state: string): EventDraft => draft("session.state.changed", { state })
export const running = [created, started, bound, stateChanged("OPEN")]
export const end = (type: CanonicalEventType): EventDraft => draft(type, { endedAt: "2026-07-01T11:00:00.000Z" })
