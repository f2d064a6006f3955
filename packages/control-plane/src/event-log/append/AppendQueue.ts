import { backoffMs } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { AppendFailed } from "../../platform/postgres/AppendFailed.ts"
import { EventLogSettings } from "../EventLogSettings.ts"
import type { AppendError, AppendRequest, Changed } from "./AppendRequest.ts"
import { BatchDelay } from "./BatchDelay.ts"
import { totalBytes } from "./FrameBytes.ts"
import type { PreparedFrame } from "./PreparedFrame.ts"
import type { QueuedAppend } from "./QueuedAppend.ts"

/** Most frames and most requests that share one transaction. */
const GROUP_FRAMES = 2000
export const GROUP_REQUESTS = 64
/** Transactions in flight: some commit while the next is being folded. */
export const WRITERS = 3
/** An append of more bytes shares no transaction with smaller ones, and one writer at a time has such appends. */
const LARGE_APPEND_BYTES = 131_072
/** The pause before a locked run is tried again, doubling up to the longest. Milliseconds. */
const LOCK_PAUSES = { firstMs: 10, longestMs: 250 }
/** How long failed appends count when no other append follows. Milliseconds. */
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
  /** The server's text for the last failure. */
  readonly reason: string
}

/** Appends that share a transaction. */
export interface Group {
  readonly appends: ReadonlyArray<QueuedAppend>
  /** To be run when the group is committed or has failed. */
  readonly release: Effect.Effect<void>
}

/** The appends of one run, in their order. */
interface RunQueue {
  readonly runId: string
  readonly waiting: Array<QueuedAppend>
  /** Appends that a writer has. */
  inFlight: number
  /** How often the run was found locked, in a row. */
  lockedTimes: number
}

/**
 * The queue of appends, one for each run: two writers never lock the same run, and a run's appends keep their order
 * when the first of them fails. Appends that wait at the same time share the next transaction (`BatchDelay` gathers the
 * frames that come one by one). Large appends form groups of their own and occupy one writer at most. A run that is
 * locked from outside is skipped for a pause while the others continue; meanwhile it occupies neither a writer nor a
 * connection (docs/reference/events.md#locked-runs).
 *
 * The queue needs no bound: each append has a waiting caller, and `FrameBudget` bounds the frames.
 */
export class AppendQueue extends Context.Service<
  AppendQueue,
  {
    /** Waits for the outcome. */
    readonly append: (
      request: AppendRequest,
      frames: ReadonlyArray<PreparedFrame>
    ) => Effect.Effect<Changed, AppendError>
    /** Waits for appends that a writer may take. */
    readonly ready: Effect.Effect<void>
    /** Takes the oldest appends of different runs, up to the bounds of a group; undefined when there are none. */
    readonly takeGroup: Effect.Effect<Group | undefined>
    readonly oldest: Effect.Effect<OldestAppend | undefined>
    /** Undefined as soon as the database accepts an append, and a while after the last failure. */
    readonly failing: Effect.Effect<FailingAppends | undefined>
    /** How many are not stored yet. */
    readonly waiting: Effect.Effect<number>
  }
>()("runplane/control-plane/AppendQueue") {
  static readonly layer = Layer.effect(
    AppendQueue,
    Effect.gen(function* () {
      const { groupBytes } = yield* EventLogSettings
      const delay = yield* BatchDelay
      const scope = yield* Effect.scope
      const clock = yield* Clock.Clock
      const queues = new Map<string, RunQueue>()
      /** The queues that a writer may take, by their first append. */
      const small = new Set<RunQueue>()
      const large = new Set<RunQueue>()
      let isLargeInFlight = false
      /** Unanswered appends, the oldest first. */
      const open = new Map<QueuedAppend, RunQueue>()
      const idleWriters = new Set<() => void>()
      let appends = 0
      /** The failures since the last accepted append; times in Unix milliseconds. */
      let failures: { readonly since: number; readonly last: number; readonly reason: string } | undefined
      const note = (outcome: Exit.Exit<Changed, AppendError>) => {
        const failed = outageOf(outcome)
        const last = clock.currentTimeMillisUnsafe()
        failures = failed && { since: failures?.since ?? last, last, reason: failed.reason }
      }

      const queueOf = (runId: string): RunQueue => {
        const known = queues.get(runId)
        if (known !== undefined) return known
        const queue: RunQueue = { runId, waiting: [], inFlight: 0, lockedTimes: 0 }
        queues.set(runId, queue)
        return queue
      }

      /** Offers a queue to the writers, or removes it when it is empty. */
      const offer = (queue: RunQueue) => {
        if (queue.inFlight > 0) return
        if (queue.waiting.length === 0) return void queues.delete(queue.runId)
        const ready = isLarge(queue.waiting[0]) ? large : small
        ready.add(queue)
        wakeWriter()
      }
      const wakeWriter = () => {
        for (const resume of idleWriters) {
          idleWriters.delete(resume)
          return resume()
        }
      }

      const append = Effect.fnUntraced(function* (request: AppendRequest, frames: ReadonlyArray<PreparedFrame>) {
        const requestedAt = yield* Clock.currentTimeNanos
        const done = yield* Deferred.make<Changed, AppendError>()
        const queue = queueOf(request.runId)
        const queued: QueuedAppend = {
          request,
          frames,
          bytes: request._tag === "Observe" ? totalBytes(request.frames) : 0,
          requestedAt,
          position: appends++,
          complete: (outcome) => {
            if (!open.delete(queued)) return Effect.void
            note(outcome)
            queue.inFlight -= 1
            queue.lockedTimes = 0
            offer(queue)
            return Deferred.done(done, outcome)
          },
          postpone: Effect.suspend(() => postpone(queue, queued))
        }
        open.set(queued, queue)
        queue.waiting.push(queued)
        offer(queue)
        return yield* Deferred.await(done)
      })

      /** Returned appends keep their order. The last one starts the pause of its queue. */
      const postpone = (queue: RunQueue, append: QueuedAppend) => {
        const next = queue.waiting.findIndex((other) => other.position > append.position)
        queue.waiting.splice(next === -1 ? queue.waiting.length : next, 0, append)
        if (queue.inFlight > 1) {
          queue.inFlight -= 1
          return Effect.void
        }
        const pause = backoffMs(LOCK_PAUSES, queue.lockedTimes)
        queue.lockedTimes += 1
        const retry = Effect.sync(() => {
          queue.inFlight = 0
          offer(queue)
        })
        return Effect.asVoid(Effect.forkIn(Effect.delay(retry, pause), scope))
      }

      const fill = (ready: Set<RunQueue>): ReadonlyArray<QueuedAppend> => {
        const group: Array<QueuedAppend> = []
        let bytes = 0
        let frames = 0
        const isFull = () => group.length >= GROUP_REQUESTS || frames >= GROUP_FRAMES || bytes >= groupBytes
        for (const queue of ready) {
          ready.delete(queue)
          while (!isFull()) {
            const next = queue.waiting[0]
            if (next === undefined || isLarge(next) !== (ready === large)) break
            queue.waiting.shift()
            group.push(next)
            queue.inFlight += 1
            bytes += next.bytes
            frames += next.frames.length
          }
          if (isFull()) break
        }
        return group
      }

      const takeLarge = (): Group => {
        isLargeInFlight = true
        const release = Effect.sync(() => {
          isLargeInFlight = false
          if (large.size > 0) wakeWriter()
        })
        return { appends: fill(large), release }
      }
      const takeSmall = (): Group => {
        delay.begun()
        return { appends: fill(small), release: Effect.void }
      }
      const mayTakeLarge = () => large.size > 0 && !isLargeInFlight
      const takeGroup = Effect.sync((): Group | undefined => {
        if (mayTakeLarge()) return takeLarge()
        return small.size > 0 ? takeSmall() : undefined
      })
      const woken = Effect.callback<void>((resume) => {
        const wake = () => resume(Effect.void)
        idleWriters.add(wake)
        return Effect.sync(() => idleWriters.delete(wake))
      })

      const ready = Effect.suspend(() =>
        mayTakeLarge() || small.size > 0
          ? Effect.void
          : // Appends of the same moment as the one that wakes the writer come into its group.
            Effect.andThen(woken, Effect.yieldNow)
      )

      const oldest = Effect.map(Clock.currentTimeNanos, (now): OldestAppend | undefined => {
        for (const [{ request, requestedAt }, { lockedTimes }] of open) {
          return { runId: request.runId, waitedMs: Number((now - requestedAt) / 1_000_000n), locked: lockedTimes > 0 }
        }
        return undefined
      })

      const failing = Effect.map(Clock.currentTimeMillis, (now): FailingAppends | undefined =>
        failures === undefined || now - failures.last > FAILURES_COUNT_MS
          ? undefined
          : { forMs: now - failures.since, reason: failures.reason }
      )

      return AppendQueue.of({ append, ready, takeGroup, oldest, failing, waiting: Effect.sync(() => open.size) })
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
