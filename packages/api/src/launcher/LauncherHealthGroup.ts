import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { LauncherApiKey } from "../middleware/LauncherApiKey.ts"
import { summary } from "../openapi/Describe.ts"
import { HealthAnswer } from "./Catalog.ts"

/** The probe; behind the API key like everything else (scenario-launch-service "Authentication"), never throttled. */
export class LauncherHealthGroup extends HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("healthz", "/healthz", { success: HealthAnswer }).annotateMerge(
      summary("Whether the process answers")
    )
  )
  .middleware(LauncherApiKey) {}
