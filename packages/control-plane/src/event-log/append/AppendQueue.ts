import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { AppendFailed } from "../../platform/postgres/AppendFailed.ts"
import { EventLogSettings } from "../EventLogSettings.ts"
import type { AppendError, AppendRequest, Changed } from "./AppendRequest.ts"
import { BatchDelay, WORTH_ANOTHER } from "./BatchDelay.ts"
import { totalBytes } from "./FrameBytes.ts"
import type { PreparedFrame } from "./PreparedFrame.ts"
import type { QueuedAppend } from "./QueuedAppend.ts"

/** Most frames and most requests that share one transaction. */
export const GROUP_FRAMES = 2000
export const GROUP_REQUESTS = 64
/** Transactions in flight: some commit while the next is being folded. */
export const WRITERS = 3
/** An append of more bytes than this takes its time, so it shares no transaction with smaller ones. */
const LARGE_APPEND_BYTES = 131_072
/** Of the writers these may have large appends; the others are always there for the small ones. */
const LARGE_WRITERS = 2
/**
 * While small appends come, one writer has large ones, and it rests between two of them for as long as the last one
 * took, and so long at most: what agents say in other runs does not wait behind every one of them. Milliseconds.
 */
const LONGEST_LARGE_REST_MS = 500
/** Small appends come for as long after the last one. Milliseconds. */
const SMALL_COME_MS = 200
/** A group that has been on its way for so long is not waited for any more. Milliseconds. */
export const OVERTAKEN_AFTER_MS = 25
/** The pause before a locked run is looked at again, doubling up to the longest. Milliseconds. */
const FIRST_LOCK_PAUSE_MS = 10
const LONGEST_LOCK_PAUSE_MS = 250
/** How long failed appends count when no other append comes. Milliseconds. */
const FAILURES_COUNT_MS = 60_000

/** The append that has waited longest. */
export interface OldestAppend {
  readonly runId: string
  readonly waitedMs: number
  /** It waits for a row of its run that a transaction outside of this log has locked. */
  readonly locked: boolean
}

/** The database fails every append. */
export interface FailingAppends {
  /** How long ago the first of them failed. */
  readonly forMs: number
  /** Why the last one failed, in the words of the server. */
  readonly reason: string
}

/** Appends that share a transaction. */
export interface Group {
  readonly appends: ReadonlyArray<QueuedAppend>
  /** The writer is free again. */
  readonly release: Effect.Effect<void>
}

/** The appends of one run, in their order. */
interface Line {
  readonly runId: string
  readonly waiting: Array<QueuedAppend>
  /** Appends that a writer has. */
  taken: number
  /** How often the run was found locked, in a row. */
  lockedTimes: number
}

/**
 * The queue of appends, one line for each run: two writers never lock the same run, and a run's appends keep their
 * order when the first of them fails. Small appends that arrive one by one wait for the transaction under way and share
 * the next, so few events cost few transactions (`BatchDelay` is the other half). Many appends, a slow transaction and
 * an append with a waiting caller start another writer at once. Large appends form groups of their own and never occupy
 * all writers. A run that is locked from outside is skipped for a pause while the others continue; it holds neither a
 * writer nor a connection meanwhile (docs/reference/events.md#locked-runs).
 *
 * The lines need no bound of their own: an append waits together with its caller, and `FrameBudget` bounds the frames.
 */
export class AppendQueue extends Context.Service<
  AppendQueue,
  {
    /** Waits for the outcome. */
    readonly append: (
      request: AppendRequest,
      frames: ReadonlyArray<PreparedFrame>
    ) => Effect.Effect<Changed, AppendError>
    /** Waits for appends and takes the oldest of different runs, up to the bounds of a group. */
    readonly takeGroup: Effect.Effect<Group>
    readonly oldest: Effect.Effect<OldestAppend | undefined>
    /** Undefined as soon as the database has answered an append, and when none has come for a while. */
    readonly failing: Effect.Effect<FailingAppends | undefined>
    /** How many are not stored yet. */
    readonly waiting: Effect.Effect<number>
  }
>()("runplane/control-plane/AppendQueue") {
  static readonly layer = Layer.effect(
    AppendQueue,
    Effect.gen(function* () {
      const { groupBytes } = yield* EventLogSettings
      const pace = yield* BatchDelay
      const scope = yield* Effect.scope
      const clock = yield* Clock.Clock
      const lines = new Map<string, Line>()
      /** Lines by their first append. */
      const small = new Set<Line>()
      const large = new Set<Line>()
      let largeGroups = 0
      let lastSmallAt = Number.NEGATIVE_INFINITY
      /** Groups of small appends on their way that the others wait for. */
      const ahead = new Set<{ readonly since: number }>()
      const isAhead = yield* Latch.make(false)
      /** Not answered yet, the oldest first. */
      const open = new Map<QueuedAppend, Line>()
      const idle = new Set<() => void>()
      let places = 0
      /** The failures since an append was answered; times in Unix milliseconds. */
      let failures: { readonly since: number; readonly last: number; readonly reason: string } | undefined
      const note = (outcome: Exit.Exit<Changed, AppendError>) => {
        const failed = outageOf(outcome)
        const last = clock.currentTimeMillisUnsafe()
        failures = failed && { since: failures?.since ?? last, last, reason: failed.reason }
      }

      const lineOf = (runId: string): Line => {
        const known = lines.get(runId)
        if (known !== undefined) return known
        const line: Line = { runId, waiting: [], taken: 0, lockedTimes: 0 }
        lines.set(runId, line)
        return line
      }

      /** Lets a writer have the line, or forgets it when nothing is left in it. */
      const offer = (line: Line) => {
        if (line.taken > 0) return
        if (line.waiting.length === 0) return void lines.delete(line.runId)
        const ready = isLarge(line.waiting[0]) ? large : small
        ready.add(line)
        if (ready === large || isSmallDue()) wake()
      }
      const isSmallDue = () => small.size > 0 && (ahead.size === 0 || isWorthAnother())
      const isWorthAnother = () => {
        let waiting = 0
        for (const line of small) {
          for (const { frames, request } of line.waiting) {
            // Frames can wait; somebody asks for the rest.
            waiting += request._tag === "Observe" ? 1 + frames.length : WORTH_ANOTHER
          }
          if (waiting >= WORTH_ANOTHER) return true
        }
        return false
      }
      const wake = () => {
        for (const resume of idle) {
          idle.delete(resume)
          return resume()
        }
      }

      const append = Effect.fnUntraced(function* (request: AppendRequest, frames: ReadonlyArray<PreparedFrame>) {
        const askedAt = yield* Clock.currentTimeNanos
        const done = yield* Deferred.make<Changed, AppendError>()
        const line = lineOf(request.runId)
        const queued: QueuedAppend = {
          request,
          frames,
          bytes: request._tag === "Observe" ? totalBytes(request.frames) : 0,
          askedAt,
          place: places++,
          answer: (outcome) => {
            open.delete(queued)
            note(outcome)
            line.taken -= 1
            line.lockedTimes = 0
            offer(line)
            return Deferred.done(done, outcome)
          },
          postpone: Effect.suspend(() => postpone(line, queued))
        }
        open.set(queued, line)
        line.waiting.push(queued)
        offer(line)
        return yield* Deferred.await(done)
      })

      /** The last of a line's appends to come back puts the line on hold; they come back in their order. */
      const postpone = (line: Line, append: QueuedAppend) => {
        const returned = line.waiting.findIndex((other) => other.place > append.place)
        line.waiting.splice(returned === -1 ? line.waiting.length : returned, 0, append)
        if (line.taken > 1) {
          line.taken -= 1
          return Effect.void
        }
        const pause = Math.min(FIRST_LOCK_PAUSE_MS * 2 ** line.lockedTimes, LONGEST_LOCK_PAUSE_MS)
        line.lockedTimes += 1
        const again = Effect.sync(() => {
          line.taken = 0
          offer(line)
        })
        return Effect.asVoid(Effect.forkIn(Effect.delay(again, pause), scope))
      }

      const fill = (ready: Set<Line>): ReadonlyArray<QueuedAppend> => {
        const group: Array<QueuedAppend> = []
        let bytes = 0
        let frames = 0
        const isFull = () => group.length >= GROUP_REQUESTS || frames >= GROUP_FRAMES || bytes >= groupBytes
        for (const line of ready) {
          ready.delete(line)
          while (!isFull()) {
            const next = line.waiting[0]
            if (next === undefined || isLarge(next) !== (ready === large)) break
            line.waiting.shift()
            group.push(next)
            line.taken += 1
            bytes += next.bytes
            frames += next.frames.length
          }
          if (isFull()) break
        }
        return group
      }

      const largeWriters = () => (clock.currentTimeMillisUnsafe() - lastSmallAt > SMALL_COME_MS ? LARGE_WRITERS : 1)
      const takeLarge = (): Group => {
        const since = clock.currentTimeMillisUnsafe()
        largeGroups += 1
        const letPass = Effect.sync(() => {
          largeGroups -= 1
          if (large.size > 0) wake()
        })
        const release = Effect.suspend(() => {
          if (largeWriters() > 1) return letPass
          const rest = Math.min(clock.currentTimeMillisUnsafe() - since, LONGEST_LARGE_REST_MS)
          return Effect.asVoid(Effect.forkIn(Effect.delay(letPass, rest), scope))
        })
        return { appends: fill(large), release }
      }

      const takeSmall = (): Group => {
        const place = { since: clock.currentTimeMillisUnsafe() }
        lastSmallAt = place.since
        ahead.add(place)
        pace.begun()
        isAhead.openUnsafe()
        return { appends: fill(small), release: Effect.sync(() => letPass(place)) }
      }
      const letPass = (place: { readonly since: number }) => {
        ahead.delete(place)
        if (isSmallDue()) wake()
      }
      const overtake = Effect.gen(function* () {
        if (ahead.size === 0) isAhead.closeUnsafe()
        yield* isAhead.await
        yield* Effect.sleep(OVERTAKEN_AFTER_MS)
        const now = clock.currentTimeMillisUnsafe()
        for (const place of ahead) if (now - place.since >= OVERTAKEN_AFTER_MS) letPass(place)
      })
      yield* Effect.forkScoped(Effect.forever(overtake))

      const takeGroup: Effect.Effect<Group> = Effect.suspend(() => {
        if (large.size > 0 && largeGroups < largeWriters()) return Effect.succeed(takeLarge())
        if (isSmallDue()) return Effect.succeed(takeSmall())
        // What is asked for in the same moment as the append that wakes the writer comes into its group.
        return Effect.andThen(Effect.andThen(wakened, Effect.yieldNow), takeGroup)
      })
      const wakened = Effect.callback<void>((resume) => {
        const waiting = () => resume(Effect.void)
        idle.add(waiting)
        return Effect.sync(() => idle.delete(waiting))
      })

      const oldest = Effect.map(Clock.currentTimeNanos, (now): OldestAppend | undefined => {
        for (const [{ askedAt, request }, { lockedTimes }] of open) {
          return { runId: request.runId, waitedMs: Number((now - askedAt) / 1_000_000n), locked: lockedTimes > 0 }
        }
        return undefined
      })

      const failing = Effect.map(Clock.currentTimeMillis, (now): FailingAppends | undefined =>
        failures === undefined || now - failures.last > FAILURES_COUNT_MS
          ? undefined
          : { forMs: now - failures.since, reason: failures.reason }
      )

      return AppendQueue.of({ append, takeGroup, oldest, failing, waiting: Effect.sync(() => open.size) })
    })
  )
}

const isLarge = (append: QueuedAppend | undefined): boolean => append !== undefined && append.bytes > LARGE_APPEND_BYTES

/** The failure of an append that says nothing of the append itself. */
const outageOf = (outcome: Exit.Exit<Changed, AppendError>): AppendFailed | undefined => {
  const error = Exit.findError(outcome)
  return Result.isSuccess(error) && error.success._tag === "AppendFailed" && error.success.outage
    ? error.success
    : undefined
}
