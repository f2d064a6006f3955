import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { RunStreamQuery } from "../control-plane/RunRequests.ts"
import type { ControlPlaneCalls } from "./ControlPlaneCalls.ts"
import {
  advance,
  endsRun,
  isComplete,
  isRunStreamEventName,
  RunStreamEvent,
  type StreamPosition
} from "./RunStreamEvent.ts"

export interface FollowOptions {
  /** Receive the events after this seq first (0: all of them). Without it only what happens from now on. */
  readonly afterSeq?: number
  /** Milliseconds between heartbeats; the server's setting when absent. */
  readonly heartbeatMs?: number
  /** `first`: no snapshots after the one at the beginning, for callers that fold the events themselves. */
  readonly snapshots?: "all" | "first"
  /** Told of each break of the connection before it is made again: what a screen shows of it. */
  readonly onInterruption?: (failure: RunStreamFailure) => Effect.Effect<void>
}

/**
 * The stream ended, fell silent or carried something unreadable although the run goes on. Leads to a new connection.
 */
export class RunStreamBroken extends Data.TaggedError("RunStreamBroken")<{ readonly why: string }> {
  override get message() {
    return `run stream broken: ${this.why}`
  }
}

/** What following a run calls. */
type StreamCalls = Pick<ControlPlaneCalls, "stream">
type ConnectFailure = Effect.Error<ReturnType<ControlPlaneCalls["stream"]["run"]>>
export type RunStreamFailure = ConnectFailure | RunStreamBroken | Schema.SchemaError

/** Silence after which a connection counts as dead: three heartbeats of the default setting. */
const MAX_SILENCE = Duration.seconds(45)

/** Waits between connections: doubling from 200 ms, at most 10 s, spread by 20 percent. */
const reconnect = Schedule.min([Schedule.exponential("200 millis", 2), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered,
  Schedule.setInputType<RunStreamFailure>(),
  Schedule.while(({ input }) => isWorthRetrying(input))
)

/**
 * Follows a run until it has ended and every event up to its end was received. A broken connection is made again with
 * `Last-Event-ID`, so that no event is lost and none comes twice. Fails when the server refuses: unknown run, wrong
 * key, bad request.
 */
export const followRun = (
  api: StreamCalls,
  runId: string,
  { afterSeq, heartbeatMs, onInterruption, snapshots }: FollowOptions = {}
): Stream.Stream<RunStreamEvent, RunStreamFailure> =>
  Stream.unwrap(
    Effect.map(Ref.make<StreamPosition>({ lastSeq: afterSeq, endSeq: undefined }), (position) => {
      const start = {
        includeSnapshot: true,
        ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
        ...(snapshots === undefined ? {} : { snapshots })
      }
      const connection = Stream.unwrap(
        Effect.flatMap(Ref.get(position), ({ lastSeq }) =>
          connect(api, runId, {
            // What the caller asked for goes as the parameter, what was received as the id that browsers send, too.
            query: { ...start, ...(lastSeq === undefined || lastSeq !== afterSeq ? {} : { afterSeq }) },
            headers: lastSeq === undefined || lastSeq === afterSeq ? {} : { "last-event-id": String(lastSeq) }
          })
        )
      )
      return connection.pipe(
        Stream.mapEffect((event) =>
          Effect.map(
            Ref.updateAndGet(position, (before) => advance(before, event)),
            (after) => ({ event, after })
          )
        ),
        Stream.concat(Stream.fail(new RunStreamBroken({ why: "ended before the run" }))),
        Stream.tapError((failure) => onInterruption?.(failure) ?? Effect.void),
        Stream.retry(reconnect),
        Stream.takeUntil(({ after, event }) => isComplete(after) || (snapshots === "first" && endsRun(event))),
        Stream.map(({ event }) => event)
      )
    })
  )

interface StreamRequest {
  readonly query: RunStreamQuery
  readonly headers: { readonly "last-event-id"?: string }
}

const connect = (api: StreamCalls, runId: string, request: StreamRequest) =>
  Effect.map(api.stream.run({ params: { id: runId }, ...request }), (bytes) =>
    bytes.pipe(
      Stream.timeoutOrElse({
        duration: MAX_SILENCE,
        orElse: () => Stream.fail(new RunStreamBroken({ why: "silence" }))
      }),
      Stream.decodeText(),
      Stream.pipeThroughChannel(Sse.decode()),
      Stream.mapError((error) =>
        error instanceof RunStreamBroken ? error : new RunStreamBroken({ why: String(error) })
      ),
      Stream.filter((frame) => isRunStreamEventName(frame.event)),
      Stream.mapEffect((frame) => decodeFrame({ event: frame.event, data: frame.data }))
    )
  )

const decodeFrame = Schema.decodeUnknownEffect(RunStreamEvent)

const REFUSALS: ReadonlyArray<string> = ["NotFound", "Unauthenticated", "BadRequest", "ValidationFailed", "SchemaError"]

const isWorthRetrying = (failure: RunStreamFailure): boolean => !REFUSALS.includes(failure._tag)
