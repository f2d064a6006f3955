import type * as HttpApiClient from "effect/http-api/HttpApiClient"
import type { ControlPlaneApi } from "../control-plane/ControlPlaneApi.ts"

/** The control plane as its clients call it: every endpoint of `ControlPlaneApi`, typed. */
export type ControlPlaneCalls = HttpApiClient.ForApi<typeof ControlPlaneApi>
