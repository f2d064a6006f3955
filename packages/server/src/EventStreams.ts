import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import type { Shutdown } from "./Shutdown.ts"

const encoder = new TextEncoder()

/** Frames of an event stream as bytes. */
export const encodeFrames = (...frames: ReadonlyArray<string>): Uint8Array => encoder.encode(frames.join(""))

/**
 * The content of an answer that is made while it is sent. A failure is logged, where `what` names the answer, and cuts
 * the connection, so that the client detects the incomplete answer.
 */
export const cutOnFailure =
  (what: string) =>
  <A, E, R>(content: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    Stream.tapCause(content, (cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logWarning(`${what} was cut`, cause)
    )

/** A response that neither a proxy nor a cache holds back; `name` names it in the log when it fails. */
export const sseResponse = <E>(frames: Stream.Stream<Uint8Array, E>, name: string) =>
  HttpServerResponse.stream(cutOnFailure(name)(frames), {
    contentType: "text/event-stream",
    headers: {
      "cache-control": "private, no-cache, no-store, must-revalidate, max-age=0, no-transform",
      connection: "keep-alive",
      "x-accel-buffering": "no"
    }
  })

/** Clients of a stopped process reconnect at different times. Milliseconds. */
const RETRY_MS = { least: 500, most: 3_000 }

/**
 * When the service stops, the last bytes of a stream: the client's reconnect delay
 * (docs/reference/streams.md#stream-end).
 */
export const retryHint = (shutdown: Shutdown["Service"]): Stream.Stream<Uint8Array> => {
  const hint = Effect.map(Random.nextIntBetween(RETRY_MS.least, RETRY_MS.most), (ms) =>
    encodeFrames(`retry: ${ms}\n\n`)
  )
  return Stream.unwrap(Effect.map(shutdown.stopping, (stopping) => (stopping ? Stream.fromEffect(hint) : Stream.empty)))
}
