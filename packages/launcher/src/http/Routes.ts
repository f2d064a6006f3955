import { LauncherApi, LauncherEdge } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder, HttpApiSwagger } from "effect/http-api"
import * as Layer from "effect/Layer"
import { LauncherSettings } from "../LauncherSettings.ts"
import { CatalogHttp } from "./CatalogHttp.ts"
import { HealthHttp, LaunchHttp } from "./LaunchHttp.ts"

/** The documents belong to development: there the contract and a page to try it are served, elsewhere they are unknown routes. */
const DEVELOPMENT = "development"

const handlers = Layer.mergeAll(CatalogHttp, LaunchHttp, HealthHttp)

const api = Layer.unwrap(
  Effect.map(LauncherSettings, ({ environment }) =>
    environment === DEVELOPMENT
      ? Layer.merge(
          HttpApiBuilder.layer(LauncherApi, { openapiPath: "/docs-json" }),
          HttpApiSwagger.layer(LauncherApi, { path: "/docs" })
        )
      : HttpApiBuilder.layer(LauncherApi)
  )
)

/** Every route of the service with its middleware; needs the service's capabilities and an `HttpRouter`. */
export const LauncherRoutes = api.pipe(
  Layer.provide(handlers),
  Layer.provide(LauncherEdge.layerMiddleware),
  Layer.merge(LauncherEdge.layer)
)
