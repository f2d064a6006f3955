import type { CompileLaunchResult, ControlPlaneRun, ExampleRunRequest, LaunchUnaffordable } from "@runplane/api"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { AgentAssignment } from "../../src/agents/AgentBootstrap.ts"
import { AgentHost, type EndedAgent } from "../../src/agents/AgentHost.ts"
import { AgentSlots } from "../../src/agents/AgentSlots.ts"
import { AgentTokens } from "../../src/agents/AgentTokens.ts"
import { type CancelCallback, CancelCallbacks } from "../../src/agents/CancelCallbacks.ts"
import { AgentCatalog, type AgentProfile } from "../../src/catalog/AgentCatalog.ts"
import { AgentNotAttached, authMintFailed, invalidConfig } from "../../src/common/LaunchErrors.ts"
import { LaunchPressure } from "../../src/common/LaunchPressure.ts"
import { LaunchCompiler } from "../../src/compile/LaunchCompiler.ts"
import { type Abandonment, type FoundRun, LaunchedRuns, type RunPhase } from "../../src/control-plane/LaunchedRuns.ts"
import { PolicyRegistration } from "../../src/control-plane/PolicyRegistration.ts"
import { ExampleRuns } from "../../src/examples/ExampleRuns.ts"
import { ParticipantAgents } from "../../src/examples/ParticipantAgents.ts"
import type { LauncherOptions } from "../../src/LauncherSettings.ts"
import { People } from "../../src/people/People.ts"
import { Shadows } from "../../src/shadows/Shadows.ts"
import { compiledLaunch, profile, SESSION_ID } from "../fixtures/Compiled.ts"
import { memoryFiles } from "../fixtures/MemoryFiles.ts"
import { settingsLayer } from "../fixtures/Settings.ts"

export const manifest = (changes: object = {}) =>
  JSON.stringify({
    id: "a",
    name: "A",
    framework: "custom",
    entrypoint: { type: "node_file", value: "m" },
    ...changes
  })

export interface Scene {
  readonly compiled?: CompileLaunchResult
  readonly profiles?: ReadonlyArray<AgentProfile>
  readonly manifests?: Readonly<Record<string, string>>
  /** Participants whose process does not stay. */
  readonly failing?: ReadonlyArray<string>
  readonly mintFails?: boolean
  /** Agents that cannot be started, by the id in their manifests. */
  readonly unstartable?: ReadonlyArray<string>
  /** Ends of processes that were attached, by participant; the others live on. */
  readonly ends?: Readonly<Record<string, Effect.Effect<EndedAgent>>>
  /** What the control plane makes of a run that is given up. */
  readonly abandonment?: Abandonment
  /** What the control plane says of the run. */
  readonly phase?: () => RunPhase
  /** Done when the agents are stopped. */
  /** What the control plane has of a session. */
  readonly found?: (sessionId: string) => FoundRun | undefined
  readonly stopped?: Deferred.Deferred<void>
  /** The policy of the launch is not registered. */
  readonly policyMissing?: boolean
  readonly attachment?: Effect.Effect<void>
  readonly submission?: Effect.Effect<Option.Option<ControlPlaneRun>, LaunchUnaffordable>
  readonly settings?: LauncherOptions
  /** What every agent is assigned, with its name as the bearer. */
  readonly callback?: Omit<CancelCallback, "bearer">
  readonly joinHeader?: string
}

export const ALL = ["agent-a", "agent-b", "agent-c"]
export const accepted: ControlPlaneRun = { runId: SESSION_ID, sessionId: SESSION_ID, status: "queued", traceId: "t" }

const withSession = (compiled: CompileLaunchResult, sessionId = compiled.sessionId): CompileLaunchResult => {
  const { runDescriptor } = compiled
  return {
    ...compiled,
    sessionId,
    runDescriptor: { ...runDescriptor, session: { ...runDescriptor.session, sessionId } }
  }
}

/** The example flow over made-up agents; `log` has the calls in their order. */
export const stage = (scene: Scene) => {
  const log: Array<string> = []
  const submitted: Array<CompileLaunchResult["runDescriptor"]> = []
  const joinHeaders: Array<string | undefined> = []
  const assigned = new Map<string, AgentAssignment["cancelCallback"]>()
  const note = (text: string) => Effect.sync(() => void log.push(text))
  const manifests = scene.manifests ?? Object.fromEntries(ALL.map((ref) => [ref, manifest()]))
  const layer = ExampleRuns.layer.pipe(
    Layer.provide(AgentSlots.layer.pipe(Layer.provide([LaunchPressure.layer, settingsLayer(scene.settings ?? {})]))),
    Layer.provide(ParticipantAgents.layer),
    Layer.provide([People.layerNone, Shadows.layerNone]),
    Layer.provide(
      Layer.mergeAll(
        Layer.mock(LaunchCompiler, {
          compile: (_request, sessionId) => Effect.succeed(withSession(scene.compiled ?? compiledLaunch(), sessionId))
        }),
        AgentCatalog.layerMemory(scene.profiles ?? ALL.map((ref) => profile(ref))),
        Layer.succeed(AgentTokens, {
          renewals: () => Stream.never,
          tokenFor: ({ participantId, isInitiator }) =>
            scene.mintFails
              ? Effect.fail(authMintFailed("auth-service returned 500", 500))
              : Effect.as(note(`mint ${participantId}${isInitiator ? " as initiator" : ""}`), `token-${participantId}`)
        }),
        Layer.succeed(AgentHost, {
          check: ({ id }) =>
            scene.unstartable?.includes(id) ? Effect.fail(new AgentNotAttached({ reason: `no ${id}` })) : Effect.void,
          attach: ({ binding, cancelCallback, joinHeader }) =>
            Effect.gen(function* () {
              assigned.set(binding.participantId, cancelCallback)
              joinHeaders.push(joinHeader)
              yield* note(`attach ${binding.participantId}`)
              yield* scene.attachment ?? Effect.void
              if (scene.failing?.includes(binding.participantId)) return yield* new AgentNotAttached({ reason: "gone" })
              const ended = scene.ends?.[binding.participantId] ?? Effect.never
              return {
                pid: 100,
                ended,
                hasEnded: Effect.succeed(false),
                stop: note(`stop ${binding.participantId}`),
                lastLines: Effect.succeed([`line of ${binding.participantId}`])
              }
            }),
          stopRun: (runId) =>
            Effect.andThen(
              note(`stop ${runId}`),
              scene.stopped === undefined ? Effect.void : Deferred.succeed(scene.stopped, undefined)
            ),
          running: Effect.succeed([]),
          killed: Effect.succeed(0)
        }),
        Layer.succeed(CancelCallbacks, {
          assign: (_runId, participants) =>
            Effect.succeed(
              new Map(
                participants.flatMap((name) => (scene.callback ? [[name, { ...scene.callback, bearer: name }]] : []))
              )
            )
        }),
        Layer.mock(PolicyRegistration, {
          ensure: (policyId) =>
            scene.policyMissing ? Effect.fail(invalidConfig(`policy ${policyId} is not registered`)) : Effect.void
        }),
        Layer.succeed(LaunchedRuns, {
          submit: (descriptor) => {
            submitted.push(descriptor)
            return scene.submission ?? Effect.succeedNone
          },
          joinHeader: () => Effect.succeed(scene.joinHeader),
          abandon: (_runId, reason) => Effect.as(note(`abandon: ${reason}`), scene.abandonment ?? "abandoned"),
          phase: () => Effect.succeed(scene.phase?.() ?? "waiting"),
          find: (sessionId) => Effect.succeed(scene.found?.(sessionId)),
          fail: () => Effect.void,
          waiting: Effect.succeed({ runs: 0, since: undefined }),
          dropped: Effect.succeed({ refused: 0, expired: 0, full: 0 })
        }),
        settingsLayer({ agentsDir: "/agents", ...scene.settings }),
        memoryFiles(
          Object.fromEntries(Object.entries(manifests).map(([ref, text]) => [`/agents/manifests/${ref}.json`, text]))
        )
      )
    )
  )
  const run = (request: Partial<ExampleRunRequest> = {}) =>
    Effect.flatMap(ExampleRuns, (runs) => runs.run({ scenarioRef: "demo/one@1.0.0", inputs: {}, ...request })).pipe(
      Effect.provide(layer)
    )
  return { log, run, service: layer, submitted, assigned, joinHeaders }
}
