import * as Context from "effect/Context"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as Layer from "effect/Layer"
import { InboxApi } from "../launcher/InboxApi.ts"
import type { ClientOptions } from "./ControlPlaneClient.ts"

/** The part of `LauncherClient` for a page of the launch service, whose browser sends the cookie of the sign-in. */
export class InboxClient extends Context.Service<InboxClient, HttpApiClient.ForApi<typeof InboxApi>>()(
  "runplane/api/InboxClient"
) {
  static readonly layer = ({ baseUrl }: Pick<ClientOptions, "baseUrl">) =>
    Layer.effect(InboxClient, HttpApiClient.make(InboxApi, { baseUrl }))
}
