import { Heartbeat } from "@runplane/api"
import { CanonicalEvent } from "@runplane/domain"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Sse from "effect/encoding/Sse"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { failureOf } from "../client/Client.ts"
import { sawAnswer, sawStream } from "../client/Connection.ts"
import { RequestId } from "../client/Http.ts"
import { CallFailed, isPassing, problemOf, UNREACHABLE } from "../client/Problem.ts"
import { reconnect } from "./reconnect.ts"

/** Which events of the whole log are followed. */
export interface LogFilter {
  readonly q: string
}

export interface LogListener {
  /** Events in the order of `seq`, each once. `isPast`: they were there before, and come in front of the others. */
  readonly take: (events: ReadonlyArray<CanonicalEvent>, isPast: boolean) => void
  readonly failed: (error: CallFailed) => void
  /** The service was restored from a backup: events that were taken may be no part of the log any more. */
  readonly reset: () => void
  /** The service is away, and is asked again; undefined as soon as it answers. */
  readonly away: (error: CallFailed | undefined) => void
}

/** Events before the beginning that are shown at once. */
const PAST = 500
/** Silence after which a connection counts as dead: three heartbeats. */
const HEARTBEAT_MS = 5_000
const MAX_SILENCE = Duration.millis(3 * HEARTBEAT_MS)

const readEvent = Schema.decodeUnknownEffect(Schema.fromJsonString(CanonicalEvent))
const readHeartbeat = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ seq: Heartbeat.fields.seq })))

/**
 * Follows the events of all runs (docs/reference/http.md#log-stream): first those that came just before, then each as
 * it comes. A broken stream goes on where it stopped, so none is left out and none comes twice. Answers how to stop.
 */
export const followLog = ({ q }: LogFilter, { away, failed, reset, take }: LogListener): (() => void) => {
  let isStopped = false
  let stopRead = () => {}
  const search = q === "" ? {} : { q }
  sawStream({ state: "reconnecting" })
  import("../client/WholeClient.ts").then(
    ({ ControlPlaneClient, runtime }) => {
      if (isStopped) return
      /** seq up to which everything that fits is here; undefined before the first connection. */
      let last: number | undefined
      const id = crypto.randomUUID()
      const program = Effect.gen(function* () {
        const { api } = yield* ControlPlaneClient
        const begin = Effect.fnUntraced(function* (seq: number) {
          last = seq
          const afterSeq = Math.max(0, seq - PAST)
          const { data } = yield* api.crossRunEvents.list({ query: { ...search, afterSeq, limit: PAST } })
          take(
            data.filter((event) => event.seq <= seq),
            true
          )
        })
        const connection = Stream.unwrap(
          Effect.suspend(() =>
            api.crossRunEvents.stream({
              query: { ...search, heartbeatMs: HEARTBEAT_MS, ...(last !== undefined && { afterSeq: last }) },
              headers: {}
            })
          )
        ).pipe(
          Stream.timeoutOrElse({ duration: MAX_SILENCE, orElse: () => Stream.fail("silence" as const) }),
          Stream.decodeText(),
          Stream.pipeThroughChannel(Sse.decode())
        )
        const follow = Stream.runForEach(connection, (frame) =>
          Effect.gen(function* () {
            sawAnswer(true)
            away(undefined)
            if (frame.event === "heartbeat") {
              const { seq } = yield* readHeartbeat(frame.data)
              if (last === undefined) yield* begin(seq)
              else last = Math.max(last, seq)
            } else if (frame.event === "reset") {
              reset()
            } else if (frame.event === "canonical_event") {
              const event = yield* readEvent(frame.data)
              last = Math.max(last ?? 0, event.seq)
              take([event], false)
            }
            sawStream({ state: "live", complete: last ?? 0 })
          })
        )
        // The service ends the stream when it stops.
        yield* follow.pipe(
          Effect.andThen(Effect.fail("ended" as const)),
          Effect.tapError((error) =>
            Effect.sync(() => {
              const problem = problemOf(error, id)
              sawStream({ state: "reconnecting" })
              if (problem.code === UNREACHABLE) sawAnswer(false)
              away(new CallFailed(problem))
            })
          ),
          Effect.retry({ schedule: reconnect, while: (error) => isPassing(problemOf(error, "")) })
        )
      })
      const fiber = runtime.runFork(Effect.provideService(program, RequestId, id))
      fiber.addObserver((exit) => {
        if (Exit.isSuccess(exit) || Exit.hasInterrupts(exit)) return
        sawStream(undefined)
        failed(failureOf(exit.cause, id))
      })
      stopRead = () => void Effect.runFork(Fiber.interrupt(fiber))
    },
    (error: unknown) => failed(new CallFailed(problemOf(error, "")))
  )
  return () => {
    isStopped = true
    sawStream(undefined)
    stopRead()
  }
}
