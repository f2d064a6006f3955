import { CanonicalEvent } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ControlPlaneCalls } from "./ControlPlaneCalls.ts"
import { framesOf, isRefused, opened, RunStreamBroken, reconnections } from "./EventFrames.ts"

export interface FollowLogOptions {
  /** Receive the events after this seq first (0: all of them). Without it, the stream starts with the next event. */
  readonly afterSeq?: number
  /** Only the matches of this search (docs/reference/search.md#search). */
  readonly q?: string
  /** Only events of these types. */
  readonly types?: ReadonlyArray<string>
  /** Milliseconds between heartbeats; the server's setting when absent. */
  readonly heartbeatMs?: number
  /** Runs after each broken connection, before the client reconnects. */
  readonly onInterruption?: (failure: LogStreamFailure) => Effect.Effect<void>
}

/**
 * A frame of `GET /events/stream`: an event, a heartbeat with the position of the stream, or a reset because the log
 * ends before the cursor (docs/reference/streams.md#log-stream, docs/reference/streams.md#reset).
 */
export const LogStreamEvent = Schema.Union([
  Schema.Struct({ event: Schema.Literal("canonical_event"), data: Schema.fromJsonString(CanonicalEvent) }),
  Schema.Struct({
    event: Schema.Literal("heartbeat"),
    data: Schema.fromJsonString(Schema.Struct({ ts: Schema.String, seq: Schema.Int }))
  }),
  Schema.Struct({
    event: Schema.Literal("reset"),
    data: Schema.fromJsonString(Schema.Struct({ ts: Schema.String, seq: Schema.Int, afterSeq: Schema.Int }))
  })
])
export type LogStreamEvent = typeof LogStreamEvent.Type

export type LogStreamFailure =
  | Effect.Error<ReturnType<ControlPlaneCalls["crossRunEvents"]["stream"]>>
  | RunStreamBroken
  | Schema.SchemaError

/**
 * Follows the whole log until the stream is interrupted. It reconnects with the seq of the last event or heartbeat as
 * `Last-Event-ID`, so no event is lost or repeated. After a `reset` the events behind its seq are void, because the
 * service was restored from a backup, and the stream continues from there. Fails when the server rejects the request:
 * wrong key, bad search.
 */
export const followLog = (
  api: ControlPlaneCalls,
  { afterSeq, heartbeatMs, onInterruption, q, types }: FollowLogOptions = {}
): Stream.Stream<LogStreamEvent, LogStreamFailure> =>
  Stream.unwrap(
    Effect.map(Ref.make<number | undefined>(undefined), (position) => {
      const query = {
        ...(q === undefined ? {} : { q }),
        ...(types === undefined || types.length === 0 ? {} : { types }),
        ...(heartbeatMs === undefined ? {} : { heartbeatMs })
      }
      const connection = Stream.unwrap(
        Effect.flatMap(Ref.get(position), (seq) =>
          Effect.map(
            opened(
              api.crossRunEvents.stream({
                query: { ...query, ...(seq !== undefined || afterSeq === undefined ? {} : { afterSeq }) },
                headers: seq === undefined ? {} : { "last-event-id": String(seq) }
              }),
              heartbeatMs
            ),
            (bytes) => Stream.mapEffect(framesOf(bytes, isName, heartbeatMs), (frame) => decodeFrame(frame))
          )
        )
      )
      return connection.pipe(
        // A proxy may repeat frames.
        Stream.filterEffect(({ data, event }) =>
          Ref.modify(position, (seq) => [
            event !== "canonical_event" || seq === undefined || data.seq > seq,
            event === "reset" ? data.seq : Math.max(seq ?? 0, data.seq)
          ])
        ),
        Stream.concat(Stream.fail(new RunStreamBroken({ why: "it ended" }))),
        Stream.tapError((failure) => (isRefused(failure) ? Effect.void : (onInterruption?.(failure) ?? Effect.void))),
        Stream.retry(reconnections<LogStreamFailure>())
      )
    })
  )

const isName = (name: string) => name === "canonical_event" || name === "heartbeat" || name === "reset"

const decodeFrame = Schema.decodeUnknownEffect(LogStreamEvent)
