import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { rootCauseOf } from "./RootCause.ts"

/** The stream ended, was silent or had an unreadable frame before its end. The client reconnects. */
export class RunStreamBroken extends Data.TaggedError("RunStreamBroken")<{ readonly why: string }> {
  override get message() {
    return `event stream broken: ${this.why}`
  }
}

/** Heartbeats that a client waits for before it reconnects, and their interval in the default setting. */
const MISSED_HEARTBEATS = 3
const HEARTBEAT_MS = 15_000

/** Opens an event stream. Fails with `RunStreamBroken` when the answer does not begin within three heartbeats. */
export const opened = <A, E, R>(open: Effect.Effect<A, E, R>, heartbeatMs = HEARTBEAT_MS) =>
  Effect.timeoutOrElse(open, {
    duration: Duration.millis(MISSED_HEARTBEATS * heartbeatMs),
    orElse: () => Effect.fail(new RunStreamBroken({ why: "silence" }))
  })

/**
 * The frames of an event stream with known names. Fails with `RunStreamBroken` when the connection ends or fails, or is
 * silent for three heartbeats.
 */
export const framesOf = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  isName: (name: string) => boolean,
  heartbeatMs = HEARTBEAT_MS
) =>
  bytes.pipe(
    Stream.timeoutOrElse({
      duration: Duration.millis(MISSED_HEARTBEATS * heartbeatMs),
      orElse: () => Stream.fail(new RunStreamBroken({ why: "silence" }))
    }),
    Stream.decodeText(),
    Stream.pipeThroughChannel(Sse.decode()),
    Stream.mapError((error) => (error instanceof RunStreamBroken ? error : new RunStreamBroken({ why: whyOf(error) }))),
    Stream.filter(({ event }) => isName(event)),
    Stream.map(({ data, event, id }) => ({ event, data, id }))
  )

/** The cause of a broken connection. A stopping service ends its streams with a reconnect delay. */
const whyOf = (error: unknown): string => {
  if (Sse.Retry.is(error)) return "the service stops"
  return rootCauseOf(error).message || "the connection failed"
}

const REFUSALS: ReadonlySet<string> = new Set([
  "NotFound",
  "Unauthenticated",
  "Forbidden",
  "BadRequest",
  "ValidationFailed",
  "SchemaError"
])

/** Whether the server rejects the request, so that a retry would fail too. */
export const isRefused = ({ _tag }: { readonly _tag: string }): boolean => REFUSALS.has(_tag)

/** Waits between attempts: doubling from 200 ms, at most 10 s, with 20 percent jitter; ends at a rejected request. */
export const reconnections = <E extends { readonly _tag: string }>() =>
  Schedule.min([Schedule.exponential("200 millis", 2), Schedule.spaced("10 seconds")]).pipe(
    Schedule.jittered,
    Schedule.setInputType<E>(),
    Schedule.while(({ input }) => !isRefused(input))
  )
