import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import { HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import { sawTime } from "../view/live/ServerClock.ts"
import { session } from "./Session.ts"

/** The id that a call goes out with, so that what it fails with can be found in the log of the service. */
export const RequestId = Context.Reference<string>("runplane/console/RequestId", { defaultValue: () => "" })

/** The content type that a call requests; empty: the service chooses. */
export const Accept = Context.Reference<string>("runplane/console/Accept", { defaultValue: () => "" })

/** Longest wait for the begin of an answer. Without it a missing answer would stop a page that polls. */
const ANSWER_WITHIN = "60 seconds"

const inTime = <A, R>(answer: Effect.Effect<A, HttpClientError, R>, request: HttpClientRequest.HttpClientRequest) =>
  Effect.timeoutOrElse(answer, {
    duration: ANSWER_WITHIN,
    orElse: () => Effect.fail(new HttpClientError({ reason: new TransportError({ request }) }))
  })

/** Compares the clock of this computer with the control plane's in each answer. */
const timed = <E, R>(answer: Effect.Effect<HttpClientResponse, E, R>) =>
  Effect.suspend(() => {
    const begunAt = Date.now()
    return Effect.tap(answer, ({ headers }) =>
      Effect.sync(() => sawTime({ date: headers["date"] ?? "", begunAt, endedAt: Date.now() }))
    )
  })

/**
 * `fetch`, with the id of the call and the key of the session as the services take them. The page of the inbox has no
 * key: its browser sends the cookie of the sign-in.
 */
export const layerHttp = (keyHeader: "authorization" | "x-api-key" | undefined) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.mapRequestEffect(
        HttpClient.transform(client, (answer, request) =>
          // The launch service is another one than that of the console's page.
          keyHeader === "x-api-key" ? inTime(answer, request) : timed(inTime(answer, request))
        ),
        (request) =>
          Effect.map(Effect.all([RequestId, Accept]), ([id, accept]) => {
            const key = keyHeader === undefined ? undefined : session.get().key
            const formed = accept === "" ? request : HttpClientRequest.setHeader(request, "accept", accept)
            const named = id === "" ? formed : HttpClientRequest.setHeader(formed, "x-request-id", id)
            if (key === undefined || keyHeader === undefined) return named
            return HttpClientRequest.setHeader(named, keyHeader, keyHeader === "authorization" ? `Bearer ${key}` : key)
          })
      )
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))
