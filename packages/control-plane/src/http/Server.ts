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
import { AdminHttp } from "../admin/AdminHttp.ts"
import { AuditHttp } from "../admin/audit/AuditHttp.ts"
import { BatchHttp } from "../admin/batch/BatchHttp.ts"
import { HealthHttp } from "../admin/health/HealthHttp.ts"
import { RuntimeHttp } from "../admin/health/RuntimeHttp.ts"
import { layerRequestCounts } from "../admin/limits/RequestCounts.ts"
import { PoliciesHttp } from "../admin/policies/PoliciesHttp.ts"
import { layerRefusedRequests } from "../platform/audit/RefusedRequests.ts"
import { withoutServices } from "../platform/http/LeanContext.ts"
import { DashboardHttp } from "../queries/dashboard/DashboardHttp.ts"
import { DecisionsHttp } from "../queries/decisions/DecisionsHttp.ts"
import { EventsHttp } from "../queries/events/EventsHttp.ts"
import { InsightsHttp } from "../queries/insights/InsightsHttp.ts"
import { QueryHttp } from "../queries/query/QueryHttp.ts"
import { LedgerHttp, SealKeysHttp, SealsHttp } from "../queries/seals/SealsHttp.ts"
import { ViewsHttp } from "../queries/views/ViewsHttp.ts"
import { WebhooksHttp } from "../reactors/webhooks/WebhooksHttp.ts"
import { ManagementHttp } from "../runs/ManagementHttp.ts"
import { RunsHttp } from "../runs/RunsHttp.ts"
import { CrossRunEventsHttp } from "../streams/log/CrossRunEventsHttp.ts"
import { ReplayHttp } from "../streams/replay/ReplayHttp.ts"
import { StreamHttp } from "../streams/run/StreamHttp.ts"
import { StreamTickets } from "../streams/run/StreamTickets.ts"
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

/** `/docs` and `/docs-json`, in development only (docs/reference/http.md#docs-pages). */
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
