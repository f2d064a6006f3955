import { ControlPlaneClient } from "@runplane/api"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
// Loaded with the contract, a moment after the first page.
import "./SharedKey.ts"
import { SERVICE_URL } from "./Base.ts"
import { layerHttp } from "./Http.ts"

/** The whole contract of the control plane; loaded with the first call that needs it. */
export { ControlPlaneClient }

export const runtime = ManagedRuntime.make(
  ControlPlaneClient.layer({ baseUrl: SERVICE_URL }).pipe(Layer.provide(layerHttp("authorization")))
)
