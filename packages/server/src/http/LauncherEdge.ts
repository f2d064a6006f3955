import { LauncherApi } from "@runplane/api"
import * as Layer from "effect/Layer"
import { layerAccessCheck } from "./AccessCheck.ts"
import { layerLauncherApiKey } from "./ApiKeyGuard.ts"
import { ClientBudgets } from "./ClientBudgets.ts"
import { layerEdge } from "./Edge.ts"
import { launcherForm } from "./EdgeForm.ts"
import { LauncherMeHttp } from "./MeHttp.ts"
import { methodsOf } from "./Methods.ts"
import { layerRateLimit } from "./RateLimiting.ts"
import { layerLaunchValidation } from "./Validation.ts"

/** The edge of the launch service; its settings are read when the layers are built. */
export const LauncherEdge = {
  /** Around every route; to be merged with the routes. */
  layer: Layer.merge(layerEdge(launcherForm, methodsOf(LauncherApi)), layerAccessCheck(LauncherApi)),
  /** The handlers of the endpoints that are the edge's own. */
  handlers: LauncherMeHttp,
  // Fresh: two services in one process must not share one budget.
  /** The middleware that LauncherApi declares; to be provided to the routes. */
  layerMiddleware: Layer.mergeAll(layerLauncherApiKey, layerRateLimit, layerLaunchValidation).pipe(
    Layer.provide(ClientBudgets.layer),
    Layer.fresh
  )
}
