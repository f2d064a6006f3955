import * as Layer from "effect/Layer"
import { fieldsOf } from "./Feature.ts"
import { features } from "./features.ts"

/** The routes of features, for the server: handlers of their groups of the API, and routes beside the API. */
export const routes = {
  api: Layer.mergeAll(Layer.empty, ...fieldsOf(features, "routes")),
  beside: Layer.mergeAll(Layer.empty, ...fieldsOf(features, "rawRoutes"))
}
