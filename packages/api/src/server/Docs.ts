import * as Effect from "effect/Effect"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Layer from "effect/Layer"

// Loaded when they are wanted: the texts, the examples and the page are of no use to a service in production.
const routes = Effect.promise(() => import("../openapi/DocumentRoutes.ts"))
const controlPlane = Effect.promise(() => import("../openapi/ControlPlaneDocument.ts"))
const launcher = Effect.promise(() => import("../openapi/LauncherDocument.ts"))

/** `/docs` and `/docs-json` of the control plane, for development (run-control-plane "What the service does", 7). */
export const layerControlPlaneDocs = Layer.unwrap(
  Effect.gen(function* () {
    const { documentRoutes } = yield* routes
    return documentRoutes((yield* controlPlane).DocumentedControlPlane)
  })
)

/** The same for the launch service (scenario-launch-service "What the service does", 5). */
export const layerLauncherDocs = Layer.unwrap(
  Effect.gen(function* () {
    const { documentRoutes } = yield* routes
    return documentRoutes((yield* launcher).DocumentedLauncher)
  })
)

/** The OpenAPI document of the launch service, for other forms of it. */
export const launcherDocument = Effect.map(launcher, ({ DocumentedLauncher }) => OpenApi.fromApi(DocumentedLauncher))
