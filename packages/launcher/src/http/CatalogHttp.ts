import { LauncherApi, type Pack } from "@runplane/api"
import * as Effect from "effect/Effect"
import { HttpApiBuilder } from "effect/http-api"
import { AgentCatalog } from "../catalog/AgentCatalog.ts"
import { type CatalogPack, findPack, scenariosByAgent, summarise } from "../catalog/Catalog.ts"
import { PackRegistry } from "../catalog/PackRegistry.ts"
import { LaunchCompiler } from "../compile/LaunchCompiler.ts"

/** Packs, scenarios, agents and launch schemas. */
export const CatalogHttp = HttpApiBuilder.group(
  LauncherApi,
  "catalog",
  Effect.fnUntraced(function* (handlers) {
    const agents = yield* AgentCatalog
    const compiler = yield* LaunchCompiler

    const { catalog } = yield* PackRegistry
    const scenarioRefs = Effect.map(catalog, (current) => {
      const byAgent = scenariosByAgent(current)
      return (agentRef: string) => byAgent.get(agentRef) ?? []
    })

    return handlers.handleAll({
      packs: () => Effect.map(catalog, ({ packs }) => packs.map(packAnswer)),
      packScenarios: ({ params }) =>
        Effect.gen(function* () {
          const pack = yield* Effect.fromResult(findPack(yield* catalog, params.packSlug))
          return pack.scenarios.map(summarise)
        }),
      scenarios: () =>
        Effect.map(catalog, ({ packs }) =>
          packs.flatMap((pack) => pack.scenarios.map((scenario) => ({ packSlug: pack.slug, ...summarise(scenario) })))
        ),
      agents: () =>
        Effect.map(scenarioRefs, (refsOf) =>
          agents.profiles.map((profile) => ({ ...profile, scenarios: refsOf(profile.agentRef) }))
        ),
      agent: ({ params }) =>
        Effect.gen(function* () {
          const profile = yield* agents.get(params.agentRef)
          const refsOf = yield* scenarioRefs
          return { ...profile, scenarios: refsOf(profile.agentRef) }
        }),
      launchSchema: ({ params, query }) =>
        compiler.launchSchema(
          { pack: params.packSlug, scenario: params.scenarioSlug, version: params.version },
          query.template
        )
    })
  })
)

/** A pack file may leave its descriptive keys out; readers of the catalog may not find them missing. */
const packAnswer = ({ slug, metadata }: CatalogPack): Pack => ({
  slug,
  name: metadata.name ?? slug,
  description: metadata.description ?? "",
  tags: metadata.tags ?? []
})
