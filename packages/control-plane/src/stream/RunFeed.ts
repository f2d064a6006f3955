import { isTerminal, type RunId } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import type { EventRepository, StoredEvent } from "../events/EventRepository.ts"
import {
  canonicalEventFrame,
  endsRun,
  type LiveBatch,
  type LiveGap,
  type LiveSubscription,
  snapshotFrame
} from "../events/LiveEvents.ts"
import type { StreamRepository, StreamSnapshot } from "./StreamRepository.ts"

/** Events read from the database at a time: what one slow reader holds in memory. */
export const BACKFILL_PAGE = 500

/** A failed read is tried again a few times over some seconds; then the stream is cut and the client resumes. */
const rereads = Schedule.exponential("100 millis", 2).pipe(Schedule.upTo({ times: 6 }))

export interface FeedOptions {
  /** Events after this seq are sent first; undefined starts with what happens from now on. */
  readonly afterSeq: number | undefined
  readonly includeSnapshot: boolean
  readonly heartbeatMs: number
}

export interface FeedSources {
  readonly events: EventRepository["Service"]
  readonly heads: StreamRepository["Service"]
  /** Subscribed before `start` was read, so nothing falls between the two. */
  readonly subscription: LiveSubscription
  readonly start: StreamSnapshot
}

const encoder = new TextEncoder()

/**
 * What one client of `GET /runs/:id/stream` is sent next (http-details section 8): an effect that answers the next bytes, or
 * undefined at the end. It is asked only when the bytes before have been taken, so a slow client holds one page, and the rest
 * waits in the database.
 *
 * The feed knows the `index` of the last event it sent. Indexes have no gaps, so a live batch that begins with the next one is
 * exactly in step and goes out unchanged; one that is already sent is skipped; and anything else, or word of a gap, makes the
 * feed read the database from where it stands. That is the whole hand-over: neither gap nor repeat needs any timing.
 */
export const makeRunFeed = Effect.fnUntraced(function* (runId: RunId, options: FeedOptions, sources: FeedSources) {
  const { events, heads, start, subscription } = sources
  const scope = yield* Effect.scope
  const wasTerminal = isTerminal(start.status)
  const openedAt = yield* Clock.currentTimeMillis

  let phase: "opening" | "reading" | "settling" | "live" | "ended" = "opening"
  let seq = options.afterSeq ?? start.lastSeq
  /** Undefined while the place of `seq` in the run is not known. */
  let index = seq === start.lastSeq ? start.lastIndex : undefined
  /** The last event that a snapshot sent to this client includes. */
  let snapshotSeq = start.lastSeq
  let nextBeat = openedAt + options.heartbeatMs
  /** A heartbeat that is due waits until everything up to here has been sent. */
  let beat: { readonly lastSeq: number; readonly lastIndex: number } | undefined
  let pending: Fiber.Fiber<LiveBatch | LiveGap> | undefined

  const read = <A>(query: Effect.Effect<A, SqlError>) =>
    query.pipe(
      Effect.tapError((error) => Effect.logWarning("a stream could not read the database", error)),
      Effect.retry(rereads)
    )

  const open = () => {
    phase = options.afterSeq === undefined ? "live" : "reading"
    return options.includeSnapshot ? snapshotFrame(start.state) : undefined
  }

  const readPage = Effect.fnUntraced(function* () {
    const page: ReadonlyArray<StoredEvent> = yield* read(
      events.page(runId, { afterSeq: seq, types: [] }, BACKFILL_PAGE)
    )
    if (page.length < BACKFILL_PAGE) phase = "settling"
    const last = page.at(-1)
    if (last === undefined) return undefined
    seq = last.seq
    index = last.index
    return page.map(canonicalEventFrame).join("")
  })

  /** After reading: the snapshot of exactly this point, and the end if the run has ended meanwhile. */
  const settle = Effect.fnUntraced(function* () {
    const now = yield* read(heads.snapshot(runId))
    if (now === undefined) {
      phase = "ended"
      return undefined
    }
    const ends = isTerminal(now.status) && !wasTerminal
    if (now.lastSeq > seq) {
      // A running run will tell of the rest itself; an ended one will not.
      phase = ends ? "reading" : "live"
      return undefined
    }
    if (now.lastSeq === seq) index = now.lastIndex
    phase = ends ? "ended" : "live"
    if (now.lastSeq <= snapshotSeq) return undefined
    snapshotSeq = now.lastSeq
    return snapshotFrame(now.state)
  })

  const deliver = (batch: LiveBatch): Uint8Array | string | undefined => {
    if (batch.lastSeq <= seq) return undefined
    const first = batch.events[0]
    if (index === undefined || first === undefined || first.index > index + 1) {
      phase = "reading"
      return undefined
    }
    const sent = index
    seq = batch.lastSeq
    index = batch.lastIndex
    snapshotSeq = batch.lastSeq
    if (endsRun(batch)) phase = "ended"
    if (first.index === sent + 1) return batch.frames()
    const rest = batch.events.filter((event) => event.index > sent)
    return rest.map(canonicalEventFrame).join("") + snapshotFrame(batch.snapshot)
  }

  /** Waits for live news. The waiting fiber outlives the wait, so an item that arrives with the clock is not lost. */
  const takeWithin = Effect.fnUntraced(function* (millis: number) {
    pending ??= yield* Effect.forkIn(subscription.take, scope)
    const item = yield* Effect.timeoutOption(Fiber.join(pending), millis)
    if (Option.isSome(item)) pending = undefined
    return Option.getOrUndefined(item)
  })

  /** Looks where the log stands, so that a heartbeat also finds what nobody told about. */
  const readHead = heads.head(runId).pipe(
    Effect.catch((error) =>
      Effect.as(Effect.logWarning("a heartbeat could not read the database", error), {
        lastSeq: seq,
        lastIndex: index ?? 0
      })
    )
  )

  const heartbeat = (now: number, head: { readonly lastSeq: number; readonly lastIndex: number }) => {
    const place =
      index !== undefined && seq >= head.lastSeq ? { seq, index } : { seq: head.lastSeq, index: head.lastIndex }
    beat = undefined
    nextBeat += options.heartbeatMs * Math.max(1, Math.ceil((now - nextBeat) / options.heartbeatMs))
    return `event: heartbeat\ndata: ${JSON.stringify({ ts: new Date(now).toISOString(), ...place })}\n\n`
  }

  const step = Effect.fnUntraced(function* () {
    const now = yield* Clock.currentTimeMillis
    if (phase === "opening") return open()
    if (beat === undefined && now >= nextBeat) {
      beat = yield* readHead
      if (beat === undefined) phase = "ended"
      else if (beat.lastSeq > seq && phase === "live") phase = "reading"
    }
    if (beat !== undefined && seq >= beat.lastSeq) return heartbeat(now, beat)
    if (phase === "reading") return yield* readPage()
    if (phase === "settling") return yield* settle()
    if (phase === "ended") return undefined
    const item = yield* takeWithin(Math.max(0, nextBeat - now))
    if (item === undefined) return undefined
    if (item._tag === "Batch") return deliver(item)
    phase = "reading"
    return undefined
  })

  const next: Effect.Effect<Uint8Array | undefined, SqlError> = Effect.gen(function* () {
    while (phase !== "ended") {
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
) => Effect.Effect<Effect.Effect<Uint8Array | undefined, SqlError>, never, Scope.Scope>
