import type {
  AgentProcess,
  CatalogEntryNotFound,
  CompileLaunchResult,
  ControlPlaneRun,
  ExampleRun,
  ExampleRunRequest,
  HostedAgent,
  LauncherError,
  LaunchQueue
} from "@runplane/api"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { AgentHost, type AttachedAgent, type RunningAgent } from "../agents/AgentHost.ts"
import { type AgentLease, AgentSlots } from "../agents/AgentSlots.ts"
import { AgentTokens } from "../agents/AgentTokens.ts"
import { type CancelCallback, CancelCallbacks } from "../agents/CancelCallbacks.ts"
import {
  agentAttachFailed,
  compilationFailed,
  type FailedParticipant,
  failedParticipantsOf,
  processNotFound
} from "../common/LaunchErrors.ts"
import { undecodable } from "../compile/Extensions.ts"
import { LaunchCompiler } from "../compile/LaunchCompiler.ts"
import { type FoundRun, LaunchedRuns } from "../control-plane/LaunchedRuns.ts"
import { PolicyRegistration } from "../control-plane/PolicyRegistration.ts"
import { controlPlaneForPeople, LauncherSettings, type LauncherSettingsShape } from "../LauncherSettings.ts"
import { launchedSeats, longestLifeMs } from "../people/LaunchedSeats.ts"
import { People } from "../people/People.ts"
import { Shadows } from "../shadows/Shadows.ts"
import { type KeyedLaunch, makeLaunchKeys } from "./LaunchKeys.ts"
import { startShadows } from "./LaunchShadows.ts"
import { type LaunchWatch, makeLaunchWatch } from "./LaunchWatch.ts"
import { failedParticipant, hostedAgent, type Member, ParticipantAgents } from "./ParticipantAgents.ts"
import { makeRunEnds } from "./RunEnds.ts"
import { withCancelCallback, withLaunch, withOverrides } from "./SubmittedDescriptor.ts"

/** What the agents of a launch are given beside their part in it. */
interface Given {
  readonly callbacks: ReadonlyMap<string, CancelCallback>
  readonly joinHeader: string | undefined
}

/**
 * The example flow (docs/internals/launch.md#example-flow): compile, check that the agents can start, start them one at
 * a time with the initiator first, and meanwhile submit the run to the control plane. When an agent does not attach, or
 * ends before the session is open, the other agents of the launch are stopped and the run fails with the reason.
 * Agents that still run after the end of their run are stopped, too.
 */
export class ExampleRuns extends Context.Service<
  ExampleRuns,
  {
    /** `requester` is the person who launches, if it is known: it may not answer for a seat of the session. */
    readonly run: (request: ExampleRunRequest, requester?: string) => Effect.Effect<ExampleRun, LauncherError>
    /** A launch into a session that its caller chooses, and begins once. */
    readonly launch: (
      request: ExampleRunRequest,
      keyed: KeyedLaunch,
      requester?: string
    ) => Effect.Effect<ExampleRun, LauncherError>
    /** The launches that wait for slots. */
    readonly queue: Effect.Effect<LaunchQueue>
    /** The agents that run, the oldest first. */
    readonly processes: Effect.Effect<ReadonlyArray<AgentProcess>>
    /** Stops an agent and waits for its end. */
    readonly stopProcess: (id: string) => Effect.Effect<void, CatalogEntryNotFound>
    readonly stops: Effect.Effect<AgentStops>
  }
>()("runplane/launcher/ExampleRuns") {
  static readonly layer = Layer.effect(
    ExampleRuns,
    Effect.gen(function* () {
      const settings = yield* LauncherSettings
      const compiler = yield* LaunchCompiler
      const participants = yield* ParticipantAgents
      const policies = yield* PolicyRegistration
      const tokens = yield* AgentTokens
      const host = yield* AgentHost
      const cancelCallbacks = yield* CancelCallbacks
      const runs = yield* LaunchedRuns
      const slots = yield* AgentSlots
      const shadows = yield* Shadows
      const seats = launchedSeats(yield* People)
      const service = yield* Effect.scope
      const runEnds = makeRunEnds({ runs, graceMs: settings.agentExitGraceMs }, service)
      let stoppedByCallers = 0

      const bootstraps = ({ bootstrapAgents }: ExampleRunRequest) => bootstrapAgents ?? settings.autoBootstrapAgents

      const compile = (request: ExampleRunRequest, keyed: KeyedLaunch | undefined) =>
        Effect.map(compiler.compile(request, keyed?.sessionId), (compiled) => {
          const requested = withOverrides(compiled, request)
          return bootstraps(request) ? withLaunch(requested, request, keyed) : requested
        })

      const runOnce = Effect.fnUntraced(function* (
        request: ExampleRunRequest,
        keyed?: KeyedLaunch,
        requester?: string
      ) {
        const compiled = yield* compile(request, keyed)
        if (!bootstraps(request)) return { compiled, hostedAgents: [] }
        const members = yield* participants.resolve(compiled)
        const needed = members.filter(({ manifest }) => manifest !== undefined).length
        const broken = undecodable(compiled.initiator?.sessionStart.extensions)
        if (needed > 0 && broken !== undefined) return yield* compilationFailed(broken)
        yield* policies.ensure(compiled.runDescriptor.session.policyVersion)
        const { scenarioRef } = request
        const about = {
          sessionId: compiled.sessionId,
          scenarioRef,
          ...(request.runLabel && { runLabel: request.runLabel })
        }
        return yield* Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(slots.acquire(needed, about), (lease) => {
            const launchSlots = makeLaunchSlots(needed, lease, service)
            return restore(launch(compiled, members, launchSlots, requester)).pipe(
              Effect.onExit((exit) => launchSlots.settle(Exit.isSuccess(exit)))
            )
          })
        )
      })

      /** The answer of an earlier launch, with the agents that still run. */
      const replay = Effect.fnUntraced(function* (request: ExampleRunRequest, keyed: KeyedLaunch, { run }: FoundRun) {
        const compiled = yield* compile(request, keyed)
        const { sessionId } = keyed
        const running = (yield* host.running).filter((agent) => agent.runId === sessionId)
        const hostedAgents = (yield* participants.resolve(compiled)).map((member) => {
          const agent = running.find(({ participantId }) => participantId === member.binding.participantId)
          return hostedAgent(
            member,
            agent?.pid === undefined ? { processAttached: false } : attachedAs(member, agent.pid)
          )
        })
        return { compiled, hostedAgents, sessionId, controlPlaneRun: run, ...linksOf(run, settings) }
      })

      const keys = makeLaunchKeys({ runs, launch: runOnce, replay }, service)
      // Without agents nothing is started, and a key has nothing to hold back.
      const run = Effect.fn("ExampleRuns.run")((request: ExampleRunRequest, requester?: string) =>
        request.idempotencyKey === undefined || !bootstraps(request)
          ? runOnce(request, undefined, requester)
          : keys(request.idempotencyKey, request, requester)
      )

      const launch = Effect.fnUntraced(function* (
        compiled: CompileLaunchResult,
        members: ReadonlyArray<Member>,
        launchSlots: LaunchSlots,
        requester: string | undefined
      ) {
        const { sessionId } = compiled
        yield* seats.add(compiled, requester)
        const callbacks = yield* cancelCallbacks.assign(
          sessionId,
          members.flatMap(({ binding, manifest }) => (manifest === undefined ? [] : [binding.participantId]))
        )
        const hasAgents = members.some(({ manifest }) => manifest !== undefined)
        // A launch that says nothing about telemetry makes no further request.
        const joinHeader =
          hasAgents && compiled.runDescriptor.telemetry !== undefined
            ? yield* runs.joinHeader(compiled.runDescriptor)
            : undefined
        const given = { callbacks, joinHeader }
        // In the background: when the launch fails meanwhile, the control plane has to learn that of the accepted run.
        const submitted = yield* Effect.forkIn(runs.submit(withCancelCallback(compiled, callbacks)), service)
        const submittedRun = Fiber.join(submitted)
        const acceptedRun = Effect.orElseSucceed(submittedRun, () => Option.none<ControlPlaneRun>())
        const refused = Effect.andThen(submittedRun, Effect.never)
        const { sessionOpenTimeoutMs: openTimeoutMs } = settings
        const watch = yield* makeLaunchWatch({ sessionId, openTimeoutMs, run: acceptedRun, runs, host }, service)
        return yield* Effect.gen(function* () {
          // A budget that refuses the run ends the launch, and with it the agents that have started.
          const hosted = yield* Effect.raceFirst(attachAll(compiled, members, given, watch, launchSlots), refused)
          const controlPlaneRun = yield* Effect.raceFirst(submittedRun, Effect.as(watch.broken, Option.none()))
          if (!(yield* watch.settle)) return yield* agentAttachFailed(sessionId, yield* watch.dead)
          const ttlMs = longestLifeMs(compiled)
          yield* runEnds.follow({ sessionId, ttlMs, run: controlPlaneRun, agents: yield* watch.agents })
          yield* startShadows({ participants, runs, shadows }, compiled, ttlMs)
          return {
            compiled,
            hostedAgents: hosted,
            sessionId,
            ...Option.match(controlPlaneRun, {
              onNone: () => ({}),
              onSome: (accepted) => ({ controlPlaneRun: accepted, ...linksOf(accepted, settings) })
            }),
            ...(launchSlots.waited === undefined ? {} : { queue: launchSlots.waited })
          }
        }).pipe(
          // An interrupted request ends its agents like a failed one.
          Effect.onExit((exit) => {
            if (Exit.isSuccess(exit)) return Effect.void
            const why = whyFailed(exit.cause)
            // The submission may still be under way, and be repeated later.
            const failLater = Effect.andThen(Fiber.await(submitted), runs.fail(sessionId, why))
            return watch
              .fail(why)
              .pipe(Effect.andThen(seats.abandon(compiled)), Effect.andThen(Effect.forkIn(failLater, service)))
          })
        )
      })

      /** Every agent in declaration order. A failure of the initiator ends the launch at once; others are collected. */
      const attachAll = Effect.fnUntraced(function* (
        compiled: CompileLaunchResult,
        members: ReadonlyArray<Member>,
        given: Given,
        watch: LaunchWatch,
        launchSlots: LaunchSlots
      ) {
        const initiatorId = compiled.initiator?.participantId
        const isInitiator = ({ binding }: Member) => binding.participantId === initiatorId
        const hosted = new Map<Member, HostedAgent>()
        const failed: Array<FailedParticipant> = []
        const attaching = Effect.gen(function* () {
          for (const member of [...members.filter(isInitiator), ...members.filter((other) => !isInitiator(other))]) {
            const result = yield* attachOne(compiled, member, given, watch, launchSlots).pipe(
              Effect.map(Result.succeed),
              Effect.catchTag("AgentNotAttached", (failure) => Effect.succeed(Result.fail(failure)))
            )
            if (Result.isSuccess(result)) {
              hosted.set(member, result.success)
              continue
            }
            failed.push(failedParticipant(member.binding, result.failure.reason))
            if (isInitiator(member)) break
          }
        })
        yield* Effect.raceFirst(attaching, watch.broken)
        const dead = yield* watch.dead
        if (failed.length > 0 || hosted.size < members.length) {
          return yield* agentAttachFailed(compiled.sessionId, inOrderOf(members, [...failed, ...dead]))
        }
        return members.flatMap((member) => hosted.get(member) ?? [])
      })

      const attachOne = Effect.fnUntraced(function* (
        compiled: CompileLaunchResult,
        member: Member,
        given: Given,
        watch: LaunchWatch,
        launchSlots: LaunchSlots
      ) {
        const { binding, manifest, profile } = member
        if (manifest === undefined) return hostedAgent(member, { processAttached: false })
        const { participantId } = binding
        const { modeName, ttlMs } = compiled.runDescriptor.session
        const isInitiator = compiled.initiator?.participantId === participantId
        const wanted = { participantId, modeName, isInitiator, minLifeMs: ttlMs }
        const token = yield* tokens.tokenFor(wanted)
        const renewals = tokens.renewals(wanted)
        const { framework } = profile
        const assignment = {
          compiled,
          binding,
          token,
          renewals,
          framework,
          cancelCallback: given.callbacks.get(participantId),
          joinHeader: given.joinHeader
        }
        const agent = yield* Effect.uninterruptibleMask((restore) =>
          Effect.tap(restore(host.attach(assignment, manifest)), launchSlots.occupy)
        )
        yield* watch.add(binding, agent)
        return hostedAgent(member, attachedAs(member, agent.pid))
      })

      const stopProcess = Effect.fn("ExampleRuns.stopProcess")(function* (id: string) {
        const process = (yield* host.running).find((running) => running.id === id)
        if (process === undefined) return yield* processNotFound(id)
        stoppedByCallers++
        yield* Effect.logWarning(`agent ${process.participantId} (${process.agentRef}) is stopped on request`)
        yield* process.stop
      })

      return ExampleRuns.of({
        run,
        launch: runOnce,
        queue: slots.queue,
        processes: Effect.map(host.running, (processes) =>
          processes.map((process) => shownProcess(process, runEnds.runOf(process.runId)))
        ),
        stopProcess,
        stops: Effect.gen(function* () {
          return { afterRunEnd: yield* runEnds.stopped, onRequest: stoppedByCallers, killed: yield* host.killed }
        })
      })
    })
  )
}

/** The slots of a launch: each agent releases its own when it ends, and a failed launch the remaining ones. */
const makeLaunchSlots = (needed: number, lease: AgentLease, service: Scope.Scope): LaunchSlots => {
  let left = needed
  return {
    waited: lease.waited,
    occupy: ({ ended }) => {
      left--
      return Effect.asVoid(Effect.forkIn(Effect.andThen(ended, lease.release(1)), service))
    },
    settle: (isLaunched) => (isLaunched || left === 0 ? Effect.void : lease.release(left))
  }
}

/** Agents that did not end by themselves, since the start of the service. */
export interface AgentStops {
  readonly afterRunEnd: number
  readonly onRequest: number
  /** All agents that did not end on SIGTERM. */
  readonly killed: number
}

interface LaunchSlots {
  readonly waited: AgentLease["waited"]
  /** An agent runs, and releases its slot when it ends. */
  readonly occupy: (agent: AttachedAgent) => Effect.Effect<void>
  readonly settle: (isLaunched: boolean) => Effect.Effect<void>
}

const shownProcess = (
  { agentRef, id, participantId, pid, runId: sessionId, scenarioRef, since, state }: RunningAgent,
  runId: string | undefined
): AgentProcess => ({
  id,
  ...(pid !== undefined && { pid }),
  state,
  since: new Date(since).toISOString(),
  sessionId,
  ...(runId !== undefined && { runId }),
  scenarioRef,
  participantId,
  agentRef
})

const attachedAs = ({ profile }: Member, pid: number): HostedAgent["participantMetadata"] => ({
  processAttached: true,
  pid,
  launchMode: "adapter",
  adapterFramework: profile.framework
})

/** The links to a run (docs/internals/launch.md#example-flow). */
const linksOf = ({ runId }: ControlPlaneRun, settings: LauncherSettingsShape): Pick<ExampleRun, "links"> => {
  const base = controlPlaneForPeople(settings)
  return base === undefined ? {} : { links: { run: `${base}/runs/${runId}`, page: `${base}/console/runs/${runId}` } }
}

/** The failed ones as the scenario declares them, each once. */
const inOrderOf = (members: ReadonlyArray<Member>, failed: ReadonlyArray<FailedParticipant>) =>
  members.flatMap(({ binding }) => failed.find(({ participantId }) => participantId === binding.participantId) ?? [])

/** The reason that the run of a failed launch gets. */
const whyFailed = (cause: Cause.Cause<LauncherError>): string => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (failure === undefined) return "the launch was interrupted"
  const failed = failedParticipantsOf(failure)
  return failed.length === 0
    ? `${failure.errorCode}: ${failure.message}`
    : failed.map(({ agentRef, participantId, reason }) => `agent ${participantId} (${agentRef}): ${reason}`).join("; ")
}
