import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { RunStreamQuery } from "../control-plane/RunRequests.ts"
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
  /** Receive the events after this seq first (0: all of them). Without it only what happens from now on. */
  readonly afterSeq?: number
  /** Milliseconds between heartbeats; the server's setting when absent. */
  readonly heartbeatMs?: number
  /** `first`: no snapshots after the one at the beginning, for callers that fold the events themselves. */
  readonly snapshots?: "all" | "first"
  /** Called after each break of the connection, before the reconnect: what a screen shows of it. */
  readonly onInterruption?: (failure: RunStreamFailure) => Effect.Effect<void>
}

/** What following a run calls. */
type StreamCalls = Pick<ControlPlaneCalls, "stream">
type ConnectFailure = Effect.Error<ReturnType<ControlPlaneCalls["stream"]["run"]>>
export type RunStreamFailure = ConnectFailure | RunStreamBroken | Schema.SchemaError

/**
 * Follows a run until it has ended and every event up to its end was received. A broken connection is made again with
 * `Last-Event-ID`, so that no event is lost and none comes twice. After a `reset` the events received so far are void,
 * because the service was restored from a backup: with `afterSeq` all events since then come again, without it those
 * that happen from then on. Fails when the server refuses: unknown run, wrong key, bad request.
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
            // The seq of the caller is sent as the parameter, the seq of the last event as the id, as browsers do.
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
        // The next connection begins again.
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
    Stream.mapEffect(framesOf(bytes, isRunStreamEventName), (frame) => decodeFrame(frame))
  )

const decodeFrame = Schema.decodeUnknownEffect(RunStreamEvent)
