import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { RunStreamQuery } from "../control-plane/runs/RunRequests.ts"
import type { ControlPlaneCalls } from "./ControlPlaneCalls.ts"
import { framesOf, isRefused, RunStreamBroken, reconnections } from "./EventFrames.ts"
import {
  advance,
  endsRun,
  isComplete,
  isRepeated,
  isRunStreamEventName,
  RunStreamEvent,
  type StreamPosition,
  startsOver
} from "./RunStreamEvent.ts"

export interface FollowOptions {
  /** Receive the events after this seq first (0: all of them). Without it, the stream starts with the next event. */
  readonly afterSeq?: number
  /** Milliseconds between heartbeats; the server's setting when absent. */
  readonly heartbeatMs?: number
  /** `first`: no snapshots after the one at the beginning, for callers that fold the events themselves. */
  readonly snapshots?: "all" | "first"
  /** Runs after each broken connection, before the client reconnects. */
  readonly onInterruption?: (failure: RunStreamFailure) => Effect.Effect<void>
}

type StreamCalls = Pick<ControlPlaneCalls, "stream">
type ConnectFailure = Effect.Error<ReturnType<ControlPlaneCalls["stream"]["run"]>>
export type RunStreamFailure = ConnectFailure | RunStreamBroken | Schema.SchemaError

/**
 * Follows a run until every event up to its end was received. It reconnects with `Last-Event-ID`, so no event is lost
 * or repeated. After a `reset` the received events are void, because the service was restored from a backup: with
 * `afterSeq` all events behind it come again, without it the stream continues with the next event. Fails when the
 * server rejects the request: unknown run, wrong key, bad request.
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
            // The position of the caller is a parameter, and that of a received event is the header that browsers send.
            query: { ...start, ...(lastSeq === undefined || lastSeq !== afterSeq ? {} : { afterSeq }) },
            headers: lastSeq === undefined || lastSeq === afterSeq ? {} : { "last-event-id": String(lastSeq) }
          })
        )
      )
      return connection.pipe(
        Stream.mapEffect((event) =>
          Ref.modify(position, (before) => {
            const isNew = !isRepeated(before, event)
            const after = isNew ? advance(before, event, afterSeq) : before
            return [{ event, after, isNew }, after]
          })
        ),
        Stream.filter(({ isNew }) => isNew),
        // The next connection starts over.
        Stream.takeUntil(({ event }) => startsOver(event, afterSeq)),
        Stream.concat(Stream.fail(new RunStreamBroken({ why: "ended before the run" }))),
        Stream.tapError((failure) => (isRefused(failure) ? Effect.void : (onInterruption?.(failure) ?? Effect.void))),
        Stream.retry(reconnections<RunStreamFailure>()),
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
    Stream.mapEffect(framesOf(bytes, isRunStreamEventName, request.query.heartbeatMs), (frame) => decodeFrame(frame))
  )

const decodeFrame = Schema.decodeUnknownEffect(RunStreamEvent)
