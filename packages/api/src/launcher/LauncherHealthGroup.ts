import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import { operation, tag } from "../openapi/Describe.ts"
import { HealthAnswer } from "./Catalog.ts"

/** The probe; behind the API key and counted like everything else. */
export class LauncherHealthGroup extends HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("healthz", "/healthz", { success: HealthAnswer }).annotateMerge(
      operation({
        id: "getHealth",
        access: "viewer",
        summary: "Check that the process answers",
        description: "Behind the key, and counted, like everything else."
      })
    )
  )
  .annotateMerge(tag("Health", "The probe")) {}
