import { callingSpan, traceParentOf } from "@runplane/server"
import * as Effect from "effect/Effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as Redacted from "effect/Redacted"
import type { ControlPlaneSettings } from "../LauncherSettings.ts"

/** Requests of the control plane as they are, for answers of which any status says something. */
export const makePlaneClient = Effect.fnUntraced(function* ({ apiKey, url }: ControlPlaneSettings) {
  const client = yield* HttpClient.HttpClient
  const signed =
    apiKey === undefined
      ? (request: HttpClientRequest.HttpClientRequest) => request
      : HttpClientRequest.bearerToken(Redacted.value(apiKey))
  const post = (path: string, body: object) =>
    signed(HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${url}${path}`), body))
  return {
    get: (path: string) => client.execute(signed(HttpClientRequest.get(`${url}${path}`))),
    post: (path: string, body: object) => client.execute(post(path, body)),
    /** A question whose refusal is an answer like any other: no span of its own, which a refusal would make red. */
    ask: Effect.fnUntraced(function* (path: string, body: object) {
      const asking = yield* callingSpan
      const trace = asking === undefined ? {} : { traceparent: traceParentOf(asking) }
      return yield* client
        .execute(HttpClientRequest.setHeaders(post(path, body), trace))
        .pipe(Effect.provideService(HttpClient.TracerDisabledWhen, () => true))
    })
  }
})
