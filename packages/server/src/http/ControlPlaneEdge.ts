import { ControlPlaneApi } from "@runplane/api"
import * as Layer from "effect/Layer"
import { layerAccessCheck } from "./AccessCheck.ts"
import { layerAuthorization } from "./ApiKeyGuard.ts"
import { ClientBudgets } from "./ClientBudgets.ts"
import { layerEdge } from "./Edge.ts"
import { controlPlaneForm } from "./EdgeForm.ts"
import { ControlPlaneMeHttp } from "./MeHttp.ts"
import { methodsOf } from "./Methods.ts"
import { layerRateLimit } from "./RateLimiting.ts"
import { layerRequestValidation } from "./Validation.ts"

/** The edge of the control plane; its settings are read when the layers are built. */
export const ControlPlaneEdge = {
  /** Around every route; to be merged with the routes. */
  layer: Layer.merge(layerEdge(controlPlaneForm, methodsOf(ControlPlaneApi)), layerAccessCheck(ControlPlaneApi)),
  /** The handlers of the endpoints that are the edge's own. */
  handlers: ControlPlaneMeHttp,
  // Fresh: two services in one process must not share one budget.
  /** The middleware that ControlPlaneApi declares; to be provided to the routes. */
  layerMiddleware: Layer.mergeAll(layerAuthorization, layerRateLimit, layerRequestValidation).pipe(
    Layer.provide(ClientBudgets.layer),
    Layer.fresh
  )
}
