import type { Shutdown } from "@runplane/server"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"

/** When clients of a stopped process reconnect: not at once, and not all together. Milliseconds. */
const RETRY_MS = { least: 500, most: 3_000 }

const encoder = new TextEncoder()

/** The last bytes of an event stream when the service stops: when to reconnect (docs/reference/http.md#stream-end). */
export const retryHint = (shutdown: Shutdown["Service"]): Stream.Stream<Uint8Array> => {
  const hint = Effect.map(Random.nextIntBetween(RETRY_MS.least, RETRY_MS.most), (ms) =>
    encoder.encode(`retry: ${ms}\n\n`)
  )
  return Stream.unwrap(Effect.map(shutdown.stopping, (stopping) => (stopping ? Stream.fromEffect(hint) : Stream.empty)))
}

/** Ends an event stream when the service stops, with a hint when to reconnect (docs/reference/http.md#stream-end). */
export const untilShutdown =
  (shutdown: Shutdown["Service"]) =>
  <E, R>(frames: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
    frames.pipe(Stream.interruptWhen(shutdown.begun), Stream.concat(retryHint(shutdown)))
