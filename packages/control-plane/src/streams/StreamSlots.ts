import { controlPlaneError, TooManyRequests } from "@runplane/api"
import { ControlPlaneSettings, makeFairTurns, RequestFacts, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Metrics } from "../platform/metrics/Metrics.ts"

/** Seconds after which a rejected client may retry. */
const SLOT_RETRY_SECONDS = 10

/** Streams that open in one turn of the event loop. */
const AT_ONCE = 16

/** Approximate bytes of a page, which a slow client holds in memory. */
export const STREAM_PAGE_BYTES = 1024 * 1024

/**
 * The open event streams of this process, limited for each caller and in total, because each uses memory and reads the
 * database (docs/reference/streams.md#stream-limits). A few open at a time, so that the process serves other requests
 * in between (docs/reference/streams.md#stream-pace).
 */
export class StreamSlots extends Context.Service<
  StreamSlots,
  {
    /**
     * Takes a slot for the caller until the scope of the request closes, and waits for its turn to open. Returns the
     * error response when all slots are in use.
     */
    readonly take: Effect.Effect<HttpServerResponse.HttpServerResponse | undefined, never, Scope.Scope>
  }
>()("runplane/control-plane/StreamSlots") {
  static readonly layer = Layer.effect(
    StreamSlots,
    Effect.gen(function* () {
      const { most, mostPerKey } = yield* readSettings({
        most: ControlPlaneSettings.STREAM_MAX,
        mostPerKey: ControlPlaneSettings.STREAM_MAX_PER_KEY
      })
      const { sseClosed, sseOpened } = yield* Metrics
      const open = new Map<string, number>()
      let all = 0

      const change = (name: string, by: 1 | -1) => {
        const count = (open.get(name) ?? 0) + by
        all += by
        if (count === 0) open.delete(name)
        else open.set(name, count)
        if (by === 1) sseOpened()
        else sseClosed()
      }

      const opening = makeFairTurns("opening streams", AT_ONCE)

      const take = Effect.gen(function* () {
        const { client } = yield* RequestFacts
        if ((open.get(client) ?? 0) >= mostPerKey) return tooManyOfCaller(mostPerKey)
        if (all >= most) return tooMany(most)
        yield* Effect.acquireRelease(
          Effect.sync(() => change(client, 1)),
          () => Effect.sync(() => change(client, -1))
        )
        yield* opening.goOn(Effect.yieldNow)
        return undefined
      })
      return StreamSlots.of({ take })
    })
  )
}

const later = (error: { readonly statusCode: number; readonly errorCode: string; readonly message: string }) =>
  HttpServerResponse.jsonUnsafe(
    { statusCode: error.statusCode, errorCode: error.errorCode, message: error.message },
    { status: error.statusCode, headers: { "retry-after": String(SLOT_RETRY_SECONDS) } }
  )

const tooManyOfCaller = (most: number) =>
  later(
    new TooManyRequests({
      errorCode: "INTERNAL_ERROR",
      message: `a caller may have ${most} event streams open at a time (STREAM_MAX_PER_KEY)`
    })
  )

const tooMany = (most: number) =>
  later(controlPlaneError("SERVICE_UNAVAILABLE", `this process serves ${most} event streams at a time (STREAM_MAX)`))
