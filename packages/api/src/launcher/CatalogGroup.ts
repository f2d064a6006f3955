import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import * as Failure from "../errors/LauncherFailures.ts"
import { operation, tag } from "../openapi/Describe.ts"
import { textParam } from "../validation/Params.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { CatalogAgent, LaunchSchema, Pack, ScenarioSummary } from "./Catalog.ts"

export const launchSchemaQuery = querySchema({
  template: Schema.optionalKey(Field.text("Slug of a template; an empty value counts as absent", "default"))
})

const packSlug = textParam("Slug of the pack", "incident")
const scenarioSlug = textParam("Slug of the scenario", "region-failover")
const version = textParam("Version of the scenario", "1.0.0")

/** Packs, scenarios, agents and launch schemas. */
export class CatalogGroup extends HttpApiGroup.make("catalog")
  .add(
    HttpApiEndpoint.get("packs", "/packs", {
      success: Schema.Array(Pack),
      error: Failure.InvalidPackData
    }).annotateMerge(
      operation({
        id: "listPacks",
        access: "viewer",
        summary: "List packs",
        description: "The sets of scenarios on disk."
      })
    ),
    HttpApiEndpoint.get("packScenarios", "/packs/:packSlug/scenarios", {
      params: { packSlug },
      success: Schema.Array(ScenarioSummary),
      error: [Failure.PackNotFound, Failure.InvalidPackData]
    }).annotateMerge(
      operation({
        id: "listPackScenarios",
        access: "viewer",
        summary: "List the scenarios of a pack",
        description: "With their versions and templates."
      })
    ),
    HttpApiEndpoint.get("scenarios", "/scenarios", {
      success: Schema.Array(ScenarioSummary),
      error: Failure.InvalidPackData
    }).annotateMerge(
      operation({
        id: "listScenarios",
        access: "viewer",
        summary: "List the scenarios of all packs",
        description: "Each with the slug of its pack."
      })
    ),
    HttpApiEndpoint.get("agents", "/agents", {
      success: Schema.Array(CatalogAgent),
      error: Failure.InvalidPackData
    }).annotateMerge(
      operation({
        id: "listAgents",
        access: "viewer",
        summary: "List example agents",
        description: "With the scenarios that name them."
      })
    ),
    HttpApiEndpoint.get("agent", "/agents/:agentRef", {
      params: { agentRef: textParam("Id of the agent", "replication-agent") },
      success: CatalogAgent,
      error: [Failure.AgentNotFound, Failure.InvalidPackData]
    }).annotateMerge(
      operation({
        id: "getAgent",
        access: "viewer",
        summary: "Read one example agent",
        description: "With the scenarios that name it."
      })
    ),
    HttpApiEndpoint.get("launchSchema", "/packs/:packSlug/scenarios/:scenarioSlug/versions/:version/launch-schema", {
      params: { packSlug, scenarioSlug, version },
      query: launchSchemaQuery,
      success: LaunchSchema,
      error: [
        Failure.PackNotFound,
        Failure.ScenarioNotFound,
        Failure.VersionNotFound,
        Failure.TemplateNotFound,
        Failure.InvalidPackData
      ]
    }).annotateMerge(
      operation({
        id: "getLaunchSchema",
        access: "viewer",
        summary: "Read the inputs of a scenario",
        description:
          "Everything a form needs to start a version of a scenario: the schema of its inputs, and what it will launch."
      })
    )
  )
  .annotateMerge(tag("Catalog", "Packs, scenarios and agents, as they are on disk")) {}
