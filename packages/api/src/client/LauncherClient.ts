import * as Context from "effect/Context"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { LauncherApi } from "../launcher/LauncherApi.ts"
import type { ClientOptions } from "./ControlPlaneClient.ts"

/** The launch service as its clients call it: every endpoint of `LauncherApi`, typed. */
export class LauncherClient extends Context.Service<LauncherClient, HttpApiClient.ForApi<typeof LauncherApi>>()(
  "runplane/api/LauncherClient"
) {
  static readonly layer = ({ baseUrl, apiKey }: ClientOptions) =>
    Layer.effect(
      LauncherClient,
      HttpApiClient.make(LauncherApi, {
        baseUrl,
        transformClient: HttpClient.mapRequest((request) =>
          apiKey === undefined ? request : HttpClientRequest.setHeader(request, "x-api-key", Redacted.value(apiKey))
        )
      })
    )
}
