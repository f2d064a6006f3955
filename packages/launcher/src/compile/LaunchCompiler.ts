import type {
  CatalogEntryNotFound,
  CompileLaunchResult,
  CompileRequest,
  LauncherFault,
  LaunchRejected,
  LaunchSchema
} from "@runplane/api"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AgentCatalog, isPerson, isRemote } from "../catalog/AgentCatalog.ts"
import { findVersion, groupsIn, personsIn } from "../catalog/Catalog.ts"
import { TIME_LIMIT } from "../catalog/InputSchema.ts"
import { PackRegistry } from "../catalog/PackRegistry.ts"
import { type CompileFailure, invalidConfig } from "../common/LaunchErrors.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import { RemoteAgents } from "../remote/RemoteAgents.ts"
import { compileLaunch, findTemplate } from "./CompileLaunch.ts"
import { hasSeats } from "./CompilePeople.ts"
import { checkTurns, hasRemotes, withRemotes } from "./CompileRemote.ts"
import { launchSchemaOf, profileInRole } from "./LaunchSchema.ts"
import { parseScenarioRef, type ScenarioRef } from "./ScenarioRef.ts"

/** Turns launch requests into run descriptors and scenario versions into launch schemas. */
export class LaunchCompiler extends Context.Service<
  LaunchCompiler,
  {
    /** `sessionId`: the session of the launch, a UUID v4; a new one without it. */
    readonly compile: (
      request: CompileRequest,
      sessionId?: string
    ) => Effect.Effect<CompileLaunchResult, CompileFailure>
    readonly launchSchema: (
      at: ScenarioRef,
      templateId: string | undefined
    ) => Effect.Effect<LaunchSchema, CatalogEntryNotFound | LauncherFault>
  }
>()("runplane/launcher/LaunchCompiler") {
  /** Refuses a scenario with a seat in a service without a database for it, and pins agents that speak A2A. */
  static readonly layer = Layer.effect(
    LaunchCompiler,
    Effect.flatMap(RemoteAgents, ({ pin }) => make(pin))
  ).pipe(Layer.provide([SecureRandom.layerWebCrypto, RemoteAgents.layer]))

  /** For authors, who launch nothing: no agent is called. */
  static readonly layerDry = Layer.effect(
    LaunchCompiler,
    Effect.suspend(() => make(undefined))
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

function make(pin: RemoteAgents["Service"]["pin"] | undefined) {
  return Effect.gen(function* () {
    const registry = yield* PackRegistry
    const agents = yield* AgentCatalog
    const random = yield* SecureRandom.SecureRandom
    const { database, environment, serviceName, signIn } = yield* LauncherSettings
    const remotes = new Set(agents.profiles.filter(isRemote).map(({ agentRef }) => agentRef))
    const isRemoteRef = agents.profiles.length === 0 ? undefined : (agentRef: string) => remotes.has(agentRef)
    const persons = new Set(agents.profiles.filter(isPerson).map(({ agentRef }) => agentRef))
    // Without profiles nothing is known of any agent.
    const refs = new Set(agents.profiles.map(({ agentRef }) => agentRef))
    const knowsAgent = agents.profiles.length === 0 ? undefined : (agentRef: string) => refs.has(agentRef)
    const isPersonRef = agents.profiles.length === 0 ? undefined : (agentRef: string) => persons.has(agentRef)

    const compile = Effect.fn("LaunchCompiler.compile")(function* (request: CompileRequest, given?: string) {
      const at = yield* Effect.fromResult(parseScenarioRef(request.scenarioRef))
      const catalog = yield* registry.catalog
      const scenario = yield* Effect.fromResult(findVersion(catalog, at))
      const sessionId = given ?? (yield* random.uuidV4())
      const directory = catalog.packs.find(({ slug }) => slug === at.pack)?.people
      const groups = groupsIn(directory)
      const people = { isPerson: isPersonRef, groups, persons: personsIn(directory), signIn }
      const { launch } = (yield* Effect.fromResult(findTemplate(scenario, request.templateId)))?.plan ?? scenario.base
      if (pin !== undefined && database === undefined) {
        const lacks = (what: string) =>
          invalidConfig(`LAUNCHER_DATABASE_URL is not set: ${request.scenarioRef} has ${what}`)
        if (hasSeats(launch, isPersonRef)) return yield* lacks("a seat of a person")
        if (hasRemotes(launch, isRemoteRef)) return yield* lacks("an agent that speaks A2A")
      }
      const compiled = yield* Effect.fromResult(
        compileLaunch(scenario, request, { sessionId, serviceName, environment, people, knowsAgent })
      ).pipe(
        Effect.tapErrorTag("LaunchRejected", (rejected) =>
          reachedTimeLimit(rejected)
            ? Effect.logWarning(`the input schema of ${request.scenarioRef} takes too long over some inputs`)
            : Effect.void
        )
      )
      yield* Effect.fromResult(checkTurns(launch, compiled.initiator?.participantId, isRemoteRef))
      return pin === undefined ? compiled : yield* withRemotes(compiled, launch, isRemoteRef, pin)
    })

    const launchSchema = Effect.fn("LaunchCompiler.launchSchema")(function* (
      at: ScenarioRef,
      templateId: string | undefined
    ) {
      const scenario = yield* Effect.fromResult(findVersion(yield* registry.catalog, at))
      const schema = yield* Effect.fromResult(launchSchemaOf(scenario, templateId))
      const profiles = yield* Effect.forEach(schema.participants, (participant) =>
        Effect.map(agents.get(participant.agentRef), (profile) => profileInRole(profile, participant))
      )
      return { ...schema, agents: profiles }
    })

    return LaunchCompiler.of({ compile, launchSchema })
  })
}

const reachedTimeLimit = ({ metadata }: LaunchRejected): boolean => {
  const errors = metadata?.["errors"]
  return Array.isArray(errors) && errors[0]?.keyword === TIME_LIMIT
}
