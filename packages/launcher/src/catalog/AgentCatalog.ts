import type { CatalogEntryNotFound } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { A2A } from "../common/Frameworks.ts"
import { agentNotFound, invalidConfig } from "../common/LaunchErrors.ts"
import { jsonFaultInFile } from "../common/LineOfPath.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import { compareTexts } from "./VersionOrder.ts"

/** `profiles/<agentRef>.json`: what the catalog shows of an agent. */
export const AgentProfile = Schema.Struct({
  agentRef: Schema.NonEmptyString,
  name: Schema.NonEmptyString,
  role: Schema.String,
  framework: Schema.Literals(["langgraph", "langchain", "crewai", "custom", "mock", "person", "a2a"]),
  description: Schema.String,
  transportIdentity: Schema.String,
  entrypoint: Schema.String,
  bootstrapStrategy: Schema.Literals(["in-process", "external", "container", "manifest-only", "seat"]),
  bootstrapMode: Schema.Literals(["attached", "mock", "deferred"]),
  tags: Schema.Array(Schema.String)
})
export type AgentProfile = typeof AgentProfile.Type

/** The framework of a participant whose acts come from a person: no process is started for it. */
const PERSON = "person"

export const isPerson = ({ framework }: Pick<AgentProfile, "framework">): boolean => framework === PERSON

/** Whether an agent is called by A2A, wherever it runs. */
export const isRemote = ({ framework }: Pick<AgentProfile, "framework">): boolean => framework === A2A

/** A profile that is half a seat would start a process, or wait for none. */
const halfFault = ({ bootstrapMode, bootstrapStrategy, framework }: AgentProfile): string | undefined => {
  const hasNoProcess = framework === PERSON || framework === A2A
  if (hasNoProcess !== (bootstrapStrategy === "seat")) {
    return hasNoProcess
      ? `bootstrapStrategy is ${bootstrapStrategy}: write seat, since framework is ${framework}`
      : `framework is ${framework}: write person or a2a, since bootstrapStrategy is seat`
  }
  return hasNoProcess && bootstrapMode !== "deferred"
    ? `bootstrapMode is ${bootstrapMode}: write deferred, since no process is started for framework ${framework}`
    : undefined
}

/**
 * The example agents that this service knows, in file-name order. The profiles are read when the layer is built: a
 * broken one fails it with INVALID_CONFIG.
 */
export class AgentCatalog extends Context.Service<
  AgentCatalog,
  {
    readonly profiles: ReadonlyArray<AgentProfile>
    readonly get: (agentRef: string) => Effect.Effect<AgentProfile, CatalogEntryNotFound>
  }
>()("runplane/launcher/AgentCatalog") {
  static readonly layer = Layer.unwrap(
    Effect.map(
      Effect.suspend(() => readProfiles),
      layerOf
    )
  )

  /** A fixed list of profiles, for tests. */
  static readonly layerMemory = (profiles: ReadonlyArray<AgentProfile>) => layerOf(profiles)
}

const readProfiles = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { agentsDir } = yield* LauncherSettings
  const directory = path.join(agentsDir, "profiles")
  if (!(yield* fs.exists(directory))) {
    yield* Effect.logWarning("AGENTS_DIR holds no profiles folder: the catalog of agents is empty")
    return []
  }
  const names = (yield* fs.readDirectory(directory)).filter(isProfile).sort(compareTexts)
  const profiles = yield* Effect.forEach(names, (name) =>
    Effect.result(fs.readFileString(path.join(directory, name))).pipe(
      Effect.flatMap(
        Result.match({
          onFailure: ({ reason }) =>
            Effect.as(Effect.logWarning(`profiles/${name} cannot be read: ${reason._tag}; the agent is left out`), []),
          onSuccess: (text) => Effect.map(decodeProfile(name, text), (profile) => [profile])
        })
      )
    )
  )
  return profiles.flat()
}).pipe(
  Effect.catchTag("PlatformError", (error) =>
    Effect.fail(invalidConfig(`agent profiles cannot be read: ${error.message}`))
  )
)

/** Names that begin with a dot are litter of editors and systems. */
const isProfile = (name: string) => name.endsWith(".json") && !name.startsWith(".")

const decodeProfile = Effect.fnUntraced(function* (name: string, text: string) {
  const fault = jsonFaultInFile(text)
  if (fault !== undefined) return yield* invalidConfig(`invalid agent profile profiles/${name}: ${fault}`)
  const profile = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(AgentProfile))(text).pipe(
    Effect.mapError((error) => invalidConfig(`invalid agent profile profiles/${name}: ${error.message}`))
  )
  // The file name is the order of GET /agents and the key of the manifest beside it, so the two may not drift apart.
  if (`${profile.agentRef}.json` !== name) {
    return yield* invalidConfig(
      `invalid agent profile profiles/${name}: agentRef is ${profile.agentRef}, not the file's name`
    )
  }
  const half = halfFault(profile)
  if (half !== undefined) return yield* invalidConfig(`invalid agent profile profiles/${name}: ${half}`)
  return profile
})

function layerOf(profiles: ReadonlyArray<AgentProfile>): Layer.Layer<AgentCatalog> {
  const byRef = new Map(profiles.map((profile) => [profile.agentRef, profile]))
  return Layer.succeed(
    AgentCatalog,
    AgentCatalog.of({
      profiles,
      get: (agentRef) => {
        const profile = byRef.get(agentRef)
        return profile === undefined ? Effect.fail(agentNotFound(agentRef)) : Effect.succeed(profile)
      }
    })
  )
}
