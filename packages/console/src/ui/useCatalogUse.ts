import { useQuery } from "@tanstack/react-query"
import { type CallLauncher, launcherAt } from "../client/Launcher.ts"
import { CallFailed } from "../client/Problem.ts"

/** The policies and agents that the scenarios of the catalog refer to. */
export interface CatalogUse {
  /** References of scenarios by the policy that they open their sessions under. */
  readonly scenariosOfPolicy: ReadonlyMap<string, ReadonlyArray<string>>
  /** The agents that speak for a participant, by its id. */
  readonly agentsOfParticipant: ReadonlyMap<string, ReadonlyArray<string>>
}

const FRESH_MS = 60_000
const NOT_FOUND = 404

/** The references of the catalog; undefined until it is read, and without a launch service. */
export const useCatalogUse = (launcherUrl: string | undefined): CatalogUse | undefined =>
  useQuery({
    queryKey: ["catalog use", launcherUrl],
    enabled: launcherUrl !== undefined,
    staleTime: FRESH_MS,
    queryFn: ({ signal }) => readUse(launcherAt(launcherUrl ?? ""), signal)
  }).data

const readUse = async (call: CallLauncher, signal: AbortSignal): Promise<CatalogUse> => {
  const scenarios = await call((api) => api.catalog.scenarios({}), signal)
  const schemaOf = async (packSlug: string, scenario: string, version: string, template: string) => {
    const params = { packSlug, scenarioSlug: scenario, version }
    const query = template === "" ? {} : { template }
    try {
      return [await call((api) => api.catalog.launchSchema({ params, query }), signal)]
    } catch (error) {
      // Not every version has every template.
      if (error instanceof CallFailed && error.problem.status === NOT_FOUND) return []
      throw error
    }
  }
  const found = await Promise.all(
    scenarios.flatMap(({ packSlug = "", scenario, templates, versions }) =>
      versions.flatMap((version) =>
        ["", ...templates].map((template) => schemaOf(packSlug, scenario, version, template))
      )
    )
  )
  const scenariosOfPolicy = new Map<string, ReadonlyArray<string>>()
  const agentsOfParticipant = new Map<string, ReadonlyArray<string>>()
  for (const { launchSummary, participants, scenarioRef } of found.flat()) {
    const { policyVersion } = launchSummary
    if (policyVersion !== undefined) add(scenariosOfPolicy, policyVersion, scenarioRef)
    for (const { agentRef, id } of participants) add(agentsOfParticipant, id, agentRef)
  }
  return { scenariosOfPolicy, agentsOfParticipant }
}

const add = (lists: Map<string, ReadonlyArray<string>>, name: string, member: string) => {
  const before = lists.get(name) ?? []
  if (!before.includes(member)) lists.set(name, [...before, member].toSorted())
}
