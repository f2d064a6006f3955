import type { CompileLaunchResult, ExampleRun, ExampleRunRequest, HostedAgent, LauncherError } from "@runplane/api"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Result from "effect/Result"
import { AgentHost, AgentNotAttached } from "../agents/AgentHost.ts"
import { type AgentManifest, isHosted, parseManifest, readManifestText } from "../agents/AgentManifest.ts"
import { AgentTokens } from "../agents/AgentTokens.ts"
import { type CancelCallback, CancelCallbacks, publishedCallback } from "../agents/CancelCallbacks.ts"
import { AgentCatalog, type AgentProfile } from "../catalog/AgentCatalog.ts"
import { distinct } from "../common/Json.ts"
import { agentAttachFailed, type FailedParticipant, invalidConfig } from "../common/LaunchErrors.ts"
import { LaunchCompiler } from "../compile/LaunchCompiler.ts"
import { RunSubmission } from "../control-plane/RunSubmission.ts"
import { LauncherSettings } from "../LauncherSettings.ts"

type Binding = CompileLaunchResult["participantBindings"][number]

type Callbacks = ReadonlyMap<string, CancelCallback>

interface Cast {
  readonly binding: Binding
  readonly profile: AgentProfile
  /** How an attached agent is started, or why that cannot be known; undefined for the others. */
  readonly manifest: Result.Result<AgentManifest, AgentNotAttached> | undefined
}

/**
 * The example flow: compile, start the agents one at a time with the initiator first, and meanwhile submit the run to
 * the control plane. When an agent does not attach, the run's other agents are stopped again.
 */
export class ExampleRuns extends Context.Service<
  ExampleRuns,
  {
    readonly run: (request: ExampleRunRequest) => Effect.Effect<ExampleRun, LauncherError>
  }
>()("runplane/launcher/ExampleRuns") {
  static readonly layer = Layer.effect(
    ExampleRuns,
    Effect.gen(function* () {
      const settings = yield* LauncherSettings
      const compiler = yield* LaunchCompiler
      const catalog = yield* AgentCatalog
      const tokens = yield* AgentTokens
      const host = yield* AgentHost
      const cancelCallbacks = yield* CancelCallbacks
      const submission = yield* RunSubmission
      const files = yield* Effect.context<FileSystem.FileSystem | Path.Path>()

      const run = Effect.fn("ExampleRuns.run")(function* (request: ExampleRunRequest) {
        const compiled = withOverrides(yield* compiler.compile(request), request)
        if (!(request.bootstrapAgents ?? settings.autoBootstrapAgents)) return { compiled, hostedAgents: [] }
        const members = yield* Effect.forEach(compiled.participantBindings, (binding) =>
          Effect.map(catalog.get(binding.agentRef), (profile) => ({ binding, profile }))
        )
        // A wrong configuration shows before anything is started or submitted.
        const cast = yield* Effect.forEach(members, (member) =>
          Effect.map(manifestOf(member.profile), (manifest): Cast => ({ ...member, manifest }))
        )
        const attached = cast.filter(({ profile }) => profile.bootstrapMode === "attached")
        const callbacks = yield* cancelCallbacks.assign(
          compiled.sessionId,
          attached.map(({ binding }) => binding.participantId)
        )
        const { hosted, controlPlaneRun } = yield* Effect.all(
          {
            hosted: attachAll(compiled, cast, callbacks),
            controlPlaneRun: submission.submit(withCancelCallback(compiled, callbacks))
          },
          { concurrency: "unbounded" }
        ).pipe(
          // A caller that goes away, like a failure, leaves no half-started run behind. A run that the control plane
          // has accepted by then stays there, and ends when somebody cancels it or its time is over.
          Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : host.stopRun(compiled.sessionId)))
        )
        return {
          compiled,
          hostedAgents: hosted,
          sessionId: compiled.sessionId,
          ...Option.match(controlPlaneRun, {
            onNone: () => ({}),
            onSome: (accepted) => ({ controlPlaneRun: accepted })
          })
        }
      })

      /** Every agent in declaration order; a failure of the initiator ends it at once, others are all reported. */
      const attachAll = Effect.fnUntraced(function* (
        compiled: CompileLaunchResult,
        cast: ReadonlyArray<Cast>,
        callbacks: Callbacks
      ) {
        const initiatorId = compiled.initiator?.participantId
        const isInitiator = ({ binding }: Cast) => binding.participantId === initiatorId
        const hosted = new Map<Cast, HostedAgent>()
        const failed: Array<FailedParticipant> = []
        for (const member of [...cast.filter(isInitiator), ...cast.filter((other) => !isInitiator(other))]) {
          const result = yield* attachOne(compiled, member, callbacks.get(member.binding.participantId)).pipe(
            Effect.map(Result.succeed),
            Effect.catchTag("AgentNotAttached", (failure) => Effect.succeed(Result.fail(failure)))
          )
          if (Result.isSuccess(result)) hosted.set(member, result.success)
          else {
            const { participantId, agentRef } = member.binding
            failed.push({ participantId, agentRef, reason: result.failure.reason })
            if (isInitiator(member)) break
          }
        }
        if (failed.length > 0) {
          return yield* agentAttachFailed(compiled.sessionId, failed)
        }
        return cast.flatMap((member) => hosted.get(member) ?? [])
      })

      const attachOne = Effect.fnUntraced(function* (
        compiled: CompileLaunchResult,
        { binding, manifest, profile }: Cast,
        cancelCallback: CancelCallback | undefined
      ) {
        if (manifest === undefined) return hostedAgent(binding, profile, { processAttached: false })
        const started = yield* Effect.fromResult(manifest)
        const { modeName, ttlMs } = compiled.runDescriptor.session
        const isInitiator = compiled.initiator?.participantId === binding.participantId
        const token = yield* tokens.tokenFor({
          participantId: binding.participantId,
          modeName,
          isInitiator,
          minLifeMs: ttlMs
        })
        const { framework } = profile
        const { pid } = yield* host.attach({ compiled, binding, token, framework, cancelCallback }, started)
        return hostedAgent(binding, profile, {
          processAttached: true,
          pid,
          launchMode: "adapter",
          adapterFramework: framework
        })
      })

      const manifestOf = Effect.fnUntraced(function* ({ agentRef, bootstrapMode, framework }: AgentProfile) {
        if (bootstrapMode !== "attached") return undefined
        if (!isHosted(framework)) {
          return yield* invalidConfig(`no host adapter registered for framework "${framework}" (agentRef=${agentRef})`)
        }
        const text = yield* Effect.result(Effect.provideContext(readManifestText(settings.agentsDir, agentRef), files))
        if (Result.isFailure(text)) {
          return Result.fail(new AgentNotAttached({ reason: `manifest cannot be read: ${text.failure.reason._tag}` }))
        }
        if (text.success === undefined) {
          return yield* invalidConfig(`agent manifest missing for ${agentRef}`)
        }
        return Result.mapError(
          parseManifest(text.success),
          (problems) => new AgentNotAttached({ reason: problems.join("; ") })
        )
      })

      return ExampleRuns.of({ run })
    })
  )
}

/** The caller's tags are added, its requester and run label replace; all apply without agents too. */
const withOverrides = (
  compiled: CompileLaunchResult,
  { tags, requester, runLabel }: ExampleRunRequest
): CompileLaunchResult => {
  const { runDescriptor } = compiled
  const { session, execution } = runDescriptor
  return {
    ...compiled,
    runDescriptor: {
      ...runDescriptor,
      session: runLabel ? { ...session, metadata: { ...session.metadata, runLabel } } : session,
      execution: {
        ...execution,
        ...(tags === undefined ? {} : { tags: distinct([...(execution?.tags ?? []), ...tags]) }),
        ...(requester === undefined ? {} : { requester })
      }
    }
  }
}

/**
 * The descriptor as it is submitted: it tells the control plane where to ask the initiator for a cancellation. The
 * answer to our own caller does not, because of the bearer. A callback of the pack's own is left alone.
 */
const withCancelCallback = (
  { initiator, runDescriptor }: CompileLaunchResult,
  callbacks: Callbacks
): CompileLaunchResult["runDescriptor"] => {
  const assigned = initiator === undefined ? undefined : callbacks.get(initiator.participantId)
  const cancelCallback = assigned === undefined ? undefined : publishedCallback(assigned)
  if (cancelCallback === undefined) return runDescriptor
  const { session } = runDescriptor
  return { ...runDescriptor, session: { ...session, metadata: { cancelCallback, ...session.metadata } } }
}

const hostedAgent = (
  binding: Binding,
  profile: AgentProfile,
  participantMetadata: HostedAgent["participantMetadata"]
): HostedAgent => ({
  ...profile,
  role: binding.role || profile.role,
  participantId: binding.participantId,
  status: "bootstrapped",
  participantMetadata
})
