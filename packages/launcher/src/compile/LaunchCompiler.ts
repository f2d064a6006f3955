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
import { AgentCatalog } from "../catalog/AgentCatalog.ts"
import { findVersion } from "../catalog/Catalog.ts"
import { TIME_LIMIT } from "../catalog/InputSchema.ts"
import { PackRegistry } from "../catalog/PackRegistry.ts"
import type { CompileFailure } from "../common/LaunchErrors.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import { compileLaunch } from "./CompileLaunch.ts"
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
  static readonly layer = Layer.effect(
    LaunchCompiler,
    Effect.gen(function* () {
      const registry = yield* PackRegistry
      const agents = yield* AgentCatalog
      const random = yield* SecureRandom.SecureRandom
      const { serviceName, environment } = yield* LauncherSettings

      const compile = Effect.fn("LaunchCompiler.compile")(function* (request: CompileRequest, given?: string) {
        const at = yield* Effect.fromResult(parseScenarioRef(request.scenarioRef))
        const scenario = yield* Effect.fromResult(findVersion(yield* registry.catalog, at))
        const sessionId = given ?? (yield* random.uuidV4())
        return yield* Effect.fromResult(compileLaunch(scenario, request, { sessionId, serviceName, environment })).pipe(
          Effect.tapErrorTag("LaunchRejected", (rejected) =>
            reachedTimeLimit(rejected)
              ? Effect.logWarning(`the input schema of ${request.scenarioRef} takes too long over some inputs`)
              : Effect.void
          )
        )
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
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

const reachedTimeLimit = ({ metadata }: LaunchRejected): boolean => {
  const errors = metadata?.["errors"]
  return Array.isArray(errors) && errors[0]?.keyword === TIME_LIMIT
}
