import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { ControlPlaneApi, ControlPlaneEdge, edgeServices, layerControlPlaneDocs } from "@runplane/api"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import { HttpApiBuilder } from "effect/http-api"
import * as Layer from "effect/Layer"
import { AdminHttp } from "../admin/AdminHttp.ts"
import { HealthHttp } from "../admin/HealthHttp.ts"
import { RuntimeHttp } from "../admin/RuntimeHttp.ts"
import { AuditHttp } from "../audit/AuditHttp.ts"
import { DashboardHttp } from "../dashboard/DashboardHttp.ts"
import { CrossRunEventsHttp } from "../events/CrossRunEventsHttp.ts"
import { EventsHttp } from "../events/EventsHttp.ts"
import { InsightsHttp } from "../insights/InsightsHttp.ts"
import { PoliciesHttp } from "../policies/PoliciesHttp.ts"
import { ReplayHttp } from "../replay/ReplayHttp.ts"
import { BatchHttp } from "../runs/BatchHttp.ts"
import { ManagementHttp } from "../runs/ManagementHttp.ts"
import { RunsHttp } from "../runs/RunsHttp.ts"
import { word } from "../Settings.ts"
import { StreamHttp } from "../stream/StreamHttp.ts"
import { WebhooksHttp } from "../webhooks/WebhooksHttp.ts"
import { makeNodeServer } from "./NodeServer.ts"
import { layerOutageAnswers } from "./OutageAnswers.ts"
import { RemovedHttp } from "./RemovedHttp.ts"
import { Shutdown } from "./Shutdown.ts"

/** Answers under way at shutdown get this long; event streams end at once by themselves. */
export const GRACEFUL_SHUTDOWN_MS = 3_000

export interface HttpOptions {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
}

/** The port cannot be listened on: taken by another process, or not allowed. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{
  readonly host: string
  readonly port: number
  readonly reason: string
}> {
  override get message(): string {
    return `cannot listen on ${this.host}:${this.port}: ${this.reason}`
  }
}

/** The handlers of all groups. */
const handlers = Layer.mergeAll(
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
  RemovedHttp,
  HealthHttp,
  RuntimeHttp,
  AdminHttp
)

// The middleware that is built first is the outermost: the edge sees the answers to an outage like any other.
const edge = layerOutageAnswers.pipe(Layer.provide(ControlPlaneEdge.layer))

/** `/docs` and `/docs-json`, in development only (run-control-plane "What the service does", 7). */
const routes = Layer.unwrap(
  Effect.gen(function* () {
    const environment = yield* word("NODE_ENV", "development")
    if (environment !== "development") return HttpApiBuilder.layer(ControlPlaneApi)
    return Layer.merge(HttpApiBuilder.layer(ControlPlaneApi), layerControlPlaneDocs)
  })
).pipe(Layer.provide(handlers), Layer.provide(ControlPlaneEdge.layerMiddleware), Layer.merge(edge))

/** Finalizers run backwards: what is built on the server ends before it, so open event streams do not hold it up. */
const endStreamsFirst = Layer.effectDiscard(
  Effect.gen(function* () {
    const shutdown = yield* Shutdown
    const server = yield* HttpServer.HttpServer
    yield* Effect.logInfo(`listening on ${HttpServer.formatAddress(server.address)}`)
    yield* Effect.addFinalizer(() => shutdown.begin)
  })
)

const listenFailed =
  ({ host, port }: HttpOptions) =>
  (error: ServeError) => {
    const { cause } = error
    const inUse = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE"
    const reason = inUse ? "the port is in use" : cause instanceof Error ? cause.message : String(cause)
    return new ListenFailed({ host, port, reason })
  }

/**
 * Serves `ControlPlaneApi` on a port (http-details section 3). Offers the `HttpServer`, whose address tells the port that was
 * taken. Fails with `ListenFailed` when the port is not to be had.
 */
export const layerHttp = (options: HttpOptions) =>
  endStreamsFirst.pipe(
    Layer.provideMerge(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
    Layer.provide(edgeServices),
    Layer.provideMerge(
      NodeHttpServer.layer(makeNodeServer, {
        host: options.host,
        port: options.port,
        gracefulShutdownTimeout: Duration.millis(GRACEFUL_SHUTDOWN_MS)
      })
    ),
    Layer.catchTag("ServeError", (error) => Layer.effectContext(Effect.fail(listenFailed(options)(error))))
  )
