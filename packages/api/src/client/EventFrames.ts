import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Sse from "effect/encoding/Sse"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { rootCauseOf } from "./RootCause.ts"

/**
 * The stream ended, fell silent or carried something unreadable although there is more to come. Leads to a new
 * connection.
 */
export class RunStreamBroken extends Data.TaggedError("RunStreamBroken")<{ readonly why: string }> {
  override get message() {
    return `event stream broken: ${this.why}`
  }
}

/** Silence after which a connection counts as dead: three heartbeats of the default setting. */
const MAX_SILENCE = Duration.seconds(45)

/** The frames of an event stream, of its names alone; whatever happens to the connection breaks it. */
export const framesOf = <E>(bytes: Stream.Stream<Uint8Array, E>, isName: (name: string) => boolean) =>
  bytes.pipe(
    Stream.timeoutOrElse({
      duration: MAX_SILENCE,
      orElse: () => Stream.fail(new RunStreamBroken({ why: "silence" }))
    }),
    Stream.decodeText(),
    Stream.pipeThroughChannel(Sse.decode()),
    Stream.mapError((error) => (error instanceof RunStreamBroken ? error : new RunStreamBroken({ why: whyOf(error) }))),
    Stream.filter(({ event }) => isName(event)),
    Stream.map(({ data, event }) => ({ event, data }))
  )

/** What broke a connection. A stopping service names the time of the next attempt as the last line of a stream. */
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

/** Whether the server refuses the request, so that a retry is useless. */
export const isRefused = ({ _tag }: { readonly _tag: string }): boolean => REFUSALS.has(_tag)

/** Waits between connections: doubling from 200 ms, at most 10 s, spread by 20 percent; what is refused stays so. */
export const reconnections = <E extends { readonly _tag: string }>() =>
  Schedule.min([Schedule.exponential("200 millis", 2), Schedule.spaced("10 seconds")]).pipe(
    Schedule.jittered,
    Schedule.setInputType<E>(),
    Schedule.while(({ input }) => !isRefused(input))
  )
