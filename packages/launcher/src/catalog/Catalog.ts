import type { CatalogEntryNotFound, LauncherFault } from "@runplane/api"
import type { DirectoryPerson } from "@runplane/domain"
import * as Result from "effect/Result"
import { distinct, type JsonObject } from "../common/Json.ts"
import { invalidPackData, packNotFound, scenarioNotFound, versionNotFound } from "../common/LaunchErrors.ts"
import type { InputValidator } from "./InputSchema.ts"
import type {
  ExecutionBlock,
  LaunchBlock,
  PackDocument,
  PeopleDocument,
  RuntimeBlock,
  ScenarioDocument
} from "./PackDocuments.ts"

/**
 * One reading of the packs directory. All of it is checked, so only the inputs of a launch can still be wrong.
 */
export interface Catalog {
  readonly packs: ReadonlyArray<CatalogPack>
  /** Packs with a broken file; only their own routes return the error. */
  readonly broken: ReadonlyArray<BrokenPack>
  /** Files and folders that cannot be read, each with the reason: their content is not in the catalog. */
  readonly unreadable: ReadonlyArray<string>
}

export interface BrokenPack {
  /** The slug, or the folder's name where that is what cannot be read. */
  readonly slug: string
  /** What is wrong, with file and line. */
  readonly message: string
}

export interface CatalogPack {
  readonly slug: string
  readonly metadata: PackDocument["metadata"]
  readonly scenarios: ReadonlyArray<CatalogScenario>
  /** `people.yaml`; undefined in a pack without one, whose groups come from tokens. */
  readonly people: PeopleDocument["people"] | undefined
}

export interface CatalogScenario {
  readonly slug: string
  /** Ascending and not empty; the last one is the latest. */
  readonly versions: readonly [ScenarioVersion, ...ReadonlyArray<ScenarioVersion>]
}

export interface ScenarioVersion {
  readonly pack: string
  readonly scenario: string
  readonly version: string
  readonly metadata: ScenarioDocument["metadata"]
  readonly formSchema: JsonObject
  readonly schemaDefaults: JsonObject
  readonly validate: InputValidator
  readonly expectedDecisionKinds: ReadonlyArray<string> | undefined
  /** The protocol by which other agents may start it; undefined for a scenario that is not published. */
  readonly publish?: "a2a" | undefined
  /** The launch as the scenario declares it. */
  readonly base: LaunchPlan
  /** Templates sorted by slug, each with the launch it results in. */
  readonly templates: ReadonlyArray<ScenarioTemplate>
}

export interface ScenarioTemplate {
  readonly slug: string
  readonly defaults: JsonObject
  readonly plan: LaunchPlan
}

export interface LaunchPlan {
  readonly runtime: RuntimeBlock
  readonly launch: LaunchBlock
  readonly execution: ExecutionBlock
}

/** The groups that the people of a directory are in; undefined without a directory. */
export const groupsIn = (people: PeopleDocument["people"] | undefined): ReadonlySet<string> | undefined =>
  people && new Set(Object.values(people).flatMap(({ groups = [] }) => groups))

/** The people of a directory as the rules of seats see them. */
export const personsIn = (people: PeopleDocument["people"] = {}): ReadonlyArray<DirectoryPerson> =>
  Object.entries(people).map(([id, { groups = [], link }]) => ({ id, groups, hasLink: link !== undefined }))

/** A scenario in a list: facts of the latest version. */
export interface ScenarioSummary {
  readonly scenario: string
  readonly name: string
  readonly summary?: string
  readonly versions: ReadonlyArray<string>
  readonly templates: ReadonlyArray<string>
  readonly tags: ReadonlyArray<string>
  readonly runtimeKind: string
  readonly agentRefs: ReadonlyArray<string>
}

export const scenarioRefOf = (version: ScenarioVersion): string =>
  `${version.pack}/${version.scenario}@${version.version}`

const latestOf = (scenario: CatalogScenario): ScenarioVersion =>
  scenario.versions[scenario.versions.length - 1] ?? scenario.versions[0]

export const findPack = (
  catalog: Catalog,
  slug: string
): Result.Result<CatalogPack, CatalogEntryNotFound | LauncherFault> => {
  const pack = catalog.packs.find((candidate) => candidate.slug === slug)
  if (pack !== undefined) return Result.succeed(pack)
  const broken = catalog.broken.find((candidate) => candidate.slug === slug)
  return Result.fail(broken === undefined ? packNotFound(slug) : invalidPackData(broken.message))
}

export const findVersion = (
  catalog: Catalog,
  at: { readonly pack: string; readonly scenario: string; readonly version: string }
): Result.Result<ScenarioVersion, CatalogEntryNotFound | LauncherFault> =>
  Result.gen(function* () {
    const pack = yield* findPack(catalog, at.pack)
    const scenario = yield* Result.fromNullishOr(
      pack.scenarios.find((candidate) => candidate.slug === at.scenario),
      () => scenarioNotFound(at)
    )
    return yield* Result.fromNullishOr(
      scenario.versions.find((candidate) => candidate.version === at.version),
      () => versionNotFound(at)
    )
  })

export const summarise = (scenario: CatalogScenario): ScenarioSummary => {
  const latest = latestOf(scenario)
  const { name, summary, tags } = latest.metadata
  return {
    scenario: scenario.slug,
    name,
    ...(summary === undefined ? {} : { summary }),
    versions: scenario.versions.map((version) => version.version),
    templates: latest.templates.map((template) => template.slug),
    tags: tags ?? [],
    runtimeKind: latest.base.runtime.kind,
    agentRefs: latest.base.launch.participants.map((participant) => participant.agentRef)
  }
}

/** For each agent the scenario references that name it, in scan order, templates left out. */
export const scenariosByAgent = (catalog: Catalog): ReadonlyMap<string, ReadonlyArray<string>> => {
  const byAgent = new Map<string, Array<string>>()
  for (const version of allVersions(catalog)) {
    for (const agentRef of distinct(version.base.launch.participants.map((participant) => participant.agentRef))) {
      const refs = byAgent.get(agentRef) ?? []
      refs.push(scenarioRefOf(version))
      byAgent.set(agentRef, refs)
    }
  }
  return byAgent
}

const allVersions = (catalog: Catalog): ReadonlyArray<ScenarioVersion> =>
  catalog.packs.flatMap((pack) => pack.scenarios.flatMap((scenario) => scenario.versions))
