import { ControlPlaneApi, LauncherApi } from "@runplane/api"
import * as Layer from "effect/Layer"
import { layerAccessCheck } from "./AccessCheck.ts"
import { layerAuthorization, layerLauncherApiKey } from "./ApiKeyGuard.ts"
import { ClientBudgets } from "./ClientBudgets.ts"
import { layerEdge } from "./Edge.ts"
import { controlPlaneForm, launcherForm } from "./EdgeForm.ts"
import { ControlPlaneMeHttp, LauncherMeHttp } from "./MeHttp.ts"
import { methodsOf } from "./Methods.ts"
import { layerRateLimit } from "./RateLimiting.ts"
import { layerLaunchValidation, layerRequestValidation } from "./Validation.ts"

/** With budgets of its own: two services in one process do not share one. */
const withBudgets = <A, E, R>(middleware: Layer.Layer<A, E, R>) =>
  middleware.pipe(Layer.provide(ClientBudgets.layer), Layer.fresh)

/** The edge of the control plane; its settings are read when the layers are built. */
export const ControlPlaneEdge = {
  /** Around every route; to be merged with the routes. */
  layer: Layer.merge(layerEdge(controlPlaneForm, methodsOf(ControlPlaneApi)), layerAccessCheck(ControlPlaneApi)),
  /** The handlers of the endpoints that are the edge's own. */
  handlers: ControlPlaneMeHttp,
  /** The middleware that ControlPlaneApi declares; to be provided to the routes. */
  layerMiddleware: withBudgets(Layer.mergeAll(layerAuthorization, layerRateLimit, layerRequestValidation))
}

/** The same for the launch service. */
export const LauncherEdge = {
  layer: Layer.merge(layerEdge(launcherForm, methodsOf(LauncherApi)), layerAccessCheck(LauncherApi)),
  handlers: LauncherMeHttp,
  layerMiddleware: withBudgets(Layer.mergeAll(layerLauncherApiKey, layerRateLimit, layerLaunchValidation))
}
