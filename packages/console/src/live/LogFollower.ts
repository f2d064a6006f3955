import { type LogStreamEvent, reconnections } from "@runplane/api"
import type { CanonicalEvent } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { lostStream, sawAnswer, sawStream } from "../client/Connection.ts"
import { RequestId } from "../client/Http.ts"
import { CallFailed, isPassing, problemOf, UNREACHABLE } from "../client/Problem.ts"
import { failureOf } from "../client/Settle.ts"
import { newId } from "../view/format/NewId.ts"
import { pastEvents } from "./PastEvents.ts"

/** Which events of the whole log are followed. */
export interface LogFilter {
  readonly q: string
}

export interface LogListener {
  /** Receives events in the order of `seq`, each once. Past events come before the others. */
  readonly receive: (events: ReadonlyArray<CanonicalEvent>, isPast: boolean) => void
  readonly failed: (error: CallFailed) => void
  /** The service was restored from a backup: received events may be void. */
  readonly reset: () => void
  /** The service is away, and the client reconnects; undefined as soon as it is connected. */
  readonly away: (error: CallFailed | undefined) => void
}

const HEARTBEAT_MS = 5_000
/** A read of past events without an answer is repeated after this time: the page shows nothing before. */
const PAST_WITHIN = "10 seconds"

/**
 * Follows the events of all runs (docs/reference/streams.md#log-stream): first the last past events, then each new
 * event. The client reconnects and resumes, so no event is lost or repeated. Returns how to stop.
 */
export const followLog = ({ q }: LogFilter, { away, failed, receive, reset }: LogListener): (() => void) => {
  const search = q === "" ? {} : { q }
  const id = newId()
  sawStream({ state: "reconnecting", since: 0 })
  const interrupted = (error: unknown) =>
    Effect.sync(() => {
      const problem = problemOf(error, id)
      lostStream()
      if (problem.code === UNREACHABLE) sawAnswer(false)
      away(new CallFailed(problem))
    })
  /** Repeats a read of this stream until the service answers it. */
  const persist = <A, E extends { readonly _tag: string }, R>(read: Effect.Effect<A, E, R>) =>
    read.pipe(
      Effect.tapError((error) => (isPassing(problemOf(error, "")) ? interrupted(error) : Effect.void)),
      Effect.retry({ schedule: reconnections<E>(), while: (error) => isPassing(problemOf(error, "")) })
    )
  const program = Effect.gen(function* () {
    const { ControlPlaneClient, runtime } = yield* persist(Effect.tryPromise(() => import("../client/WholeClient.ts")))
    const { api, streamLog } = yield* Effect.provide(ControlPlaneClient, yield* runtime.contextEffect)
    const readPast = (seq: number) =>
      Effect.map(
        pastEvents(
          (afterSeq, limit) =>
            persist(Effect.timeout(api.crossRunEvents.list({ query: { ...search, afterSeq, limit } }), PAST_WITHIN)),
          seq
        ),
        (events) => receive(events, true)
      )
    let hasPast = false
    const handle = Effect.fnUntraced(function* (frame: LogStreamEvent) {
      sawAnswer(true)
      away(undefined)
      if (frame.event === "reset") reset()
      else if (frame.event === "canonical_event") receive([frame.data], false)
      else if (!hasPast) {
        // The first frame of the stream is a heartbeat.
        yield* readPast(frame.data.seq)
        away(undefined)
        hasPast = true
      }
      sawStream({ state: "live", complete: frame.data.seq })
    })
    const stream = streamLog({ ...search, heartbeatMs: HEARTBEAT_MS, onInterruption: interrupted })
    yield* Stream.runForEach(stream, handle)
  })
  const fiber = Effect.runFork(Effect.provideService(program, RequestId, id))
  fiber.addObserver((exit) => {
    if (Exit.isSuccess(exit) || Exit.hasInterrupts(exit)) return
    sawStream({ state: "failed" })
    failed(failureOf(exit.cause, id))
  })
  return () => {
    sawStream(undefined)
    Effect.runFork(Fiber.interrupt(fiber))
  }
}
