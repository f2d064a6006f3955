import { ControlPlaneApi } from "@runplane/api"
import {
  ControlPlaneEdge,
  controlPlaneForm,
  edgeServices,
  type ListenOptions,
  layerControlPlaneDocs,
  layerHttpServer,
  readSetting,
  ServiceSettings,
  Shutdown
} from "@runplane/server"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { AuditHttp } from "../audit/AuditHttp.ts"
import { layerRefusedRequests } from "../audit/RefusedRequests.ts"
import { withoutServices } from "../edge/LeanContext.ts"
import { AdminHttp } from "../operate/admin/AdminHttp.ts"
import { BatchHttp } from "../operate/batch/BatchHttp.ts"
import { HealthHttp } from "../operate/health/HealthHttp.ts"
import { RuntimeHttp } from "../operate/health/RuntimeHttp.ts"
import { layerRequestCounts } from "../operate/limits/RequestCounts.ts"
import { PoliciesHttp } from "../operate/policies/PoliciesHttp.ts"
import { WebhooksHttp } from "../react/webhooks/WebhooksHttp.ts"
import { DashboardHttp } from "../read/dashboard/DashboardHttp.ts"
import { DecisionsHttp } from "../read/decisions/DecisionsHttp.ts"
import { CrossRunEventsHttp } from "../read/events/CrossRunEventsHttp.ts"
import { EventsHttp } from "../read/events/EventsHttp.ts"
import { InsightsHttp } from "../read/insights/InsightsHttp.ts"
import { QueryHttp } from "../read/query/QueryHttp.ts"
import { ReplayHttp } from "../read/replay/ReplayHttp.ts"
import { LedgerHttp, SealKeysHttp, SealsHttp } from "../read/seals/SealsHttp.ts"
import { StreamHttp } from "../read/stream/StreamHttp.ts"
import { StreamTickets } from "../read/stream/StreamTickets.ts"
import { ViewsHttp } from "../read/views/ViewsHttp.ts"
import { ManagementHttp } from "../runs/ManagementHttp.ts"
import { RunsHttp } from "../runs/RunsHttp.ts"
import { consoleRoutes } from "./console/ConsoleRoutes.ts"
import { RemovedHttp } from "./RemovedHttp.ts"

/** Answers under way at shutdown get this long; event streams end at once by themselves. */
export const GRACEFUL_SHUTDOWN_MS = 3_000

/** The handlers of all groups. */
const handlers = Layer.mergeAll(
  ControlPlaneEdge.handlers,
  RunsHttp,
  EventsHttp,
  CrossRunEventsHttp,
  StreamHttp,
  ReplayHttp,
  DashboardHttp,
  PoliciesHttp,
  WebhooksHttp,
  AuditHttp,
  ManagementHttp,
  BatchHttp,
  InsightsHttp,
  QueryHttp,
  DecisionsHttp,
  ViewsHttp,
  SealsHttp,
  LedgerHttp,
  SealKeysHttp,
  RemovedHttp,
  HealthHttp,
  RuntimeHttp,
  AdminHttp
)

/** `/docs` and `/docs-json`, in development only (docs/http.md#docs-pages). */
const routes = Layer.unwrap(
  Effect.gen(function* () {
    const environment = yield* readSetting(ServiceSettings.NODE_ENV)
    if (environment !== "development") return HttpApiBuilder.layer(ControlPlaneApi)
    return Layer.merge(HttpApiBuilder.layer(ControlPlaneApi), layerControlPlaneDocs)
  })
).pipe(
  Layer.provide(handlers),
  Layer.provide(ControlPlaneEdge.layerMiddleware.pipe(Layer.provide([StreamTickets.layerGuard, layerRequestCounts]))),
  Layer.merge(consoleRoutes),
  Layer.merge(ControlPlaneEdge.layer.pipe(Layer.provide(layerRefusedRequests)))
)

/**
 * Finalizers run backwards: what is built on the server ends before it, so readiness says no while it still serves, and
 * open event streams do not hold it up.
 */
const endStreamsFirst = Layer.effectDiscard(
  Effect.gen(function* () {
    const shutdown = yield* Shutdown
    const server = yield* HttpServer.HttpServer
    yield* Effect.logInfo(`listening on ${HttpServer.formatAddress(server.address)}`)
    yield* Effect.addFinalizer(() => shutdown.begin)
  })
)

type ForRequest = HttpServerRequest.HttpServerRequest | Scope.Scope
type App = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, ForRequest>

/** A server whose requests begin without the services: a request adds to its context, and a handler has its own. */
const leanServer = Layer.effect(
  HttpServer.HttpServer,
  Effect.map(HttpServer.HttpServer, ({ address, serve }) =>
    HttpServer.make({
      address,
      serve: (app, middleware) => {
        const served = middleware === undefined ? serve(app) : serve<unknown, ForRequest, App>(app, middleware)
        return Effect.flatMap(Effect.scope, (scope) =>
          withoutServices(Effect.provideService(served, Scope.Scope, scope))
        )
      }
    })
  )
)

/**
 * Serves `ControlPlaneApi` on a port. Offers the `HttpServer`, whose address tells the port that was
 * taken. Fails with `ListenFailed` when the port is unavailable.
 */
export const layer = (options: ListenOptions) =>
  endStreamsFirst.pipe(
    Layer.provideMerge(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
    Layer.provide(edgeServices),
    Layer.provideMerge(leanServer),
    Layer.provideMerge(layerHttpServer(options, { form: controlPlaneForm, graceMs: GRACEFUL_SHUTDOWN_MS }))
  )
