import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { type BadGateway, cancelCallbackAnswered, cancelCallbackFailed, mayUse, type Role } from "@runplane/api"
import { isJsonObject, objectAt, textAt } from "@runplane/domain"
import { ControlPlaneSettings, guardedLookup, readSettings, reasonOf, refusalOf, shownUrl } from "@runplane/server"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"

export interface CallbackAddress {
  readonly url: string
  readonly bearer: string | undefined
}

/** The callback that a run's metadata registers, if it names a URL. */
export const callbackOf = (metadata: Schema.JsonObject): CallbackAddress | undefined => {
  const callback = objectAt(metadata, "cancelCallback")
  const url = callback && textAt(callback, "url")
  return callback === undefined || url === undefined ? undefined : { url, bearer: textAt(callback, "bearer") }
}

export interface CancelCallbackOptions {
  readonly timeoutMs: number
  /** Whether loopback and private addresses may be called; link-local ones never may. */
  readonly allowPrivateTargets: boolean
}

/**
 * Calls back the initiator to cancel its session: the callback of docs/reference/runs.md#cancel. One POST, no retry, no
 * redirect followed; any 2xx is success and its body is ignored. Fails with the 502 texts of
 * docs/reference/errors.md#error-texts, in which only administrators see the status of the answer.
 */
export class CancelCallback extends Context.Service<
  CancelCallback,
  {
    readonly call: (
      address: CallbackAddress,
      body: { readonly runId: string; readonly reason: string | null },
      role: Role
    ) => Effect.Effect<void, BadGateway>
    /** Why a run may not be created with the callback that its metadata register; undefined when it may. */
    readonly refusal: (metadata: Schema.JsonObject) => string | undefined
  }
>()("runplane/control-plane/CancelCallback") {
  static readonly layerFrom = (options: CancelCallbackOptions) =>
    Layer.effect(CancelCallback, make(options)).pipe(
      Layer.provide(NodeHttpClient.layerNodeHttpOptions({ lookup: guardedLookup(options.allowPrivateTargets) }))
    )

  static readonly layer = Layer.unwrap(
    Effect.map(
      readSettings({
        timeoutMs: ControlPlaneSettings.CANCEL_CALLBACK_TIMEOUT_MS,
        allowPrivateTargets: ControlPlaneSettings.CANCEL_CALLBACK_ALLOW_PRIVATE_TARGETS
      }),
      CancelCallback.layerFrom
    )
  )
}

const make = Effect.fnUntraced(function* (options: CancelCallbackOptions) {
  const client = yield* HttpClient.HttpClient

  const call = Effect.fn("CancelCallback.call")(function* (
    { bearer, url }: CallbackAddress,
    body: { readonly runId: string; readonly reason: string | null },
    role: Role
  ) {
    const refusal = refusalOf(url, options.allowPrivateTargets)
    const shown = shownUrl(url)
    if (refusal !== undefined) return yield* cancelCallbackFailed(shown, refusal.message)
    const isAdmin = mayUse(role, "admin")
    // One text for every failure: a caller that can name an address must not learn about the services behind it.
    const failed = cancelCallbackFailed(shown, `no ${isAdmin ? "" : "2xx "}answer within ${options.timeoutMs} ms`)
    const unanswered = (why: string) =>
      Effect.andThen(Effect.logInfo(`cancel callback ${shown}: ${why}`), Effect.fail(failed))
    const request = HttpClientRequest.post(url).pipe(
      bearer === undefined ? (same) => same : HttpClientRequest.setHeader("authorization", `Bearer ${bearer}`),
      HttpClientRequest.bodyJsonUnsafe(body)
    )
    const response = yield* client.execute(request).pipe(
      Effect.catch((error) => unanswered(reasonOf(error))),
      // Node throws on a bearer that no header can carry; that is the caller's metadata, not our fault.
      Effect.catchDefect(() => Effect.fail(cancelCallbackFailed(shown, "the request cannot be made with this bearer"))),
      // The time-out ends the request also where the caller may not be interrupted.
      Effect.interruptible,
      Effect.timeoutOrElse({
        duration: Duration.millis(options.timeoutMs),
        orElse: () => unanswered("timed out")
      }),
      Effect.scoped,
      // A span would hold the whole address.
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )
    const { status } = response
    if (status < 200 || status > 299) return yield* isAdmin ? cancelCallbackAnswered(shown, status) : failed
  })
  const refusal = (metadata: Schema.JsonObject) => {
    const malformed = malformation(metadata["cancelCallback"])
    if (malformed !== undefined) return malformed
    const address = callbackOf(metadata)
    const refused = address && refusalOf(address.url, options.allowPrivateTargets)
    return refused && `${FIELD}.url is ${refused.why}`
  }
  return CancelCallback.of({ call, refusal })
})

const FIELD = "session.metadata.cancelCallback"

/** What is wrong with the form of a callback, found before a cancellation needs it. */
const malformation = (callback: Schema.Json | undefined): string | undefined => {
  if (callback === undefined || callback === null) return undefined
  if (!isJsonObject(callback)) return `${FIELD} must be an object`
  const wrong = ["url", "bearer"].find((key) => !["string", "undefined"].includes(typeof (callback[key] ?? undefined)))
  return wrong && `${FIELD}.${wrong} must be a string`
}
