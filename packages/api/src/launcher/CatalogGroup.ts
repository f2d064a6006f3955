import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { CatalogEntryNotFound, LauncherFault } from "../errors/LauncherErrors.ts"
import { LauncherApiKey } from "../middleware/LauncherApiKey.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { LaunchValidation } from "../middleware/RequestValidation.ts"
import { requestDescription, summary } from "../openapi/Describe.ts"
import { TextParam } from "../validation/Params.ts"
import { queryString } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, optional } from "../validation/Rule.ts"
import { CatalogAgent, LaunchSchema, Pack, ScenarioSummary } from "./Catalog.ts"

export const launchSchemaQuery = querySchema({
  template: described(optional(queryString()), "Template slug; an empty value counts as absent")
})

const failures = [CatalogEntryNotFound, LauncherFault] as const

/** Packs, scenarios, agents and launch schemas (scenario-launch-service "Endpoints"). */
export class CatalogGroup extends HttpApiGroup.make("catalog")
  .add(
    HttpApiEndpoint.get("packs", "/packs", { success: Schema.Array(Pack), error: failures }).annotateMerge(
      summary("List packs")
    ),
    HttpApiEndpoint.get("packScenarios", "/packs/:packSlug/scenarios", {
      params: { packSlug: TextParam },
      success: Schema.Array(ScenarioSummary),
      error: failures
    }).annotateMerge(summary("List the scenarios of a pack")),
    HttpApiEndpoint.get("scenarios", "/scenarios", {
      success: Schema.Array(ScenarioSummary),
      error: failures
    }).annotateMerge(summary("List the scenarios of all packs")),
    HttpApiEndpoint.get("agents", "/agents", { success: Schema.Array(CatalogAgent), error: failures }).annotateMerge(
      summary("List example agents")
    ),
    HttpApiEndpoint.get("agent", "/agents/:agentRef", {
      params: { agentRef: TextParam },
      success: CatalogAgent,
      error: failures
    }).annotateMerge(summary("Read one example agent")),
    HttpApiEndpoint.get("launchSchema", "/packs/:packSlug/scenarios/:scenarioSlug/versions/:version/launch-schema", {
      params: { packSlug: TextParam, scenarioSlug: TextParam, version: TextParam },
      query: launchSchemaQuery.schema,
      success: LaunchSchema,
      error: failures
    }).annotateMerge(requestDescription({ summary: "Read what a scenario asks for", query: launchSchemaQuery.rule }))
  )
  .middleware(LaunchValidation)
  .middleware(LauncherApiKey)
  .middleware(RateLimit) {}
