import type { RuntimeClient, RuntimeError } from "@runplane/runtime"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import { observed } from "../../event-log/append/FrameBytes.ts"

/** A subscription as the log takes it: what came together, with the time at which it came. */
export const observedFrames = (
  runtime: RuntimeClient["Service"],
  subscription: { readonly sessionId: string; readonly afterSequence: number }
): Stream.Stream<ReadonlyArray<ObservedFrame>, RuntimeError> =>
  runtime.streamSession(subscription).pipe(
    Stream.mapArrayEffect((items) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const receivedAt = new Date(now).toISOString()
        return Arr.of(
          items.map((item) =>
            observed(
              item._tag === "Envelope"
                ? { kind: "stream-envelope", envelope: item.envelope, ambient: false }
                : { kind: "stream-inline-error", error: item.error },
              receivedAt
            )
          )
        )
      })
    )
  )
