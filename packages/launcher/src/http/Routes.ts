import { LauncherApi } from "@runplane/api"
import {
  acceptsHtml,
  changeLogLevel,
  LauncherEdge,
  launcherDocument,
  launcherForm,
  layerLauncherDocs,
  RawRoutes,
  readinessAnswer,
  Shutdown
} from "@runplane/server"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import { dump } from "js-yaml"
import { controlPlaneForPeople, LauncherSettings } from "../LauncherSettings.ts"
import { LauncherMetrics } from "../operate/AgentMetrics.ts"
import { LauncherReadiness } from "../operate/LauncherReadiness.ts"
import { A2aRoutes, isA2aPath } from "./a2a/A2aRoutes.ts"
import { CatalogHttp } from "./CatalogHttp.ts"
import { DelegationHttp } from "./inbox/DelegationHttp.ts"
import { InboxHttp } from "./inbox/InboxHttp.ts"
import { InboxPage } from "./inbox/InboxPage.ts"
import { LinksHttp } from "./inbox/LinksHttp.ts"
import { layerPageSignIns } from "./inbox/PageSignIns.ts"
import { PasskeysHttp } from "./inbox/PasskeysHttp.ts"
import { SignInRoutes } from "./inbox/SignInRoutes.ts"
import { HealthHttp, LaunchHttp, ProcessesHttp } from "./LaunchHttp.ts"
import { PeopleHttp } from "./PeopleHttp.ts"
import { isSlackPath, SlackRoutes } from "./slack/SlackRoutes.ts"
import { isTurnNoticePath, TurnNoticeRoutes } from "./turns/TurnNoticeRoutes.ts"

/** The probes of a platform (docs/reference/admin.md#readiness, docs/reference/admin.md#metrics-endpoint). */
const ProbesHttp = HttpApiBuilder.group(
  LauncherApi,
  "probes",
  Effect.fnUntraced(function* (handlers) {
    const readiness = yield* LauncherReadiness
    const shutdown = yield* Shutdown
    const { registry } = yield* LauncherMetrics
    return handlers.handleAll({
      livez: () => Effect.succeed({ status: "ok" as const }),
      readyz: ({ query }) =>
        Effect.gen(function* () {
          return readinessAnswer(yield* readiness.check, { ...query, stopping: yield* shutdown.stopping })
        }),
      metrics: () => Effect.promise(() => registry.metrics())
    })
  })
)

/** Operation of the service (docs/reference/admin.md#log-level). */
const AdminHttp = HttpApiBuilder.group(
  LauncherApi,
  "admin",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handle("setLogLevel", ({ payload }) => changeLogLevel(payload.level))
  })
)

/**
 * The documents belong to development: there the contract and a page to try it are served, elsewhere they are unknown
 * routes.
 */
const DEVELOPMENT = "development"

const handlers = Layer.mergeAll(
  CatalogHttp,
  LaunchHttp,
  ProcessesHttp,
  PeopleHttp,
  Layer.provide(InboxHttp, layerPageSignIns),
  DelegationHttp,
  PasskeysHttp,
  Layer.provide(LinksHttp, SecureRandom.layerWebCrypto),
  HealthHttp,
  ProbesHttp,
  AdminHttp,
  LauncherEdge.handlers
)

/** The contract once more as YAML. */
const docsYaml = HttpRouter.add(
  "GET",
  "/docs-yaml",
  Effect.map(launcherDocument, (document) =>
    HttpServerResponse.text(dump(document, { noRefs: true }), { contentType: "text/yaml" })
  )
)

const api = Layer.unwrap(
  Effect.map(LauncherSettings, ({ environment }) =>
    environment === DEVELOPMENT
      ? Layer.mergeAll(HttpApiBuilder.layer(LauncherApi), layerLauncherDocs, docsYaml)
      : HttpApiBuilder.layer(LauncherApi)
  )
)

/**
 * A browser that opens the address of this service gets to the console, by way of the control plane
 * (docs/reference/admin.md#console). For other clients, and without a control plane, `/` is an unknown route.
 */
const toConsole = Layer.unwrap(
  Effect.map(LauncherSettings, (settings) => {
    const controlPlane = controlPlaneForPeople(settings)
    if (controlPlane === undefined) return Layer.empty
    const redirect = HttpServerResponse.empty({
      status: 302,
      headers: { location: `${controlPlane}/`, vary: "Accept", "cache-control": "no-store" }
    })
    return HttpRouter.add("GET", "/", (request) =>
      Effect.succeed(acceptsHtml(request) ? redirect : launcherForm.notFound("GET", "/"))
    )
  })
)

/** Other protocols have bodies that their handlers read. */
const layerRawBodies = Layer.succeed(RawRoutes, {
  known: (request) => request,
  has: (path) => isSlackPath(path) || isA2aPath(path) || isTurnNoticePath(path),
  refusal: (_, answer) => answer
})

/** Every route of the service with its middleware; needs the service's capabilities and an `HttpRouter`. */
export const LauncherRoutes = Layer.merge(api, A2aRoutes).pipe(
  Layer.provide(handlers),
  Layer.provide(LauncherEdge.layerMiddleware.pipe(Layer.provide(layerPageSignIns))),
  Layer.merge(toConsole),
  Layer.merge(SignInRoutes),
  Layer.merge(SlackRoutes),
  Layer.merge(TurnNoticeRoutes),
  // The edge is registered first, so it is around the page too.
  Layer.merge(Layer.provide(InboxPage, LauncherEdge.layer)),
  Layer.merge(LauncherEdge.layer),
  Layer.provide(layerRawBodies)
)
