import {
  type CanonicalEvent,
  decideTransition,
  EVENT_SCHEMA_VERSION,
  type EventDraft,
  emptyRunMetrics,
  emptyRunState,
  measure,
  type NormalisedFrame,
  type Normaliser,
  type OutboundMessageDraft,
  project,
  type RunMetrics,
  type RunState,
  type RunStatus
} from "@runplane/domain"
import { tally } from "../dashboard/EventTally.ts"
import {
  type AppendRefusal,
  type AppendRequest,
  type CommittedEvent,
  InvalidStateTransition,
  StreamCursorMoved
} from "./AppendRequest.ts"
import type { LockedHead, LogBatch, MessageRows } from "./LogRows.ts"
import { ambientKeyOf, messageKeyOf } from "./MessageKey.ts"

export interface PreparedFrame extends NormalisedFrame {
  readonly receivedAt: string
  /** An accepted envelope of the session's history: it has an ordinal and is deduplicated by its message id. */
  readonly ordinal: boolean
  /** A signal or progress of the watch of all sessions, which is no part of any history. Every process of the fleet gets it. */
  readonly ambient: boolean
  /** By which the run knows the message again; undefined when the frame carries none. */
  readonly messageKey: string | undefined
}

/** A request with its frames normalised: the costly part, done before the transaction begins. */
export interface PreparedRequest {
  readonly request: AppendRequest
  readonly frames: ReadonlyArray<PreparedFrame>
}

/**
 * Normalises a request's frames. `known` are the run's participants as far as this process remembers them; who is really new
 * is only certain under the lock, so `decide` looks again.
 */
export const prepare = (
  normaliser: Normaliser,
  request: AppendRequest,
  known: ReadonlySet<string>
): PreparedRequest => ({
  request,
  frames: (request.frames ?? []).map(({ frame, receivedAt }) => {
    const normalised = normaliser.normalise(known, frame, receivedAt)
    const ambient = frame.kind === "stream-envelope" && frame.ambient
    const messageId = normalised.message?.messageId ?? ""
    return {
      ...normalised,
      receivedAt,
      ordinal: frame.kind === "stream-envelope" && !frame.ambient,
      ambient,
      messageKey: messageId === "" ? undefined : ambient ? ambientKeyOf(frame.envelope) : messageKeyOf(messageId)
    }
  })
})

export interface Projected {
  readonly state: RunState
  readonly metrics: RunMetrics
}

/** A run in the middle of an append: everything here is what will be committed. */
export interface RunInProgress {
  readonly head: LockedHead
  status: RunStatus
  statusRevision: number
  lastSeq: number
  lastIndex: number
  lastRawSeq: number
  cursor: number
  projected: Projected
  /** Participants that are declared or have been seen, the appends of this transaction included. */
  readonly participants: Set<string>
  startedAt: string | undefined
  endedAt: string | undefined
  dirty: boolean
}

export const startRun = (head: LockedHead, known: Projected | undefined): RunInProgress => {
  const projected = known ?? { state: emptyRunState(head.run.id), metrics: emptyRunMetrics(head.run.id) }
  return {
    head,
    status: head.run.status,
    statusRevision: head.run.statusRevision,
    lastSeq: head.lastSeq,
    lastIndex: head.lastIndex,
    lastRawSeq: head.lastRawSeq,
    cursor: head.cursor,
    projected,
    participants: new Set(projected.state.participants.map((participant) => participant.participantId)),
    startedAt: head.run.startedAt,
    endedAt: head.run.endedAt,
    dirty: false
  }
}

/** What one request adds to its run, decided under the lock. */
export interface Decision {
  readonly prepared: PreparedRequest
  readonly run: RunInProgress
  readonly change: "none" | "applied" | "no-op" | "rejected"
  readonly frames: ReadonlyArray<PreparedFrame>
  readonly drafts: ReadonlyArray<EventDraft>
  readonly at: string
}

export type Decided =
  | { readonly _tag: "Decided"; readonly decision: Decision }
  | { readonly _tag: "Refused"; readonly refusal: AppendRefusal }

/** The form in which the database answers which messages were new. */
const runMessageKey = (runId: string, { messageKey }: PreparedFrame): string | undefined =>
  messageKey === undefined ? undefined : `${runId} ${messageKey}`

/** The message rows that the frames of these requests want to store: each key once, an acceptance before a rejection. */
export const messageRows = (requests: ReadonlyArray<PreparedRequest>): MessageRows => {
  const byKey = new Map<
    string,
    { readonly runId: string; readonly key: string; readonly message: OutboundMessageDraft }
  >()
  for (const { frames, request } of requests) {
    for (const frame of frames) {
      const key = frame.messageKey
      if (key === undefined || frame.message === undefined) continue
      const place = `${request.runId} ${key}`
      if (byKey.get(place)?.message.status === "accepted") continue
      byKey.set(place, { runId: request.runId, key, message: frame.message })
    }
  }
  const rows = [...byKey.values()]
  return {
    runId: rows.map((row) => row.runId),
    messageId: rows.map((row) => row.key),
    accepted: rows.map((row) => row.message.status === "accepted"),
    json: rows.map((row) => JSON.stringify({ runId: row.runId, ...row.message }))
  }
}

/**
 * Decides, under the run's lock, what a request adds: duplicates dropped, the cursor compared, the change of status looked
 * up. `fresh` holds the messages that the database did not have; a key is used up by its first frame.
 */
export const decide = (prepared: PreparedRequest, run: RunInProgress, fresh: Set<string>, at: string): Decided => {
  const { request } = prepared
  if (request.cursor !== undefined && request.cursor !== run.cursor) {
    return {
      _tag: "Refused",
      refusal: new StreamCursorMoved({ runId: request.runId, expected: request.cursor, actual: run.cursor })
    }
  }
  const transition = request.change === undefined ? "none" : decideTransition(run.status, request.change.to)
  if (transition === "reject" && request.change?.whenRejected === "fail") {
    return {
      _tag: "Refused",
      refusal: new InvalidStateTransition({ runId: request.runId, from: run.status, to: request.change.to })
    }
  }
  const drafts: Array<EventDraft> = []
  const frames = prepared.frames.filter((frame) => {
    const key = runMessageKey(request.runId, frame)
    const isNew = key === undefined || fresh.delete(key)
    // What the runtime says of a message that it has refused is no message of its own.
    return isNew || !(frame.ordinal || frame.ambient)
  })
  for (const frame of frames) {
    // A repeated envelope is not a new place in the session's history, so only new ones move the cursor.
    if (frame.ordinal) run.cursor += 1
    for (const draft of frame.drafts) {
      if (draft.type === "participant.seen") {
        const id = draft.subject?.id ?? ""
        if (run.participants.has(id)) continue
        run.participants.add(id)
      }
      drafts.push(draft)
    }
  }
  const change = outcomeOf(transition, request.change?.revision, run)
  if (change === "none" || change === "applied") drafts.push(...(request.events ?? []))
  if (change === "applied" && request.change !== undefined) {
    drafts.push(...request.change.events(run.head.run, at))
    run.status = request.change.to
    run.statusRevision += 1
    if (request.change.to === "starting") run.startedAt = at
    if (run.status === "completed" || run.status === "failed" || run.status === "cancelled") run.endedAt = at
  }
  return { _tag: "Decided", decision: { prepared, run, change, frames, drafts, at } }
}

const outcomeOf = (
  transition: ReturnType<typeof decideTransition> | "none",
  revision: number | undefined,
  run: RunInProgress
): Decision["change"] => {
  if (transition === "reject") return "rejected"
  if (transition !== "apply") return transition
  return revision === undefined || revision === run.statusRevision ? "applied" : "rejected"
}

/** Gives the drafts of a decision their places, folds them into the run, and adds their rows to the batch. */
export const fold = (
  decision: Decision,
  places: { readonly seqs: ReadonlyArray<number>; readonly ids: ReadonlyArray<string>; next: number },
  batch: LogBatch
): ReadonlyArray<CommittedEvent> => {
  const { drafts, frames, prepared, run } = decision
  const runId = prepared.request.runId
  const trace = { traceId: run.head.run.traceId, spanId: run.head.run.spanId }
  let { metrics, state } = run.projected
  const committed: Array<CommittedEvent> = []
  for (const draft of drafts) {
    const seq = places.seqs[places.next] ?? 0
    const event: CanonicalEvent = {
      id: places.ids[places.next] ?? "",
      runId,
      seq,
      index: run.lastIndex + 1,
      ts: draft.ts,
      type: draft.type,
      schemaVersion: EVENT_SCHEMA_VERSION,
      ...(draft.subject === undefined ? {} : { subject: draft.subject }),
      source: draft.source,
      trace: draft.trace ?? trace,
      data: draft.data
    }
    places.next += 1
    run.lastSeq = seq
    run.lastIndex = event.index
    state = project(state, event)
    metrics = measure(metrics, event)
    const json = JSON.stringify(event)
    batch.events.seq.push(BigInt(seq))
    batch.events.runId.push(runId)
    batch.events.index.push(event.index)
    batch.events.ts.push(event.ts)
    batch.events.type.push(event.type)
    batch.events.json.push(json)
    tally(batch.tally, event)
    committed.push({ seq, index: event.index, type: event.type, json })
  }
  run.projected = { state, metrics }
  for (const frame of frames) {
    run.lastRawSeq += 1
    batch.raw.runId.push(runId)
    batch.raw.seq.push(run.lastRawSeq)
    batch.raw.ts.push(frame.receivedAt)
    batch.raw.kind.push(frame.raw.kind)
    batch.raw.sourceName.push(frame.raw.sourceName)
    batch.raw.json.push(JSON.stringify(frame.raw.payload))
  }
  run.dirty = true
  return committed
}
