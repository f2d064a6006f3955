import { ControlPlaneApi, endpointRemoved } from "@runplane/api"
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
import { HttpApiBuilder, type HttpApiGroup } from "effect/http-api"
import * as Layer from "effect/Layer"
import { AdminHttp } from "../admin/AdminHttp.ts"
import { AuditHttp } from "../admin/audit/AuditHttp.ts"
import { BatchHttp } from "../admin/batch/BatchRuns.ts"
import { HealthHttp } from "../admin/health/HealthHttp.ts"
import { RuntimeHttp } from "../admin/health/RuntimeHttp.ts"
import { layerRequestCounts } from "../admin/limits/RequestCounts.ts"
import { PoliciesHttp } from "../admin/policies/Policies.ts"
import { MarksHttp } from "../marks/Marks.ts"
import { layerRefusedRequests } from "../platform/audit/RefusedRequests.ts"
import { ListenHost } from "../platform/http/ListenHost.ts"
import { CompareHttp } from "../queries/compare/RunComparison.ts"
import { DashboardHttp } from "../queries/dashboard/Dashboard.ts"
import { DecisionsHttp } from "../queries/decisions/DecisionsHttp.ts"
import { EventsHttp } from "../queries/events/EventsHttp.ts"
import { ExportsHttp } from "../queries/exports/ExportsHttp.ts"
import { MarkReportsHttp } from "../queries/marks/MarkReportsHttp.ts"
import { PricesHttp } from "../queries/prices/PricesHttp.ts"
import { QueryHttp } from "../queries/query/QueryHttp.ts"
import { LedgerHttp, SealKeysHttp, SealsHttp } from "../queries/seals/SealsHttp.ts"
import { TracesHttp } from "../queries/traces/TracesHttp.ts"
import { ViewsHttp } from "../queries/views/Views.ts"
import { ProjectionHttp } from "../runs/ProjectionRebuild.ts"
import { ManagementHttp } from "../runs/RunManagement.ts"
import { AgUiHttp } from "../streams/ag-ui/AgUiHttp.ts"
import { CrossRunEventsHttp } from "../streams/log/CrossRunEventsHttp.ts"
import { ReplayHttp } from "../streams/replay/ReplayHttp.ts"
import { StreamHttp } from "../streams/run/StreamHttp.ts"
import { StreamTickets } from "../streams/run/StreamTickets.ts"
import { consoleRoutes } from "./console/ConsoleRoutes.ts"
import { RunsHttp } from "./RunsHttp.ts"

/** The former emission endpoints, which always answer 410 (docs/reference/http.md#removed-endpoints). */
const RemovedHttp = HttpApiBuilder.group(
  ControlPlaneApi,
  "removed",
  Effect.fnUntraced(function* (handlers) {
    return yield* Effect.succeed(
      handlers.handleAll({
        messages: () => Effect.fail(endpointRemoved("POST /runs/:id/messages")),
        signal: () => Effect.fail(endpointRemoved("POST /runs/:id/signal")),
        context: () => Effect.fail(endpointRemoved("POST /runs/:id/context"))
      })
    )
  })
)

/** Time for pending answers at shutdown; event streams end at once. */
const GRACEFUL_SHUTDOWN_MS = 3_000

/** The handlers of the groups of the core. */
const handlers = Layer.mergeAll(
  ControlPlaneEdge.handlers,
  RunsHttp,
  EventsHttp,
  CrossRunEventsHttp,
  StreamHttp,
  AgUiHttp,
  ReplayHttp,
  DashboardHttp,
  PoliciesHttp,
  AuditHttp,
  ManagementHttp,
  BatchHttp,
  TracesHttp,
  CompareHttp,
  ProjectionHttp,
  ExportsHttp,
  QueryHttp,
  PricesHttp,
  DecisionsHttp,
  MarkReportsHttp,
  ViewsHttp,
  SealsHttp,
  LedgerHttp,
  SealKeysHttp,
  MarksHttp,
  RemovedHttp,
  HealthHttp,
  RuntimeHttp,
  AdminHttp
)

/** The API, with `/docs` and `/docs-json` in development only (docs/reference/http.md#docs-pages). */
const contract = Layer.unwrap(
  Effect.gen(function* () {
    const environment = yield* readSetting(ServiceSettings.NODE_ENV)
    if (environment !== "development") return HttpApiBuilder.layer(ControlPlaneApi)
    return Layer.merge(HttpApiBuilder.layer(ControlPlaneApi), layerControlPlaneDocs)
  })
)

/** The groups of the API whose handlers are those of features. */
type FeatureGroups = Exclude<
  Extract<Layer.Services<typeof contract>, HttpApiGroup.Service<"control-plane", string>>,
  Layer.Success<typeof handlers>
>

/** What features serve. */
export interface FeatureRoutes<E, R, BesideE, BesideR> {
  /** The handlers of all groups that the core does not have, and what the edge knows of their errors. */
  readonly api: Layer.Layer<FeatureGroups, E, R>
  /** Routes and receivers beside the API, on the same router. */
  readonly beside: Layer.Layer<never, BesideE, BesideR>
}

const middleware = ControlPlaneEdge.layerMiddleware.pipe(Layer.provide([StreamTickets.layerGuard, layerRequestCounts]))

/** All routes, with the middleware of the contract under the handlers, and the edge around them. */
const routesOf = <E, R, BesideE, BesideR>({ api, beside }: FeatureRoutes<E, R, BesideE, BesideR>) => {
  const ofFeatures = Layer.provide(api, middleware)
  return contract.pipe(
    Layer.provide([Layer.provide(handlers, middleware), ofFeatures]),
    Layer.merge(consoleRoutes),
    Layer.merge(beside),
    Layer.merge(ControlPlaneEdge.layer.pipe(Layer.provide([layerRefusedRequests, ofFeatures])))
  )
}

/**
 * Finalizers run in reverse: layers on the server end before it, so readiness is negative while it still serves, and
 * open event streams do not delay its end.
 */
const endStreamsFirst = Layer.effectDiscard(
  Effect.gen(function* () {
    const shutdown = yield* Shutdown
    const server = yield* HttpServer.HttpServer
    yield* Effect.logInfo(`listening on ${HttpServer.formatAddress(server.address)}`)
    yield* Effect.addFinalizer(() => shutdown.begin)
  })
)

/**
 * Serves `ControlPlaneApi` and the routes of features on a port. Provides the `HttpServer`, whose address has the port.
 * Fails with `ListenFailed` when the port is unavailable.
 */
export const layer = <E, R, BesideE, BesideR>(options: ListenOptions, routes: FeatureRoutes<E, R, BesideE, BesideR>) =>
  endStreamsFirst.pipe(
    Layer.provideMerge(
      HttpRouter.serve(routesOf(routes).pipe(Layer.provide(Layer.succeed(ListenHost, options.host))), {
        disableLogger: true,
        disableListenLog: true
      })
    ),
    Layer.provide(edgeServices),
    Layer.provideMerge(layerHttpServer(options, { form: controlPlaneForm, graceMs: GRACEFUL_SHUTDOWN_MS }))
  )
