import { ControlPlaneApi, LauncherApi } from "@runplane/api"
import * as Effect from "effect/Effect"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Layer from "effect/Layer"

// Loaded on first use: a service in production has no use for the page and the documents.
const routes = Effect.promise(() => import("./DocumentRoutes.ts"))
const controlPlane = Effect.promise(
  () => import("@runplane/api/openapi/control-plane.json", { with: { type: "json" } })
)
const launcher = Effect.promise(() => import("@runplane/api/openapi/launcher.json", { with: { type: "json" } }))

/** `/docs` and `/docs-json` of the control plane, for development. */
export const layerControlPlaneDocs = Layer.unwrap(
  Effect.gen(function* () {
    const { documentRoutes } = yield* routes
    const { default: document } = yield* controlPlane
    return documentRoutes(ControlPlaneApi.annotate(OpenApi.Transform, () => document))
  })
)

/** The same for the launch service. */
export const layerLauncherDocs = Layer.unwrap(
  Effect.gen(function* () {
    const { documentRoutes } = yield* routes
    const { default: document } = yield* launcher
    return documentRoutes(LauncherApi.annotate(OpenApi.Transform, () => document))
  })
)

/** The OpenAPI document of the launch service, for other forms of it. */
export const launcherDocument = Effect.map(launcher, (module) => module.default)
