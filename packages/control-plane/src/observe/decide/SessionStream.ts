import { backoffMs, type InlineError, isoTime, type SessionSnapshot } from "@runplane/domain"
import { type OversizedMessage, type RuntimeError, saysHistoryGone } from "@runplane/runtime"
import type * as Result from "effect/Result"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import { unreadEnvelope } from "../../event-log/append/PlaceholderEvent.ts"
import { type Action, isTerminalSession, log, write } from "./Action.ts"
import type { Moment } from "./Input.ts"
import { isWrittenByRuntime } from "./ObservedRun.ts"
import {
  type Bound,
  type Decision,
  type EarlyStream,
  historyLength,
  isCounted,
  over,
  received,
  type SessionStream,
  stay,
  thenBound
} from "./State.ts"
import * as Position from "./StreamPosition.ts"

/**
 * The subscription of a bound run: stores the envelopes of its session, and subscribes again after the last stored one
 * whenever the stream ends (docs/internals/runtime.md#subscription, docs/internals/runtime.md#reconnect).
 */

/** Jitter on top of a pause, at most this share of it. */
const JITTER = 0.2
/** Most doublings of the idle time-out. */
const MAX_DOUBLINGS = 5
/** Subscriptions in a row that may end at the same oversized message, before it is stored without its payload. */
const OVERSIZED_TRIES = 3
/** Longest pause during a drain, milliseconds. */
const DRAIN_PAUSE_MS = 250

/** A stream before its first subscription. */
export const newStream: SessionStream = {
  position: Position.streamPosition,
  subscription: 0,
  attempt: 0,
  oversized: 0,
  silences: 0,
  errors: new Set(),
  openedAt: 0,
  connection: { _tag: "Ending", detail: "", forbidden: false }
}

const withStream = (state: Bound, stream: Partial<SessionStream>): Bound => ({
  ...state,
  stream: { ...state.stream, ...stream }
})

/** Subscribes after the stored envelopes, or after the position that the repetitions have reached. */
export const subscribe = (state: Bound, { at }: Moment): Decision => {
  const position = Position.open(state.stream.position, state.cursor)
  const subscription = state.stream.subscription + 1
  return [
    withStream(state, { position, subscription, openedAt: at, connection: opened(state, at) }),
    [{ _tag: "Subscribe", subscription, after: position.after }]
  ]
}

/**
 * Continues the subscription from before the binding. When another observer has stored envelopes since, a new
 * subscription follows them.
 */
export const takeOver = (state: Bound, early: EarlyStream, now: Moment): Decision => {
  const { subscription } = early
  if (state.cursor !== state.run.cursor || (!early.open && early.frames.length === 0)) {
    return subscribe(withStream(state, { subscription }), now)
  }
  const position = Position.open(state.stream.position, state.cursor)
  const taken = withStream(state, { position, subscription, openedAt: now.at, connection: opened(state, now.at) })
  const begun = early.frames.length === 0 ? stay(taken) : receive(taken, early.frames, now)
  return early.open ? begun : thenBound(begun, (next) => (isConnected(next) ? ended(next, undefined, now) : stay(next)))
}

/** A stream that stays silent is opened ever more rarely. */
const opened = ({ options, stream: { silences } }: Bound, at: number) => {
  const idleMs = options.streamIdleTimeoutMs * 2 ** Math.min(silences, MAX_DOUBLINGS)
  return { _tag: "Open", idleAt: at + idleMs, silence: "none" } as const
}

export const isConnected = ({ stream }: Bound): boolean => stream.connection._tag === "Open"

/** The runtime has dropped the history after the cursor of the log. */
export const isHistoryGone = ({ stream }: Bound): boolean => stream.connection._tag === "Gone"

/** Whether frames are of the open subscription: it delivers the frames of an older one again. */
export const isCurrent = (state: Bound, subscription: number): boolean =>
  isConnected(state) && state.stream.subscription === subscription

/** Frames have arrived on the open subscription. Frames of another session, or of none, are dropped. */
export const receive = (state: Bound, arrived: ReadonlyArray<ObservedFrame>, now: Moment): Decision => {
  const errors = new Set(state.stream.errors)
  const frames = arrived.filter(({ frame }) =>
    frame.kind === "stream-inline-error"
      ? isNewError(frame.error, errors)
      : frame.kind !== "stream-envelope" || frame.envelope.sessionId === state.run.sessionId
  )
  const refusal = arrived.map(({ frame }) => frame).find(isRefusal)
  if (refusal?.kind === "stream-inline-error") {
    const { code, message } = refusal.error
    const detail = message || code
    if (!saysHistoryGone(`${code} ${message}`)) return forbidden(state, detail)
    // Envelopes after the loss still arrive, so those beside the refusal count.
    const envelopes = frames.filter(({ frame }) => frame.kind === "stream-envelope")
    const [lost, actions] = loseHistory(state, detail, now)
    return [lost, envelopes.length === 0 ? actions : [...actions, store(state, envelopes)]]
  }
  const { attempt, oversized } = state.stream
  const good = frames.some(({ frame }) => frame.kind === "stream-envelope")
  const counts = good ? { attempt: 0, oversized: 0 } : { attempt, oversized }
  const alive = withStream(state, { ...counts, silences: 0, errors })
  const next = withStream(alive, { connection: opened(alive, now.at) })
  return frames.length === 0 ? stay(next) : [next, [store(state, frames)]]
}

const store = ({ cursor }: Bound, frames: ReadonlyArray<ObservedFrame>): Action => ({ _tag: "Store", frames, cursor })

/** Different inline errors that are remembered. */
const REMEMBERED_ERRORS = 64

/** An error that every subscription repeats is stored once. */
const isNewError = ({ code, message }: InlineError, known: Set<string>): boolean => {
  const text = `${code}\n${message}`
  if (known.has(text)) return false
  if (known.size >= REMEMBERED_ERRORS) known.clear()
  known.add(text)
  return true
}

/** The runtime keeps the stream open after such an error, and silent. */
const isRefusal = (frame: ObservedFrame["frame"]): boolean =>
  frame.kind === "stream-inline-error" && (/^forbidden:/i.test(frame.error.code) || saysHistoryGone(frame.error.code))

/** The runtime refuses the session to this identity for good. */
const forbidden = ({ drain }: Bound, errorMessage: string): Decision =>
  drain?.goal === "late" ? over() : over(write({ _tag: "Fail", errorCode: "FORBIDDEN", errorMessage }))

/** The frames are in the log. */
export const stored = (state: Bound, frames: ReadonlyArray<ObservedFrame>, cursor: number, { at }: Moment): Bound => {
  const written = frames.flatMap(({ frame }) =>
    frame.kind === "stream-envelope" && isWrittenByRuntime(frame.envelope) ? [frame.envelope.messageId] : []
  )
  const { attempt, connection, errors, position } = state.stream
  const isNew = cursor > state.cursor
  return {
    ...withStream(state, {
      position: Position.passed(position, frames),
      attempt: isNew ? 0 : attempt,
      connection: connection._tag === "Open" ? opened(state, at) : connection,
      errors: isNew ? new Set() : errors
    }),
    cursor,
    annotations: written.length === 0 ? state.annotations : new Set([...state.annotations, ...written])
  }
}

/** The cursor of the log has moved during an append of unknown outcome: the history is read from there. */
export const fallBehind = (state: Bound, cursor: number, now: Moment): Decision => subscribe({ ...state, cursor }, now)

/** The subscription has ended; the next one depends on the cursor of the log. */
export const ended = (state: Bound, error: RuntimeError | undefined, now: Moment): Decision => {
  if (error?.historyGone) return loseHistory(state, error.message, now)
  const { attempt, openedAt, oversized } = state.stream
  const connection = {
    _tag: "Ending",
    detail: error?.message ?? "stream ended",
    forbidden: error?.reason === "PERMISSION_DENIED"
  } as const
  // A stream that was open for longer than the longest pause is stable.
  const wasStable = now.at - openedAt > state.options.streamBackoffMaxMs
  const next = withStream(state, {
    connection,
    attempt: wasStable ? 0 : attempt,
    oversized: error?.oversized === undefined ? oversized : oversized + 1
  })
  const passed = passOversized(next, error?.oversized, connection.detail, now)
  return [next, [{ _tag: "Unsubscribe" }, ...passed, { _tag: "ReadCursor" }]]
}

/**
 * Stores an oversized envelope without its payload, so that the next subscription begins after it
 * (docs/internals/runtime.md#oversized).
 */
const passOversized = (
  { cursor, run, stream }: Bound,
  message: OversizedMessage | undefined,
  reason: string,
  { at }: Moment
): ReadonlyArray<Action> => {
  if (message?.envelope?.sessionId !== run.sessionId || stream.oversized < OVERSIZED_TRIES) return []
  const frame = unreadEnvelope(message.envelope, message.bytes, reason, isoTime(at))
  return [log("Warn", `envelope ${cursor + 1} is not stored: ${reason}`), { _tag: "Store", frames: [frame], cursor }]
}

/**
 * Marks the gap first, because it must precede the end of the run (docs/internals/runtime.md#history-gone).
 */
const loseHistory = (state: Bound, detail: string, now: Moment): Decision => [
  checkForEnd(state, 0, now),
  [{ _tag: "Unsubscribe" }, write({ _tag: "Gap", detail, requestedAfter: state.cursor })]
]

const checkForEnd = (state: Bound, poll: number, now: Moment): Bound =>
  withStream(checkAt(state, now.at), {
    connection: { _tag: "Gone", until: now.at + pauseMs(state, poll, now), poll }
  })

/**
 * The cursor of the log after a subscription has ended: pauses before the next one, and checks the session meanwhile.
 */
export const pauseAfter = (state: Bound, cursor: number, now: Moment): Decision => {
  const { attempt, connection } = state.stream
  if (connection._tag !== "Ending") return stay({ ...state, cursor })
  const { detail } = connection
  if (connection.forbidden) return forbidden(state, detail)
  const next = { ...checkAt(state, now.at), cursor }
  const { streamMaxRetries } = state.options
  if (attempt >= streamMaxRetries) return stay(doubt(next, detail, attempt - streamMaxRetries, now))
  const until = now.at + pauseMs(state, attempt, now)
  return stay(withStream(next, { connection: { _tag: "Pausing", until, detail } }))
}

const checkAt = (state: Bound, at: number): Bound => ({ ...state, check: { ...state.check, checkAt: at } })

const doubt = (state: Bound, detail: string, poll: number, now: Moment): Bound =>
  withStream(state, {
    connection: { _tag: "Doubting", until: now.at + pauseMs(state, poll, now), poll, detail }
  })

const pauseMs = ({ drain, options }: Bound, attempt: number, { chance }: Moment): number => {
  const longestMs = drain === undefined || drain.goal === "late" ? options.streamBackoffMaxMs : DRAIN_PAUSE_MS
  return Math.ceil(backoffMs({ firstMs: options.streamBackoffBaseMs, longestMs }, attempt) * (1 + JITTER * chance))
}

/** A stream that breaks after the session has ended is opened again without an event. */
const reconnect = (state: Bound, detail: string, now: Moment): Decision =>
  state.drain === undefined ? announceReconnect(state, detail, now) : retry(state, now)

const announceReconnect = (state: Bound, detail: string, now: Moment): Decision => {
  const [next, actions] = retry(state, now)
  return [next, [write({ _tag: "Reconnecting", detail }), ...actions]]
}

const retry = (state: Bound, now: Moment): Decision =>
  subscribe(withStream(state, { attempt: state.stream.attempt + 1 }), now)

/** The next deadline of the stream. */
export const streamDeadline = ({ stream: { connection } }: Bound): number | undefined => {
  switch (connection._tag) {
    case "Open":
      return connection.idleAt
    case "Ending":
      return undefined
    default:
      return connection.until
  }
}

/** The deadline of the stream is over. */
export const streamDue = (state: Bound, now: Moment): Decision => {
  const { connection } = state.stream
  switch (connection._tag) {
    case "Open":
      return fallSilent(state, connection.silence, now)
    case "Ending":
      return stay(state)
    case "Pausing":
      return reconnect(state, connection.detail, now)
    case "Doubting":
      if (state.drain !== undefined) return reconnect(state, connection.detail, now)
      return [
        withStream(state, { connection: { ...connection, until: undefined } }),
        [{ _tag: "GetSession", query: "reconnect" }]
      ]
    case "Gone":
      return stay(checkForEnd(state, connection.poll + 1, now))
  }
}

/**
 * The stream was silent for the idle timeout. The observer queries the session; unless the answer confirms that no
 * message is missing, the stream counts as ended (docs/internals/runtime.md#silence).
 */
const fallSilent = (state: Bound, silence: "none" | "queried" | "confirmed", now: Moment): Decision => {
  const { drain, options, stream } = state
  if (silence === "queried" || drain !== undefined) {
    return ended(withStream(state, { silences: stream.silences + 1 }), undefined, now)
  }
  const idleAt = now.at + options.streamIdleTimeoutMs
  return stay(withStream(checkAt(state, now.at), { connection: { _tag: "Open", idleAt, silence: "queried" } }))
}

/** The runtime's answer about a silent stream. A counted envelope may be in flight, so the stream waits for it. */
export const applySilenceAnswer = (
  state: Bound,
  answer: Result.Result<SessionSnapshot, RuntimeError>,
  { at }: Moment
): Bound => {
  const { connection } = state.stream
  if (connection._tag !== "Open" || connection.silence !== "queried") return state
  if (answer._tag === "Failure" || !isCounted(answer.success)) {
    return withStream(state, { connection: { ...connection, idleAt: at } })
  }
  if (historyLength(answer.success) <= received(state)) {
    return withStream(state, { connection: { ...connection, silence: "confirmed" } })
  }
  const idleAt = Math.min(connection.idleAt, at + state.options.drainTimeoutMs)
  return withStream(state, { connection: { ...connection, idleAt } })
}

/** The session before another subscription; an ended one may still have its history. */
export const reconsider = (
  state: Bound,
  answer: Result.Result<SessionSnapshot, RuntimeError>,
  now: Moment
): Decision => {
  const { connection } = state.stream
  if (connection._tag !== "Doubting" || connection.until !== undefined) return stay(state)
  const known = answer._tag === "Success"
  const next = known && !isTerminalSession(answer.success.state) ? state : checkAt(state, now.at)
  return known
    ? reconnect(next, connection.detail, now)
    : stay(doubt(next, connection.detail, connection.poll + 1, now))
}

/** The session has ended, so a pause ends now. The stream broke before the end, so the attempt is announced. */
export const drainNow = (state: Bound, now: Moment): Decision => {
  const { connection } = state.stream
  const pausing = connection._tag === "Pausing" || connection._tag === "Doubting"
  return pausing ? announceReconnect(state, connection.detail, now) : stay(state)
}

/**
 * Reads the history again from its first envelope: the log drops the known ones, so only missed ones are added.
 */
export const readAgain = (state: Bound, now: Moment): Decision =>
  ended(withStream(state, { position: Position.readAgain(state.stream.position) }), undefined, now)
