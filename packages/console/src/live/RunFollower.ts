import { type RunStreamEvent, RunsClient, reconnections } from "@runplane/api"
import type { RunState } from "@runplane/domain"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { runtime } from "../client/Client.ts"
import { lostStream, sawStream } from "../client/Connection.ts"
import { type CallFailed, isPassing, problemOf } from "../client/Problem.ts"
import { failureOf } from "../client/Settle.ts"
import { makeStore, type Store } from "../view/live/Store.ts"
import { RunLog } from "./RunLog.ts"

/** A followed run, as the page shows it; a new object for each change. */
export interface RunView {
  /** Received events, without a gap. */
  readonly count: number
  /** Events of the run, as far as the service has reported. */
  readonly head: number
  /** The first snapshot, which is shown until its events are received. */
  readonly snapshot: RunState | undefined
  readonly phase: "connecting" | "following" | "reconnecting" | "done" | "failed"
  readonly error: CallFailed | undefined
}

const EMPTY: RunView = { count: 0, head: 0, snapshot: undefined, phase: "connecting", error: undefined }

/** Events of a page after the stream has ended. */
const LATE_PAGE = 100

/** The page redraws at this interval while it receives a long run, because drawing takes longer than receiving. */
const DRAWN_EVERY_MS = 250

/** Late events are read a few times within about a minute. */
const FIRST_LATE_READ = Duration.seconds(1)
const LATE_READS = Schedule.exponential("1 second", 2).pipe(Schedule.upTo({ times: 5 }))

export interface RunFollower {
  readonly log: RunLog
  readonly view: Store<RunView>
  readonly stop: () => void
}

/**
 * Follows a run from its first event to its last: first a snapshot, then every event, folded here. The client
 * reconnects and resumes. `startOver` is called when the service was restored from a backup and the received events are
 * void. The view changes at most once a frame of the screen, and a few times a second while the page is behind.
 */
export const followRun = (runId: string, startOver: () => void): RunFollower => {
  const log = new RunLog(runId)
  const view = makeStore(EMPTY)
  let next = EMPTY
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const cancelDraw = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    frame = 0
    timer = undefined
  }
  const draw = () => {
    cancelDraw()
    showConnection(next)
    view.set(next)
  }
  const update = (change: Partial<RunView>) => {
    next = { ...next, ...change, count: log.count, head: Math.max(next.head, change.head ?? 0, log.count) }
    if (frame !== 0) return
    const drawn = view.get()
    if (isBehind(next) && isBehind(drawn) && next.phase === drawn.phase) timer ??= setTimeout(draw, DRAWN_EVERY_MS)
    else frame = requestAnimationFrame(draw)
  }

  const receive = (received: RunStreamEvent) => {
    const phase = "following"
    switch (received.event) {
      case "snapshot":
        return update({ phase, snapshot: received.data, head: received.data.timeline.latestIndex })
      case "canonical_event":
        log.append(received.data)
        return update({ phase, head: received.data.index })
      case "heartbeat":
        return update({ phase, head: received.data.index })
      case "reset":
        return startOver()
    }
  }

  const program = Effect.gen(function* () {
    const { api, streamRun } = yield* RunsClient
    yield* streamRun(runId, {
      afterSeq: 0,
      snapshots: "first",
      onInterruption: () => Effect.sync(() => update({ phase: "reconnecting" }))
    }).pipe(Stream.runForEach((received) => Effect.sync(() => receive(received))))
    // Signals may arrive after the end of the run, when its stream has ended.
    const readLate = Effect.gen(function* () {
      const { lastEventIndex } = yield* api.runs.get({ params: { id: runId }, query: {} })
      update({ head: lastEventIndex })
      while (log.count < lastEventIndex) {
        const query = { afterSeq: log.lastSeq, limit: LATE_PAGE }
        const answer = yield* api.events.list({ params: { id: runId }, query })
        const events = "data" in answer ? answer.data : answer
        const before = log.count
        for (const event of events) log.append(event)
        update({})
        // Without progress, the next read would return the same events.
        if (log.count === before) break
      }
      update({ phase: "done" })
    }).pipe(
      // A retry continues behind the events that were read.
      Effect.tapError((error) =>
        Effect.sync(() => {
          if (isPassing(problemOf(error, ""))) update({ phase: "reconnecting" })
        })
      ),
      Effect.retry({ schedule: reconnections(), while: (error) => isPassing(problemOf(error, "")) })
    )
    yield* readLate
    yield* Effect.repeat(Effect.delay(readLate, FIRST_LATE_READ), LATE_READS)
  })

  const fiber = runtime.runFork(program)
  fiber.addObserver((exit) => {
    if (Exit.isSuccess(exit) || Exit.hasInterrupts(exit)) return
    update({ phase: "failed", error: failureOf(exit.cause) })
  })
  return {
    log,
    view,
    stop: () => {
      cancelDraw()
      sawStream(undefined)
      Effect.runFork(Fiber.interrupt(fiber))
    }
  }
}

const isBehind = ({ count, head }: RunView): boolean => count < head

const showConnection = ({ count, head, phase }: RunView) => {
  switch (phase) {
    case "connecting":
      return sawStream({ state: "catching-up", behind: head - count })
    case "reconnecting":
      return lostStream()
    case "failed":
      return sawStream({ state: "failed" })
    case "done":
    case "following":
      if (count < head) return sawStream({ state: "catching-up", behind: head - count })
      return sawStream({ state: phase === "done" ? "complete" : "live", complete: count })
  }
}
