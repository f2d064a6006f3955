import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import { ControlPlaneApi } from "../control-plane/ControlPlaneApi.ts"
import type { ControlPlaneCalls } from "./ControlPlaneCalls.ts"
import { type FollowLogOptions, followLog, type LogStreamEvent, type LogStreamFailure } from "./FollowLog.ts"
import { type FollowOptions, followRun, type RunStreamFailure } from "./FollowRun.ts"
import type { RunStreamEvent } from "./RunStreamEvent.ts"

export interface ClientOptions {
  /** The address of the service, without a path. */
  readonly baseUrl: string | URL
  readonly apiKey?: Redacted.Redacted
}

/**
 * The control plane as its clients call it: every endpoint of `ControlPlaneApi` under `api`, typed, with the errors as
 * instances of their classes, and the live streams of a run and of the log as `Stream`s that reconnect by themselves.
 */
export class ControlPlaneClient extends Context.Service<
  ControlPlaneClient,
  {
    readonly api: ControlPlaneCalls
    /** Follows a run to its end: see `followRun`. */
    readonly streamRun: (runId: string, options?: FollowOptions) => Stream.Stream<RunStreamEvent, RunStreamFailure>
    /** Follows the events of all runs: see `followLog`. */
    readonly streamLog: (options?: FollowLogOptions) => Stream.Stream<LogStreamEvent, LogStreamFailure>
  }
>()("runplane/api/ControlPlaneClient") {
  static readonly layer = ({ baseUrl, apiKey }: ClientOptions) =>
    Layer.effect(
      ControlPlaneClient,
      Effect.gen(function* () {
        const api = yield* HttpApiClient.make(ControlPlaneApi, {
          baseUrl,
          transformClient: HttpClient.mapRequest((request) =>
            apiKey === undefined ? request : HttpClientRequest.bearerToken(request, apiKey)
          )
        })
        return ControlPlaneClient.of({
          api,
          streamRun: (runId, options) => followRun(api, runId, options),
          streamLog: (options) => followLog(api, options)
        })
      })
    )
}
