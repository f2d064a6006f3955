import { isTerminal, type RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type { EventRepository, EventSlice } from "../../event-log/EventRepository.ts"
import type { CurrentState, RunStateReader } from "../../event-log/projection/RunStateReader.ts"
import { RunGone } from "../../event-log/runs/RunGone.ts"
import { canonicalEventFrame, endsRun, type LiveBatch, snapshotFrame } from "../../event-log/subscribe/LiveBatch.ts"
import type { Subscription } from "../../event-log/subscribe/Subscription.ts"
import { describeSqlError } from "../../platform/postgres/SqlFailures.ts"
import { makeRereads, makeTakeUntil } from "./FeedWaits.ts"
import { snapshotTimeAfter } from "./SnapshotTimes.ts"
import type { StreamClient } from "./StreamClient.ts"

/** Events read from the database at a time, and fewer when they are large: what one slow reader holds in memory. */
export const BACKFILL_PAGE = 500

export interface FeedOptions {
  /** Events after this seq are sent first; undefined starts with what happens from now on. */
  readonly afterSeq: number | undefined
  readonly includeSnapshot: boolean
  /** Whether snapshots come after the first one, too. */
  readonly snapshots: "all" | "first"
  /** Least time between two of them, milliseconds. */
  readonly snapshotIntervalMs: number
  readonly heartbeatMs: number
}

/** What a feed reads of the database. Streams may be given the very same page: nobody changes it. */
export interface FeedReads {
  readonly events: Pick<EventRepository["Service"], "slice">
  readonly states: Pick<RunStateReader["Service"], "current" | "head">
}

export interface FeedSources extends FeedReads {
  /** Subscribed before `start` was read, so nothing falls between the two. */
  readonly subscription: Subscription
  readonly start: CurrentState
  /** Ends when the stream has to end. */
  readonly ended: Effect.Effect<void>
  readonly client: StreamClient
}

const encoder = new TextEncoder()

/** The frames of pages that streams read together, made once. */
const framesOfPages = new WeakMap<EventSlice, Uint8Array>()

const framesOf = (page: EventSlice): Uint8Array => {
  const known = framesOfPages.get(page)
  if (known !== undefined) return known
  const frames = encoder.encode(page.events.map(canonicalEventFrame).join(""))
  framesOfPages.set(page, frames)
  return frames
}

/**
 * What one client of `GET /runs/:id/stream` is sent next (docs/reference/http.md#stream): an effect that answers the
 * next bytes, or undefined at the end; it fails when the run is deleted before its end is sent. It is asked only when
 * the bytes before have been taken, so a slow client holds one page, and the rest waits in the database.
 *
 * The feed knows the `index` of the last event it sent. Indexes have no gaps, so a live batch that begins with the next
 * one is exactly in step and goes out unchanged; one that is already sent is skipped; and anything else, or word of a
 * gap, makes the feed read the database from where it stands. That is the whole hand-over: neither gap nor repeat needs
 * any timing.
 *
 * While the feed waits, what comes is handed on by whoever brings it, to a client that can take it at once
 * (docs/reference/http.md#one-write): nobody is woken then.
 *
 * Snapshots wait for their time, and then the last one alone is sent. The times are those of the clock, the same for
 * all clients of a run, or of many for all whose turn it is, which therefore share the text of the same few snapshots.
 *
 * A database that is away does not end a stream: it goes on with heartbeats of what the client has, and reads when it
 * can. Clients that were cut off would all come back at once, to a service that cannot serve them.
 */
export const makeRunFeed = Effect.fnUntraced(function* (runId: RunId, options: FeedOptions, sources: FeedSources) {
  const { client, ended, events, start, states, subscription } = sources
  const scope = yield* Effect.scope
  let wasTerminal = isTerminal(start.status)
  /** The run's last event at the beginning, or at the last reset. */
  let endSeq = start.lastSeq
  const openedAt = yield* Clock.currentTimeMillis

  let phase: "opening" | "reading" | "settling" | "live" | "ended" = "opening"
  /** The run has ended: the stream ends as well, once the last snapshot is sent. */
  let ending = false
  let seq = options.afterSeq ?? start.lastSeq
  /** Undefined while the place of `seq` in the run is not known. */
  let index = seq === start.lastSeq ? start.lastIndex : undefined
  /** The last event that a snapshot sent to this client includes. */
  let snapshotSeq = start.lastSeq
  /** What a snapshot is owed of: of the batch that was sent last, or of what is stored. */
  let owed: LiveBatch | "stored" | undefined
  let nextSnapshot = options.includeSnapshot
    ? snapshotTimeAfter(openedAt, options.snapshotIntervalMs, subscription)
    : openedAt
  /** A state that includes events which have not been sent yet; it goes out right after them. */
  let ahead: CurrentState | undefined
  let nextBeat = openedAt + options.heartbeatMs
  /** A heartbeat that is due waits until everything up to here has been sent. */
  let beat: { readonly lastSeq: number; readonly lastIndex: number } | undefined
  const rereads = makeRereads()
  let isOver = false
  yield* Effect.forkIn(
    Effect.andThen(
      ended,
      Effect.sync(() => {
        isOver = true
        subscription.wake()
      })
    ),
    scope
  )
  /** What the database has to say, unless the stream has to end before. */
  const unlessEnded = <A, E>(asked: Effect.Effect<A, E>) => Effect.raceFirst(asked, Effect.as(ended, undefined))

  const unreadable = Effect.fnUntraced(function* (error: SqlError) {
    yield* Effect.logDebug(`a stream waits for the database: ${describeSqlError(error)}`)
    yield* rereads.failed
    // A heartbeat does not wait for what cannot be read.
    if (beat !== undefined) beat = { lastSeq: seq, lastIndex: index ?? 0 }
    return undefined
  })

  /** The deletion of the run: the end for a client that has all of an ended run, else a failure. */
  const gone = Effect.suspend(() => {
    if (!wasTerminal || seq < endSeq) return Effect.fail(new RunGone({ runId }))
    phase = "ended"
    return Effect.undefined
  })

  const readPage = Effect.fnUntraced(function* () {
    const between = { afterSeq: seq, ...(ahead !== undefined && { upToSeq: ahead.lastSeq }) }
    const page = yield* events.slice(runId, between, BACKFILL_PAGE)
    rereads.succeeded()
    if (page.isLast) phase = "settling"
    const last = page.events.at(-1)
    if (last === undefined) return undefined
    seq = last.seq
    index = last.index
    return framesOf(page)
  })

  /** After reading: whether the run has ended meanwhile, and whether a snapshot is owed. */
  const settle = Effect.fnUntraced(function* (now: number) {
    if (ahead !== undefined && seq >= ahead.lastSeq) return sendStored(ahead, now)
    ahead = undefined
    const head = yield* states.head(runId)
    rereads.succeeded()
    if (head === undefined) return yield* gone
    if (head.lastSeq < seq && (yield* isRestored)) return yield* startOver(now)
    ending = isTerminal(head.status) && !wasTerminal
    if (head.lastSeq > seq) {
      // A running run will tell of the rest itself; an ended one will not.
      phase = ending ? "reading" : "live"
      return undefined
    }
    if (head.lastSeq === seq) index = head.lastIndex
    phase = "live"
    owed = options.snapshots === "all" && head.lastSeq > snapshotSeq ? "stored" : undefined
    return undefined
  })

  const deliver = (batch: LiveBatch): Uint8Array | string | undefined => {
    if (batch.lastSeq <= seq) return undefined
    const first = batch.events[0]
    if (index === undefined || first === undefined || first.index > index + 1) {
      read()
      return undefined
    }
    const sent = index
    seq = batch.lastSeq
    index = batch.lastIndex
    if (options.snapshots === "all") owed = batch
    if (endsRun(batch)) ending = true
    if (first.index === sent + 1) return batch.frames().bytes
    return batch.events
      .filter((event) => event.index > sent)
      .map(canonicalEventFrame)
      .join("")
  }

  /** While the feed waits: a batch that is in step goes to a client that takes it, and nobody is woken. */
  const tryDeliver = (batch: LiveBatch): boolean => {
    const first = batch.events[0]
    if (isOver || endsRun(batch) || index === undefined || first?.index !== index + 1) return false
    if (!client.take(batch.frames())) return false
    seq = batch.lastSeq
    index = batch.lastIndex
    if (options.snapshots === "first") return true
    const wasOwed = owed !== undefined
    owed = batch
    // The feed waits for the heartbeat alone, and has to wait for the time of the snapshot as well.
    if (!wasOwed) subscription.wake()
    return true
  }
  const takeUntil = makeTakeUntil(subscription, scope, tryDeliver)

  /** Goes on from the database; a snapshot of what was sent before is owed no more. */
  const read = () => {
    phase = "reading"
    owed = undefined
  }

  /** The snapshot of what is stored, which may be ahead of what was sent. */
  const snapshot = Effect.fnUntraced(function* (now: number) {
    const state = yield* states.current(runId)
    rereads.succeeded()
    if (state === undefined) return yield* gone
    if (state.lastSeq <= seq) return sendStored(state, now)
    ahead = state
    read()
    return undefined
  })

  const sendStored = (state: CurrentState, now: number) => {
    phase = "live"
    ahead = undefined
    // Whoever tells of the end now tells of what has been sent.
    if (isTerminal(state.status) && !wasTerminal) ending = true
    return sent(state.lastSeq, snapshotFrame(state.state), now)
  }

  const sent = <Frame>(lastSeq: number, frame: Frame, now: number): Frame => {
    owed = undefined
    snapshotSeq = lastSeq
    nextSnapshot = snapshotTimeAfter(now, options.snapshotIntervalMs, subscription)
    return frame
  }

  /** Looks where the log stands, so that a heartbeat also finds what nobody told about. */
  const readHead = states.head(runId).pipe(
    Effect.catch((error) =>
      Effect.as(Effect.logDebug(`a heartbeat could not read the database: ${describeSqlError(error)}`), {
        lastSeq: seq,
        lastIndex: index ?? 0
      })
    ),
    Effect.flatMap((head) => (head === undefined ? gone : Effect.succeed(head)))
  )

  /**
   * Whether the log of the run ends before what the client has: it was restored from a backup. A read that streams
   * share may have begun before the client's last event was committed; the read after it has not.
   */
  const isRestored = Effect.gen(function* () {
    yield* readHead
    const head = yield* readHead
    return head !== undefined && head.lastSeq < seq
  })

  /** Begins again at the end of a restored log (docs/reference/http.md#reset). */
  const reset = (state: CurrentState, now: number) => {
    const place = { seq: state.lastSeq, index: state.lastIndex }
    const data = JSON.stringify({ ts: new Date(now).toISOString(), ...place, afterSeq: seq })
    seq = place.seq
    index = place.index
    endSeq = place.seq
    wasTerminal = isTerminal(state.status)
    ending = false
    beat = undefined
    nextBeat = now + options.heartbeatMs
    read()
    ahead = undefined
    return sent(seq, `event: reset\nid: ${seq}\ndata: ${data}\n\n${snapshotFrame(state.state)}`, now)
  }
  const startOver = Effect.fnUntraced(function* (now: number) {
    const state = yield* states.current(runId)
    rereads.succeeded()
    return state === undefined ? yield* gone : reset(state, now)
  })

  const open = Effect.fnUntraced(function* (now: number) {
    phase = options.afterSeq === undefined ? "live" : "reading"
    if (seq > start.lastSeq && (yield* unlessEnded(isRestored)) === true) return reset(start, now)
    return options.includeSnapshot ? snapshotFrame(start.state) : undefined
  })

  const heartbeat = (now: number, head: { readonly lastSeq: number; readonly lastIndex: number }) => {
    const place =
      index !== undefined && seq >= head.lastSeq ? { seq, index } : { seq: head.lastSeq, index: head.lastIndex }
    beat = undefined
    nextBeat += options.heartbeatMs * Math.max(1, Math.ceil((now - nextBeat) / options.heartbeatMs))
    return `event: heartbeat\ndata: ${JSON.stringify({ ts: new Date(now).toISOString(), ...place })}\n\n`
  }

  const step = Effect.fnUntraced(function* () {
    const now = yield* Clock.currentTimeMillis
    if (phase === "opening") return yield* open(now)
    if (beat === undefined && now >= nextBeat) {
      beat = yield* unlessEnded(readHead)
      if (beat === undefined) phase = "ended"
      else if (beat.lastSeq < seq && (yield* unlessEnded(isRestored)) === true) {
        return yield* unlessEnded(Effect.catchTag(startOver(now), "SqlError", unreadable))
      } else if (beat.lastSeq > seq && phase === "live") read()
    }
    if (beat !== undefined && seq >= beat.lastSeq) return heartbeat(now, beat)
    const isSnapshotDue = phase === "live" && owed !== undefined && (ending || now >= nextSnapshot)
    if (isSnapshotDue && typeof owed === "object") return sent(owed.lastSeq, owed.snapshot(), now)
    if (phase === "reading" || phase === "settling" || isSnapshotDue) {
      if (now < rereads.at()) {
        const until = beat === undefined ? Math.min(rereads.at(), nextBeat) : rereads.at()
        return yield* unlessEnded(Effect.as(Effect.sleep(until - now), undefined))
      }
      const reading: Effect.Effect<Uint8Array | string | undefined, SqlError | RunGone> = isSnapshotDue
        ? snapshot(now)
        : phase === "reading"
          ? readPage()
          : settle(now)
      return yield* unlessEnded(Effect.catchTag(reading, "SqlError", unreadable))
    }
    if (ending) phase = "ended"
    if (phase === "ended") return undefined
    const wakeAt = owed === undefined ? nextBeat : Math.min(nextBeat, nextSnapshot)
    const item = yield* takeUntil(wakeAt, now)
    if (item === undefined) return undefined
    if (item._tag === "Batch") return deliver(item)
    read()
    return undefined
  })

  const next: Effect.Effect<Uint8Array | undefined, RunGone> = Effect.gen(function* () {
    while (phase !== "ended" && !isOver) {
      const frames = yield* step()
      if (frames !== undefined) return typeof frames === "string" ? encoder.encode(frames) : frames
    }
    return undefined
  })
  return next
}) satisfies (
  runId: RunId,
  options: FeedOptions,
  sources: FeedSources
) => Effect.Effect<Effect.Effect<Uint8Array | undefined, RunGone>, never, Scope.Scope>
