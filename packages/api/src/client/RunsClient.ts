import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import { RunsApi } from "../control-plane/RunsApi.ts"
import type { ClientOptions } from "./ControlPlaneClient.ts"
import { type FollowOptions, followRun, type RunStreamFailure } from "./FollowRun.ts"
import type { RunStreamEvent } from "./RunStreamEvent.ts"

/** The calls of `RunsApi`, typed: the same as those of `ControlPlaneCalls`, as far as they are there. */
export type RunsCalls = HttpApiClient.ForApi<typeof RunsApi>

/** The part of `ControlPlaneClient` that follows runs: the calls of `RunsApi`. */
export class RunsClient extends Context.Service<
  RunsClient,
  {
    readonly api: RunsCalls
    /** Follows a run to its end: see `followRun`. */
    readonly streamRun: (runId: string, options?: FollowOptions) => Stream.Stream<RunStreamEvent, RunStreamFailure>
  }
>()("runplane/api/RunsClient") {
  static readonly layer = ({ baseUrl, apiKey }: ClientOptions) =>
    Layer.effect(
      RunsClient,
      Effect.gen(function* () {
        const api = yield* HttpApiClient.make(RunsApi, {
          baseUrl,
          transformClient: HttpClient.mapRequest((request) =>
            apiKey === undefined ? request : HttpClientRequest.bearerToken(request, apiKey)
          )
        })
        return RunsClient.of({ api, streamRun: (runId, options) => followRun(api, runId, options) })
      })
    )
}
