import {
  boundName,
  decideTransition,
  type EventDraft,
  frameText,
  isTerminal,
  type KnownEvent,
  mayCorrect,
  type OutboundMessageDraft,
  type RunStatus,
  recordEvent,
  repeatedMessage
} from "@runplane/domain"
import type { SealKey } from "../../platform/ledger/SealKeys.ts"
import type { CommittedEvent } from "../CommittedEvent.ts"
import { type Checkpoint, NO_CHECKPOINT } from "../projection/Checkpoint.ts"
import { participantsOf, type RememberedRun } from "../projection/ProjectionCache.ts"
import { emptyProjected, type Projected, projectAndMeasure } from "../projection/ReplayLog.ts"
import { eventTexts, payloadTexts } from "../seal/DigestedTexts.ts"
import { extendChain, extendDigested } from "../seal/HashChain.ts"
import { type Vouched, vouchedHead } from "../seal/HeadProof.ts"
import {
  type AppendRefusal,
  type ChangeOutcome,
  type ChangeRequest,
  type RunEnd,
  StreamCursorMoved
} from "./AppendRequest.ts"
import type { EventRows } from "./InsertEvents.ts"
import type { LockedHead, MessageRow, StoredAs } from "./LockHeads.ts"
import { type Positions, takeSeed } from "./Positions.ts"
import type { PreparedFrame } from "./PreparedFrame.ts"
import type { QueuedAppend } from "./QueuedAppend.ts"

/** A run in the middle of an append, as it will be committed. */
export interface RunInProgress {
  readonly head: LockedHead
  /** The head as this process continues it (docs/reference/seal.md#proof). */
  readonly vouched: Vouched<LockedHead>
  status: RunStatus
  statusRevision: number
  lastSeq: number
  lastIndex: number
  lastRawSeq: number
  /** No event of the run is older; ISO-8601. */
  lastTs: string
  cursor: number
  projected: Projected
  checkpoint: Checkpoint
  /** Whether this append must store the projection, however young the last checkpoint is. */
  mustCheckpoint: boolean
  /** About how long the state is as text. */
  stateBytes: number
  /** Head of the hash chain after the last event. */
  chain: Uint8Array
  /** Head of the chain of the raw frames. */
  framesHead: Uint8Array
  /** Participants that are declared or have been seen, the appends of this transaction included. */
  readonly participants: Set<string>
  startedAt: string | undefined
  endedAt: string | undefined
  dirty: boolean
}

/** The most that one event adds to a state, because all texts of a state are bounded. Bytes, about. */
const MOST_GROWTH_BYTES = 16_384

export const startRun = (
  head: LockedHead,
  known: RememberedRun | undefined,
  sealKey: SealKey | undefined,
  isNew: boolean
): RunInProgress => {
  const vouched = vouchedHead(sealKey, head, isNew)
  const projected = known?.projected ?? emptyProjected(head.run.id)
  return {
    head,
    vouched,
    status: head.run.status,
    statusRevision: head.run.statusRevision,
    lastSeq: head.lastSeq,
    lastIndex: head.lastIndex,
    lastRawSeq: head.lastRawSeq,
    lastTs: head.lastTs,
    cursor: head.cursor,
    projected,
    checkpoint: known?.checkpoint ?? NO_CHECKPOINT,
    mustCheckpoint: false,
    stateBytes: known?.stateBytes ?? 0,
    chain: head.chain,
    framesHead: vouched.head.frames.head,
    participants: participantsOf(projected.state),
    startedAt: head.run.startedAt,
    endedAt: head.run.endedAt,
    dirty: false
  }
}

/** What one append adds to its run, decided under the lock. */
export interface Decision {
  readonly append: QueuedAppend
  readonly run: RunInProgress
  /** `applied` unless a change of status came to nothing. */
  readonly change: ChangeOutcome
  /** The other end that the run gets. */
  readonly correction?: RunEnd
  /** The end with which the run is created. */
  readonly end?: RunEnd
  readonly frames: ReadonlyArray<PreparedFrame>
  readonly drafts: ReadonlyArray<EventDraft>
  /** The time of the append: not before the last event of the run, ISO-8601. */
  readonly at: string
}

/** The key of a new message in the answer of the database. */
const runMessageKey = (runId: string, { messageKey }: PreparedFrame): string | undefined =>
  messageKey === undefined ? undefined : `${runId} ${messageKey}`

/**
 * The message rows that the frames of these appends want to store: each key once, an acceptance before a rejection, at
 * the time of the database.
 */
export const messageRows = (
  appends: ReadonlyArray<QueuedAppend>,
  shift: AppendTime["shift"]
): ReadonlyArray<MessageRow> => {
  const byKey = new Map<
    string,
    { readonly runId: string; readonly key: string; readonly message: OutboundMessageDraft }
  >()
  for (const { frames, request } of appends) {
    for (const frame of frames) {
      const key = frame.messageKey
      if (key === undefined || frame.message === undefined) continue
      const id = `${request.runId} ${key}`
      if (byKey.get(id)?.message.status === "accepted") continue
      byKey.set(id, { runId: request.runId, key, message: frame.message })
    }
  }
  return [...byKey.values()].map(({ key, message, runId }) => {
    const { acceptedAt, createdAt, updatedAt, ...rest } = message
    const stored = JSON.stringify({
      runId,
      ...rest,
      createdAt: shift(createdAt),
      ...(acceptedAt !== undefined && { acceptedAt: shift(acceptedAt) }),
      updatedAt: shift(updatedAt)
    })
    return { run_id: runId, message_id: key, accepted: message.status === "accepted", message: stored }
  })
}

/**
 * Messages that the database did not have as they are now. A key is used up by the first frame that says the same of
 * its message.
 */
export type FreshMessages = Map<string, StoredAs>

/** The time of a transaction (docs/reference/events.md#time). */
export interface AppendTime {
  /** ISO-8601. */
  readonly at: string
  /** The time of the database at a time of this process. */
  readonly shift: (ts: string) => string
}

/**
 * Decides, under the run's lock, which events an append adds: drops duplicates, compares the cursor and applies the
 * transition table. No event gets a time before that of the run's last event. Changes the run and `fresh`.
 */
export const decide = (
  append: QueuedAppend,
  run: RunInProgress,
  fresh: FreshMessages,
  time: AppendTime
): Decision | AppendRefusal => {
  const { request } = append
  const at = laterOf(time.at, run.lastTs)
  switch (request._tag) {
    case "Observe": {
      const { cursor, runId } = request
      if (cursor !== undefined && cursor !== run.cursor) {
        return new StreamCursorMoved({ runId, expected: cursor, actual: run.cursor })
      }
      const taken = takeFrames(append, run, fresh)
      const frames = receivedInTurn(run, taken.frames, time.shift)
      return { append, run, change: "applied", frames, drafts: inTime(run, taken.drafts, time.shift), at }
    }
    case "Change": {
      const change = outcomeOf(request, run)
      if (change !== "applied") return { append, run, change, frames: [], drafts: [], at }
      const drafts = inTime(run, firstSights(run, request.events(run.head.run, at)))
      run.status = request.to
      run.mustCheckpoint = true
      run.statusRevision += 1
      if (request.to === "starting") run.startedAt = at
      if (isTerminal(request.to)) run.endedAt = request.times?.endedAt ?? at
      if (request.times !== undefined) run.startedAt = request.times.startedAt
      return { append, run, change, frames: [], drafts, at }
    }
    case "Rebuild":
      run.mustCheckpoint = true
      return { append, run, change: "applied", frames: [], drafts: [], at }
    case "Create": {
      const { end, events } = request
      if (end === undefined) {
        return {
          append,
          run,
          change: "applied",
          frames: [],
          drafts: inTime(run, firstSights(run, events), time.shift),
          at
        }
      }
      const before = inTime(run, firstSights(run, events.slice(0, -1)), time.shift)
      // As in a change of its own, the time of the end is that of its caller.
      const drafts = [...before, ...inTime(run, events.slice(-1))]
      endRun(run, end)
      return { append, run, change: "applied", end, frames: [], drafts, at }
    }
    default: {
      const { correction, events } = request
      const isCorrected = correction !== undefined && mayCorrect(run.status, correction.to)
      const stored = correction === undefined || isCorrected ? events : events.slice(0, -1)
      const drafts = inTime(run, firstSights(run, stored), time.shift)
      if (!isCorrected) return { append, run, change: "applied", frames: [], drafts, at }
      endRun(run, correction)
      return { append, run, change: "applied", correction, frames: [], drafts, at }
    }
  }
}

const endRun = (run: RunInProgress, { times, to }: RunEnd) => {
  run.status = to
  run.statusRevision += 1
  run.mustCheckpoint = true
  run.startedAt = times.startedAt
  run.endedAt = times.endedAt
}

/** Of two times in ISO-8601, with the same number of digits. */
export const laterOf = (left: string, right: string): string => (left < right ? right : left)

const unshifted = (ts: string): string => ts

/** Events at the time of the database, each not before the previous one. */
const inTime = (run: RunInProgress, drafts: ReadonlyArray<EventDraft>, shift = unshifted): ReadonlyArray<EventDraft> =>
  drafts.map((draft) => {
    const ts = laterOf(shift(draft.ts), run.lastTs)
    run.lastTs = ts
    return ts === draft.ts ? draft : { ...draft, ts }
  })

/** The same for frames, before their events get their times. */
const receivedInTurn = (
  run: RunInProgress,
  frames: ReadonlyArray<PreparedFrame>,
  shift: AppendTime["shift"]
): ReadonlyArray<PreparedFrame> => {
  let last = run.lastTs
  return frames.map((frame) => {
    last = laterOf(shift(frame.receivedAt), last)
    return last === frame.receivedAt ? frame : { ...frame, receivedAt: last }
  })
}

/** Without the events that see a known participant. */
const firstSights = (run: RunInProgress, drafts: ReadonlyArray<EventDraft>): ReadonlyArray<EventDraft> =>
  drafts.filter((draft) => {
    if (draft.type !== "participant.seen") return true
    const id = boundName(draft.subject?.id ?? "")
    const isFirst = !run.participants.has(id)
    run.participants.add(id)
    return isFirst
  })

const asRepeated = (frame: PreparedFrame): PreparedFrame => ({ ...frame, drafts: frame.drafts.map(repeatedMessage) })

const takeFrames = ({ frames, request }: QueuedAppend, run: RunInProgress, fresh: FreshMessages) => {
  const taken = frames.flatMap((frame) => {
    const key = runMessageKey(request.runId, frame)
    if (key === undefined) return [frame]
    const stored = fresh.get(key)
    if (frame.ordinal || frame.ambient) {
      fresh.delete(key)
      if (stored === undefined) return []
      return [stored === "accepted instead" ? asRepeated(frame) : frame]
    }
    // A rejection leaves the message new for the frame that accepts it later.
    if (stored !== "rejected") return [asRepeated(frame)]
    fresh.delete(key)
    return [frame]
  })
  // A repeated envelope is not a new entry of the session's history, so only new ones move the cursor.
  run.cursor += taken.filter(({ ordinal }) => ordinal).length
  return {
    frames: taken,
    drafts: firstSights(
      run,
      taken.flatMap(({ drafts }) => drafts)
    )
  }
}

const outcomeOf = ({ revision, to }: ChangeRequest, run: RunInProgress): ChangeOutcome => {
  const transition = decideTransition(run.status, to)
  if (transition === "reject") return "rejected"
  if (transition === "no-op") return "no-op"
  return revision === undefined || revision === run.statusRevision ? "applied" : "superseded"
}

/** Events that are folded and sent to the database at a time. */
const EVENTS_AT_A_TIME = 400
const CHARACTERS_AT_A_TIME = 524_288

/** The parts in which a decision is folded: a long one is written while the rest of it is being folded. */
export const partsOf = (decision: Decision): ReadonlyArray<Decision> => {
  const { drafts, frames } = decision
  const rows = Math.max(drafts.length, frames.length)
  if (rows <= EVENTS_AT_A_TIME) return [decision]
  return Array.from({ length: Math.ceil(rows / EVENTS_AT_A_TIME) }, (_, part) => {
    const from = part * EVENTS_AT_A_TIME
    const to = from + EVENTS_AT_A_TIME
    return { ...decision, drafts: drafts.slice(from, to), frames: frames.slice(from, to) }
  })
}

/** Whether so much is folded that the database can begin with it. */
export const isWorthSending = ({ characters, events }: EventRows): boolean =>
  events.length >= EVENTS_AT_A_TIME || characters >= CHARACTERS_AT_A_TIME

/** Numbers the drafts of a decision, folds them into the run, and adds their rows to the batch. Changes the run. */
export const fold = (
  decision: Decision,
  positions: Positions,
  batch: EventRows
): { readonly events: ReadonlyArray<KnownEvent>; readonly committed: ReadonlyArray<CommittedEvent> } => {
  const { append, drafts, frames, run } = decision
  const { runId } = append.request
  const trace = { traceId: run.head.run.traceId, spanId: run.head.run.spanId }
  let { projected } = run
  const events: Array<KnownEvent> = []
  const committed: Array<CommittedEvent> = []
  for (const draft of drafts) {
    const seq = positions.seqs[positions.next] ?? 0
    const id = positions.ids[positions.next] ?? ""
    const event = recordEvent(draft, { id, runId, seq, index: run.lastIndex + 1, trace })
    positions.next += 1
    run.lastSeq = seq
    run.lastIndex = event.index
    projected = projectAndMeasure(projected, event)
    const seed = takeSeed(positions.seeds, run.head.version)
    const { digested, text: json } = eventTexts(seed?.bytes, event.recorded)
    run.chain = digested === undefined ? extendChain(run.chain, json) : extendDigested(run.chain, digested)
    run.stateBytes += Math.min(json.length, MOST_GROWTH_BYTES)
    batch.events.push({
      seq,
      run_id: runId,
      index: event.index,
      ts: event.ts,
      type: event.type,
      event: json,
      seed: seed?.text ?? null
    })
    batch.characters += json.length
    events.push(event)
    committed.push({ seq, index: event.index, type: event.type, json })
  }
  run.projected = projected
  for (const frame of frames) {
    run.lastRawSeq += 1
    const { kind, payload, sourceName } = frame.raw
    const [seq, ts] = [run.lastRawSeq, frame.receivedAt]
    const seed = takeSeed(positions.seeds, run.head.version)
    const { digested, text: json } = payloadTexts(seed?.bytes, kind, payload)
    const covered = frameText({ seq, ts, kind, sourceName }, digested ?? json)
    run.framesHead =
      digested === undefined ? extendChain(run.framesHead, covered) : extendDigested(run.framesHead, covered)
    batch.raw.push({ run_id: runId, seq, ts, kind, source_name: sourceName, payload: json, seed: seed?.text ?? null })
    batch.characters += json.length
  }
  if (decision.change === "applied") run.dirty = true
  return { events, committed }
}
