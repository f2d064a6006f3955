import type { CompileLaunchResult, HostedAgent, LauncherError, LaunchRejected } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Result from "effect/Result"
import { AgentHost } from "../agents/AgentHost.ts"
import { type AgentManifest, isHosted, parseManifest, readManifestText } from "../agents/AgentManifest.ts"
import { manifestFaults } from "../agents/ManifestFaults.ts"
import { AgentCatalog, type AgentProfile } from "../catalog/AgentCatalog.ts"
import { AgentNotAttached, agentAttachFailed, type FailedParticipant, invalidConfig } from "../common/LaunchErrors.ts"
import { LauncherSettings, type LauncherSettingsShape } from "../LauncherSettings.ts"

export type Binding = CompileLaunchResult["participantBindings"][number]

/** A participant of a launch and the agent that plays it. */
export interface Member {
  readonly binding: Binding
  readonly profile: AgentProfile
  /** How an attached agent is started; undefined for an agent without a process. */
  readonly manifest: AgentManifest | undefined
}

/**
 * Finds the agents of a launch and checks that they can be started, before any of them is
 * (docs/internals/launch.md#before-start).
 */
export class ParticipantAgents extends Context.Service<
  ParticipantAgents,
  {
    /** In declaration order. Every member that cannot be started is in `failedParticipants` of the failure. */
    readonly resolve: (
      compiled: CompileLaunchResult
    ) => Effect.Effect<ReadonlyArray<Member>, Exclude<LauncherError, LaunchRejected>>
    /** An agent with a process, for a shadow. */
    readonly find: (
      agentRef: string
    ) => Effect.Effect<{ readonly framework: string; readonly manifest: AgentManifest }, { readonly message: string }>
  }
>()("runplane/launcher/ParticipantAgents") {
  static readonly layer = Layer.effect(
    ParticipantAgents,
    Effect.gen(function* () {
      const settings = yield* LauncherSettings
      const { agentsDir } = settings
      const catalog = yield* AgentCatalog
      const host = yield* AgentHost
      const files = yield* Effect.context<FileSystem.FileSystem | Path.Path>()

      yield* Effect.forkScoped(Effect.provideContext(logFaults(settings, catalog.profiles), files))

      const manifestOf = Effect.fnUntraced(function* ({ agentRef, bootstrapMode, framework }: AgentProfile) {
        if (bootstrapMode !== "attached") return Result.succeed(undefined)
        if (!isHosted(framework)) {
          return yield* invalidConfig(`no host adapter registered for framework "${framework}" (agentRef=${agentRef})`)
        }
        const text = yield* Effect.result(Effect.provideContext(readManifestText(agentsDir, agentRef), files))
        if (Result.isFailure(text)) return notAttached(`manifest cannot be read: ${text.failure.reason._tag}`)
        if (text.success === undefined) return yield* invalidConfig(`agent manifest missing for ${agentRef}`)
        const parsed = parseManifest(text.success)
        if (Result.isFailure(parsed)) return notAttached(parsed.failure.join("; "))
        return yield* Effect.result(Effect.as(host.check(parsed.success), parsed.success))
      })

      const resolve = Effect.fn("ParticipantAgents.resolve")(function* ({
        participantBindings,
        sessionId
      }: CompileLaunchResult) {
        const found = yield* Effect.forEach(participantBindings, (binding) =>
          Effect.map(catalog.get(binding.agentRef), (profile) => ({ binding, profile }))
        )
        const members: Array<Member> = []
        const failed: Array<FailedParticipant> = []
        for (const { binding, profile } of found) {
          const manifest: Result.Result<AgentManifest | undefined, AgentNotAttached> = yield* manifestOf(profile)
          if (Result.isSuccess(manifest)) members.push({ binding, profile, manifest: manifest.success })
          else failed.push(failedParticipant(binding, manifest.failure.reason))
        }
        if (failed.length > 0) return yield* agentAttachFailed(sessionId, failed)
        return members
      })

      const find = Effect.fn("ParticipantAgents.find")(function* (agentRef: string) {
        const profile = yield* catalog.get(agentRef)
        const manifest = yield* Effect.flatMap(manifestOf(profile), Effect.fromResult)
        if (manifest === undefined) return yield* new AgentNotAttached({ reason: `${agentRef} has no process` })
        return { framework: profile.framework, manifest }
      })

      return ParticipantAgents.of({ resolve, find })
    })
  )
}

/** Logs at the start which agents could not be started, before a caller launches them. */
const logFaults = Effect.fnUntraced(function* (settings: LauncherSettingsShape, profiles: ReadonlyArray<AgentProfile>) {
  for (const { file, line, message } of yield* manifestFaults(settings, profiles)) {
    yield* Effect.logWarning(`agents' folder: ${file}${line === undefined ? "" : `:${line}`}: ${message}`)
  }
})

const notAttached = (reason: string) => Result.fail(new AgentNotAttached({ reason }))

export const failedParticipant = ({ agentRef, participantId }: Binding, reason: string): FailedParticipant => ({
  participantId,
  agentRef,
  reason
})

/** A member as the answer shows it (docs/internals/launch.md#hosted-agents). */
export const hostedAgent = (
  { binding, profile }: Member,
  participantMetadata: HostedAgent["participantMetadata"]
): HostedAgent => ({
  ...profile,
  role: binding.role || profile.role,
  participantId: binding.participantId,
  status: "bootstrapped",
  participantMetadata
})
