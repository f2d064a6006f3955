import { backoffMs, isoTime, isTerminal, spreadBy } from "@runplane/domain"
import * as Schema from "effect/Schema"
import type { StoredEvent } from "../event-log/EventRepository.ts"
import type { CurrentState } from "../event-log/projection/RunStateReader.ts"
import { RunGone } from "../event-log/runs/RunGone.ts"
import { endsRun, type LiveBatch } from "../event-log/subscribe/LiveBatch.ts"
import { type Delivery, eventsDelivery } from "./Delivery.ts"
import type { Action, Head, Input, PageRead, Phase, ReplayTarget, State } from "./FollowerState.ts"
import type { SharedFrames } from "./SharedFrames.ts"
import { snapshotTimeAfter } from "./SnapshotTurns.ts"

type Next = readonly [State, Action]

const CONTINUE: Action = { _tag: "Continue" }
const READ_HEAD: Action = { _tag: "ReadHead" }
const READ_CURRENT: Action = { _tag: "ReadCurrent" }

/** Pause after a failed read, doubling up to the longest, with jitter so that streams retry apart. Milliseconds. */
const RETRIES = { firstMs: 100, longestMs: 2_000 }

/**
 * The next state of an event stream, and what its loop does now. The loop continues with `Ready` after the client has
 * taken the frames, so a slow client holds one page in memory.
 *
 * A live batch that continues at `index` is sent as it is, and an older one is skipped. After any other batch, or a
 * gap, the stream reads the database from its position. So no event is lost or sent twice, whatever the timing.
 *
 * While the database is away, a stream stays open with heartbeats and retries its reads.
 */
export const step = (state: State, input: Input): Next => {
  switch (input._tag) {
    case "Ready":
      return ready(state, input)
    case "Batch":
      return deliver(state, input)
    case "Frames":
      return deliverFrames(state, input.frames, input.seq)
    case "Gap":
      return [{ ...state, phase: { _tag: "Reading" } }, CONTINUE]
    case "Restored": {
      const { restores, seq } = input
      return [{ ...state, seq, restores, phase: { _tag: "Resetting", afterSeq: state.seq } }, CONTINUE]
    }
    case "Page":
      return turnPage({ ...state, failures: 0 }, input)
    case "Head":
      return compare({ ...state, failures: 0 }, input.head)
    case "Current":
      return receiveState({ ...state, failures: 0 }, input)
    case "Failed":
      return [fail(state, input), CONTINUE]
  }
}

interface Moment {
  readonly now: number
  readonly audience: number
}

const ready = (state: State, moment: Moment): Next => {
  const { heartbeat, phase, target } = state
  const { now } = moment
  if (phase._tag === "Ended") return [state, { _tag: "End" }]
  if (phase._tag === "Playing") return play(state, phase, now)
  if (phase._tag === "Opening") return phase.isChecked ? open(state, phase) : [state, READ_HEAD]
  if (phase._tag === "Resetting" && target._tag === "Log") return resetLog(state, phase, now)
  const isDue = heartbeat === undefined && now >= state.nextHeartbeat
  if (heartbeat === "unknown" || (isDue && phase._tag !== "Resetting")) {
    return [{ ...state, heartbeat: "unknown" }, READ_HEAD]
  }
  if (heartbeat !== undefined && state.seq >= heartbeat.lastSeq) return beat(state, heartbeat, now)
  if (phase._tag === "Resetting") return read(state, READ_CURRENT, now)
  if (phase._tag === "Live") return live(state, phase, moment)
  const { ahead } = phase
  if (phase._tag === "Settling") {
    return ahead !== undefined && state.seq >= ahead.lastSeq
      ? sendStored(state, ahead, now)
      : read(state, READ_HEAD, now)
  }
  if (target._tag === "Replay" && state.seq >= target.toSeq) return end(state)
  return read(state, { _tag: "ReadPage", upToSeq: ahead?.lastSeq }, now)
}

/** A read, not before the retry after a failed one; a heartbeat is sent in the meantime. */
const read = (state: State, action: Action, now: number): Next => {
  const { heartbeat, nextHeartbeat, retryAt } = state
  const until = heartbeat === undefined && now < nextHeartbeat ? Math.min(retryAt, nextHeartbeat) : retryAt
  return [state, now < retryAt ? { _tag: "Sleep", until } : action]
}

const end = (state: State): Next => [{ ...state, phase: { _tag: "Ended" } }, { _tag: "End" }]

const send = (...deliveries: ReadonlyArray<Delivery>): Action => ({ _tag: "Send", deliveries })

const sendAny = (deliveries: ReadonlyArray<Delivery>): Action =>
  deliveries.length === 0 ? CONTINUE : send(...deliveries)

const open = (state: State, { hasCursor, includeSnapshot, start }: Extract<Phase, { _tag: "Opening" }>): Next => [
  { ...state, phase: { _tag: hasCursor ? "Reading" : "Live" } },
  includeSnapshot ? send({ _tag: "Snapshot", state: start.state }) : CONTINUE
]

const live = (state: State, { snapshot }: Extract<Phase, { _tag: "Live" }>, { audience, now }: Moment): Next => {
  const { isEnding, nextHeartbeat } = state
  const due = snapshot === undefined ? Number.POSITIVE_INFINITY : isEnding ? now : nextSnapshot(state, audience)
  if (now < due) return isEnding ? end(state) : [state, { _tag: "Wait", until: Math.min(nextHeartbeat, due) }]
  if (typeof snapshot !== "object") return read(state, READ_CURRENT, now)
  return [snapshotSent(state, snapshot.lastSeq, now), send({ _tag: "Snapshot", state: snapshot.state })]
}

const snapshotSent = (state: State, snapshotSeq: number, now: number): State => ({
  ...state,
  phase: { _tag: "Live" },
  snapshotSeq,
  snapshotAt: now
})

const beat = (state: State, { lastIndex, lastSeq }: Head, now: number): Next => {
  const { heartbeatMs, index, nextHeartbeat, seq, target } = state
  const missed = Math.max(1, Math.ceil((now - nextHeartbeat) / heartbeatMs))
  const after: State = { ...state, heartbeat: undefined, nextHeartbeat: nextHeartbeat + heartbeatMs * missed }
  const ts = isoTime(now)
  if (target._tag === "Log") return [after, send({ _tag: "Heartbeat", id: seq, data: { ts, seq } })]
  const position = index === undefined ? { seq: lastSeq, index: lastIndex } : { seq, index }
  return [after, send({ _tag: "Heartbeat", id: undefined, data: { ts, ...position } })]
}

const deliver = (state: State, batch: LiveBatch): Next => {
  const { index, target } = state
  if (batch.lastSeq <= state.seq) return [state, CONTINUE]
  const first = batch.events[0]
  if (index === undefined || first === undefined || first.index > index + 1) {
    return [{ ...state, phase: { _tag: "Reading" } }, CONTINUE]
  }
  const after: State = {
    ...state,
    phase: { _tag: "Live", snapshot: target._tag === "Run" && target.snapshots === "all" ? batch : undefined },
    seq: batch.lastSeq,
    index: batch.lastIndex,
    isEnding: state.isEnding || endsRun(batch)
  }
  if (first.index <= index) {
    return [after, send(eventsDelivery(batch.events.filter((event) => event.index > index)))]
  }
  return [after, send(batch)]
}

const deliverFrames = (state: State, frames: ReadonlyArray<SharedFrames>, upTo: number): Next => {
  const after: State = { ...state, seq: Math.max(state.seq, upTo) }
  return [after, sendAny(frames.map((each): Delivery => ({ _tag: "Encoded", frames: each })))]
}

const turnPage = (state: State, { deliveries, events, index, isLast, seq }: PageRead): Next => {
  const { phase, target } = state
  if (target._tag === "Replay") return turnReplay(state, target, events ?? [])
  const ahead = phase._tag === "Reading" && phase.ahead !== undefined ? { ahead: phase.ahead } : {}
  const isLive = isLast && target._tag === "Log"
  return [
    {
      ...state,
      seq: Math.max(state.seq, seq),
      index,
      phase: isLive ? { _tag: "Live" } : { ...ahead, _tag: isLast ? "Settling" : "Reading" }
    },
    sendAny(deliveries)
  ]
}

/** The head of a heartbeat, of the opening, or after the last page. */
const compare = (state: State, head: Extract<Input, { _tag: "Head" }>["head"]): Next => {
  const { phase, seq, target } = state
  if (head === undefined) return deleted(state)
  if (target._tag === "Log") return [{ ...state, seq: head.lastSeq, heartbeat: head }, CONTINUE]
  if (head.lastSeq < seq) {
    return [{ ...state, heartbeat: undefined, phase: { _tag: "Resetting", afterSeq: seq } }, CONTINUE]
  }
  if (phase._tag === "Opening") return [{ ...state, phase: { ...phase, isChecked: true } }, CONTINUE]
  if (state.heartbeat !== "unknown") return settle(state, head)
  const isBehind = phase._tag === "Live" && head.lastSeq > seq
  return [{ ...state, heartbeat: head, phase: isBehind ? { _tag: "Reading" } : phase }, CONTINUE]
}

/** Becomes live: the run may have ended meanwhile, and a snapshot may be pending. */
const settle = (state: State, head: Head & Partial<Pick<CurrentState, "status">>): Next => {
  const { seq, snapshotSeq, target, wasTerminal } = state
  const isEnding = head.status !== undefined && isTerminal(head.status) && !wasTerminal
  if (head.lastSeq > seq) {
    // The next batch of a running run continues here; an ended run has no next batch.
    return [{ ...state, isEnding, phase: { _tag: isEnding ? "Reading" : "Live" } }, CONTINUE]
  }
  const isPending = target._tag === "Run" && target.snapshots === "all" && head.lastSeq > snapshotSeq
  const snapshot = isPending ? "stored" : undefined
  return [{ ...state, isEnding, index: head.lastIndex, phase: { _tag: "Live", snapshot } }, CONTINUE]
}

const receiveState = (state: State, { current, now }: Extract<Input, { _tag: "Current" }>): Next => {
  const { phase, seq } = state
  if (current === undefined) return deleted(state)
  if (phase._tag === "Resetting") return resetRun(state, phase.afterSeq, current, now)
  if (current.lastSeq <= seq) return sendStored(state, current, now)
  return [{ ...state, phase: { _tag: "Reading", ahead: current } }, CONTINUE]
}

const sendStored = (state: State, current: CurrentState, now: number): Next => {
  const isEnding = state.isEnding || (isTerminal(current.status) && !state.wasTerminal)
  return [{ ...snapshotSent(state, current.lastSeq, now), isEnding }, send({ _tag: "Snapshot", state: current.state })]
}

/** A client that has all of an ended run receives the end of its stream; the others receive an error. */
const deleted = (state: State): Next => {
  const { endSeq, seq, target, wasTerminal } = state
  if (target._tag === "Log" || (wasTerminal && seq >= endSeq)) return end(state)
  return [state, { _tag: "Fail", error: new RunGone({ runId: target.runId }) }]
}

const resetRun = (
  state: State,
  afterSeq: number,
  { lastIndex, lastSeq, ...current }: CurrentState,
  now: number
): Next => {
  const data = { ts: isoTime(now), seq: lastSeq, index: lastIndex, afterSeq }
  const after: State = {
    ...snapshotSent(state, lastSeq, now),
    phase: { _tag: "Reading" },
    seq: lastSeq,
    index: lastIndex,
    endSeq: lastSeq,
    wasTerminal: isTerminal(current.status),
    isEnding: false,
    heartbeat: undefined,
    nextHeartbeat: now + state.heartbeatMs
  }
  return [after, send({ _tag: "Reset", id: lastSeq, data }, { _tag: "Snapshot", state: current.state })]
}

const resetLog = (state: State, { afterSeq }: Extract<Phase, { _tag: "Resetting" }>, now: number): Next => {
  const { seq } = state
  const data = { ts: isoTime(now), seq, afterSeq }
  // A heartbeat follows.
  return [{ ...state, nextHeartbeat: now, phase: { _tag: "Live" } }, send({ _tag: "Reset", id: seq, data })]
}

const fail = (state: State, { jitter, now }: Extract<Input, { _tag: "Failed" }>): State => {
  const { failures, heartbeat, index, phase, seq } = state
  if (phase._tag === "Opening") return { ...state, phase: { ...phase, isChecked: true } }
  const pause = spreadBy(0.5, backoffMs(RETRIES, failures), jitter)
  const isDue = heartbeat !== undefined || now >= state.nextHeartbeat
  return {
    ...state,
    // A heartbeat does not wait for the database.
    heartbeat: isDue ? { lastSeq: seq, lastIndex: index ?? 0 } : undefined,
    failures: failures + 1,
    retryAt: now + Math.ceil(pause)
  }
}

const turnReplay = (state: State, target: ReplayTarget, events: ReadonlyArray<StoredEvent>): Next => {
  const { speed, toSeq } = target
  const seq = events.at(-1)?.seq ?? state.seq
  // The replay ends at an event of the log, so the run was deleted.
  if (seq === state.seq && seq < toSeq) return deleted(state)
  const selected = events.filter((event) => event.seq <= toSeq)
  const after: State = { ...state, seq }
  if (speed !== undefined) return [{ ...after, phase: { _tag: "Playing", events: selected, sent: 0 } }, CONTINUE]
  return [after, selected.length === 0 ? CONTINUE : send(eventsDelivery(selected))]
}

/** Each event after the pause between it and the one before, divided by the speed. */
const play = (state: State, phase: Extract<Phase, { _tag: "Playing" }>, now: number): Next => {
  const { recordedAt, target } = state
  const event = phase.events[phase.sent]
  if (event === undefined || target._tag !== "Replay") return [{ ...state, phase: { _tag: "Reading" } }, CONTINUE]
  const at = millisOf(event)
  const pause =
    recordedAt === undefined ? 0 : Math.min(Math.max(at - recordedAt, 0) / (target.speed ?? 1), target.maxDelayMs)
  const due = phase.due ?? now + pause
  if (now < due)
    return [
      { ...state, phase: { ...phase, due } },
      { _tag: "Sleep", until: due }
    ]
  const { events, sent } = phase
  const after: State = { ...state, recordedAt: at, phase: { _tag: "Playing", events, sent: sent + 1 } }
  return [after, send(eventsDelivery([event]))]
}

const decodeTime = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ ts: Schema.String })))

const millisOf = ({ json }: StoredEvent): number => Date.parse(decodeTime(json).ts)

const nextSnapshot = ({ snapshotAt, target }: State, audience: number): number =>
  snapshotAt === undefined || target._tag !== "Run"
    ? 0
    : snapshotTimeAfter(snapshotAt, target.snapshotIntervalMs, { audience, position: target.position })
