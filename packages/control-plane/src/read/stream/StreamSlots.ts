import { CurrentActor, controlPlaneError, TooManyRequests } from "@runplane/api"
import { ControlPlaneSettings, readSettings } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/** Seconds after which a client that found no room may try again. */
export const ROOM_RETRY_SECONDS = 10

/**
 * The event streams that are open in this process: so many for a key, and so many in all, because each holds memory and
 * reads from the database (docs/http.md#stream-limits).
 */
export class StreamSlots extends Context.Service<
  StreamSlots,
  {
    /** Counts a stream of the caller until the scope of its request closes; the refusal when there is no room. */
    readonly take: Effect.Effect<HttpServerResponse.HttpServerResponse | undefined, never, CurrentActor | Scope.Scope>
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

      const take = Effect.gen(function* () {
        const { actorId } = yield* CurrentActor
        if ((open.get(actorId) ?? 0) >= mostPerKey) return tooManyOfKey(mostPerKey)
        if (all >= most) return tooMany(most)
        yield* Effect.acquireRelease(
          Effect.sync(() => change(actorId, 1)),
          () => Effect.sync(() => change(actorId, -1))
        )
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

const tooManyOfKey = (most: number) =>
  later(
    new TooManyRequests({
      errorCode: "INTERNAL_ERROR",
      message: `a key may have ${most} event streams open at a time (STREAM_MAX_PER_KEY)`
    })
  )

const tooMany = (most: number) =>
  later(controlPlaneError("SERVICE_UNAVAILABLE", `this process serves ${most} event streams at a time (STREAM_MAX)`))
