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
  return {
    get: (path: string) => client.execute(signed(HttpClientRequest.get(`${url}${path}`))),
    post: (path: string, body: object) =>
      client.execute(signed(HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${url}${path}`), body)))
  }
})
