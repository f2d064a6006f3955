import { lookup } from "node:dns/promises"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { guardedLookup, literalAddress, reasonOf, refusalOf, TargetRefused, whyRefused } from "@runplane/server"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import { WebhookSettings } from "./WebhookSettings.ts"

/**
 * Timeout for the lookup of the target's name at a registration; each delivery checks the address again. Milliseconds.
 */
export const TARGET_LOOKUP_TIMEOUT_MS = 2_000

export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type WebhookAnswer =
  | { readonly _tag: "Answered"; readonly status: number; readonly retryAfter: string | undefined }
  | { readonly _tag: "Unanswered"; readonly reason: string; readonly isTimeout?: true }
  /** The target may not be delivered to; no request was made. */
  | { readonly _tag: "Refused"; readonly reason: string }

/**
 * Sends webhooks and knows where they may not go (docs/reference/webhooks.md#private-targets). The connection uses the
 * very address that was checked, redirects are not followed, and the body of an answer is not read.
 */
export class WebhookTransport extends Context.Service<
  WebhookTransport,
  {
    /** One attempt. Never fails: whatever happens is an answer. */
    readonly send: (request: WebhookRequest) => Effect.Effect<WebhookAnswer>
    /** Why a URL cannot be subscribed; a name that does not resolve now is not held against it. */
    readonly refusal: (url: string) => Effect.Effect<string | undefined>
  }
>()("runplane/control-plane/WebhookTransport") {
  static readonly layer = Layer.unwrap(
    Effect.map(WebhookSettings, ({ allowPrivateTargets }) =>
      Layer.effect(WebhookTransport, make).pipe(
        Layer.provide(NodeHttpClient.layerNodeHttpOptions({ lookup: guardedLookup(allowPrivateTargets) }))
      )
    )
  )
}

const make = Effect.gen(function* () {
  const { allowPrivateTargets, timeoutMs } = yield* WebhookSettings
  // The end of the scope of a request closes its connection, whatever the receiver still sends.
  const client = HttpClient.withScope(yield* HttpClient.HttpClient)

  const send = Effect.fn("WebhookTransport.send")(function* ({ body, headers, url }: WebhookRequest) {
    const refusal = refusalOf(url, allowPrivateTargets)
    if (refusal !== undefined) return refused(refusal)
    const request = HttpClientRequest.post(url).pipe(
      HttpClientRequest.setHeaders(headers),
      HttpClientRequest.bodyText(body, "application/json")
    )
    return yield* client.execute(request).pipe(
      Effect.map(({ headers, status }) => answered(status, headers["retry-after"])),
      Effect.catch((error) => {
        const cause: unknown = "cause" in error.reason ? error.reason.cause : undefined
        return Effect.succeed(cause instanceof TargetRefused ? refused(cause) : unanswered(reasonOf(error)))
      }),
      // Node throws on a request that it cannot send; the cause is the content of the subscription.
      Effect.catchDefect((defect) =>
        Effect.succeed(unanswered(defect instanceof Error ? defect.message : String(defect)))
      ),
      Effect.timeoutOrElse({
        duration: Duration.millis(timeoutMs),
        orElse: () =>
          Effect.succeed<WebhookAnswer>({ ...unanswered(`timed out after ${timeoutMs} ms`), isTimeout: true })
      }),
      Effect.scoped,
      // The receiver is a stranger to our traces, and a span would hold the whole address.
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )
  })

  const refusal = Effect.fn("WebhookTransport.refusal")(function* (url: string) {
    const refusal = refusalOf(url, allowPrivateTargets)
    if (refusal !== undefined) return refusal.message
    const { hostname } = new URL(url)
    if (literalAddress(new URL(url)) !== undefined) return undefined
    const addresses = yield* Effect.tryPromise(() => lookup(hostname, { all: true })).pipe(
      Effect.timeout(TARGET_LOOKUP_TIMEOUT_MS),
      Effect.catch(() => Effect.succeed([]))
    )
    const why = addresses.flatMap(({ address }) => whyRefused(address, allowPrivateTargets) ?? [])[0]
    return why === undefined ? undefined : new TargetRefused({ target: hostname, why }).message
  })

  return WebhookTransport.of({ send, refusal })
})

const answered = (status: number, retryAfter: string | undefined): WebhookAnswer => ({
  _tag: "Answered",
  status,
  retryAfter
})
const unanswered = (reason: string) => ({ _tag: "Unanswered" as const, reason })
const refused = (refusal: TargetRefused): WebhookAnswer => ({ _tag: "Refused", reason: refusal.message })
