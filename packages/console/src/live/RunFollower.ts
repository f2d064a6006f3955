import { type RunStreamEvent, RunsClient } from "@runplane/api"
import type { RunState } from "@runplane/domain"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { failureOf, runtime } from "../client/Client.ts"
import { sawStream } from "../client/Connection.ts"
import { type CallFailed, isPassing, problemOf } from "../client/Problem.ts"
import { makeStore, type Store } from "../view/Store.ts"
import { RunLog } from "./RunLog.ts"
import { reconnect } from "./reconnect.ts"

/** What is known of a run that is followed; a new object for each change. */
export interface RunView {
  /** Events that are here, without a gap. */
  readonly count: number
  /** Events that the run is known to have. */
  readonly head: number
  /** The state that the service sent at the beginning: shown until as many events are here. */
  readonly snapshot: RunState | undefined
  readonly phase: "connecting" | "following" | "reconnecting" | "done" | "failed"
  readonly error: CallFailed | undefined
}

const NOTHING: RunView = { count: 0, head: 0, snapshot: undefined, phase: "connecting", error: undefined }

/** Events that are asked for at a time after the stream has ended. */
const REST_PAGE = 100

/** While a long run comes in, the page is drawn this often: to draw it takes longer than to take in the events. */
const DRAWN_EVERY_MS = 250

/** What came late is looked for a few times, ever more rarely: for about a minute. */
const FIRST_LOOK = Duration.seconds(1)
const AFTERWARDS = Schedule.exponential("1 second", 2).pipe(Schedule.upTo({ times: 5 }))

export interface RunFollower {
  readonly log: RunLog
  readonly view: Store<RunView>
  readonly stop: () => void
}

/**
 * Follows a run from its first event to its last: a snapshot to begin with, then every event, folded here. A broken
 * stream goes on where it stopped. `startOver` is called when the service was restored from a backup: all that is here
 * is void then. Tells at most once a frame of the screen, however many events come, and a few times
 * a second while more of them are known to come.
 */
export const followRun = (runId: string, startOver: () => void): RunFollower => {
  const log = new RunLog(runId)
  const view = makeStore(NOTHING)
  let next = NOTHING
  let frame = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const forget = () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    frame = 0
    timer = undefined
  }
  const draw = () => {
    forget()
    light(next)
    view.set(next)
  }
  const tell = (change: Partial<RunView>) => {
    next = { ...next, ...change, count: log.count, head: Math.max(next.head, change.head ?? 0, log.count) }
    if (frame !== 0) return
    const drawn = view.get()
    if (isBehind(next) && isBehind(drawn) && next.phase === drawn.phase) timer ??= setTimeout(draw, DRAWN_EVERY_MS)
    else frame = requestAnimationFrame(draw)
  }

  const take = (received: RunStreamEvent) => {
    const phase = "following"
    switch (received.event) {
      case "snapshot":
        return tell({ phase, snapshot: received.data, head: received.data.timeline.latestIndex })
      case "canonical_event":
        log.append(received.data)
        return tell({ phase, head: received.data.index })
      case "heartbeat":
        return tell({ phase, head: received.data.index })
      case "reset":
        return startOver()
    }
  }

  const program = Effect.gen(function* () {
    const { api, streamRun } = yield* RunsClient
    yield* streamRun(runId, {
      afterSeq: 0,
      snapshots: "first",
      onInterruption: () => Effect.sync(() => tell({ phase: "reconnecting" }))
    }).pipe(Stream.runForEach((received) => Effect.sync(() => take(received))))
    // Signals may still come in after the end of the run, when its stream is closed already.
    const readRest = Effect.gen(function* () {
      const { lastEventIndex } = yield* api.runs.get({ params: { id: runId }, query: {} })
      tell({ head: lastEventIndex })
      while (log.count < lastEventIndex) {
        const query = { afterSeq: log.lastSeq, limit: REST_PAGE }
        const answer = yield* api.events.list({ params: { id: runId }, query })
        const events = "data" in answer ? answer.data : answer
        const before = log.count
        for (const event of events) log.append(event)
        tell({})
        // Nothing, or what does not follow on what is here: to ask at once again would bring the same.
        if (log.count === before) break
      }
      tell({ phase: "done" })
    }).pipe(
      // It goes on where it stopped: the log keeps what was read before.
      Effect.tapError((error) =>
        Effect.sync(() => {
          if (isPassing(problemOf(error, ""))) tell({ phase: "reconnecting" })
        })
      ),
      Effect.retry({ schedule: reconnect, while: (error) => isPassing(problemOf(error, "")) })
    )
    yield* readRest
    yield* Effect.repeat(Effect.delay(readRest, FIRST_LOOK), AFTERWARDS)
  })

  const fiber = runtime.runFork(program)
  fiber.addObserver((exit) => {
    if (Exit.isSuccess(exit) || Exit.hasInterrupts(exit)) return
    tell({ phase: "failed", error: failureOf(exit.cause) })
  })
  return {
    log,
    view,
    stop: () => {
      forget()
      sawStream(undefined)
      Effect.runFork(Fiber.interrupt(fiber))
    }
  }
}

const isBehind = ({ count, head }: RunView): boolean => count < head

const light = ({ count, head, phase }: RunView) => {
  switch (phase) {
    case "connecting":
      return sawStream({ state: "catching-up", behind: head - count })
    case "reconnecting":
      return sawStream({ state: "reconnecting" })
    case "failed":
      return sawStream(undefined)
    case "done":
    case "following":
      if (count < head) return sawStream({ state: "catching-up", behind: head - count })
      return sawStream({ state: phase === "done" ? "complete" : "live", complete: count })
  }
}
