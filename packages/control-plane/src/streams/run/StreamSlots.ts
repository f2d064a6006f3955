import { controlPlaneError, TooManyRequests } from "@runplane/api"
import { ControlPlaneSettings, makeFairTurns, RequestFacts, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** Seconds after which a client that found no room may try again. */
export const ROOM_RETRY_SECONDS = 10

/** Streams that open between two turns of the event loop. */
const AT_ONCE = 16

/** About how many bytes of the database a stream is given at a time: what one slow reader holds. */
export const STREAM_PAGE_BYTES = 1024 * 1024

/**
 * The event streams that are open in this process: so many for a caller, and so many in all, because each holds memory
 * and reads from the database (docs/reference/http.md#stream-limits). They open a few at a time, so that the process
 * does its other work in between (docs/reference/http.md#stream-pace).
 */
export class StreamSlots extends Context.Service<
  StreamSlots,
  {
    /**
     * Counts a stream of the caller until the scope of its request closes, and waits until it may open; the refusal
     * when there is no room.
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
      const open = new Map<string, number>()
      let all = 0

      const change = (name: string, by: 1 | -1) => {
        const count = (open.get(name) ?? 0) + by
        all += by
        if (count === 0) open.delete(name)
        else open.set(name, count)
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
    { status: error.statusCode, headers: { "retry-after": String(ROOM_RETRY_SECONDS) } }
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
