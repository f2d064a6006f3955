import type { CompileLaunchResult, ExampleRun, ExampleRunRequest, HostedAgent, LauncherError } from "@runplane/api"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { AgentHost } from "../agents/AgentHost.ts"
import { AgentTokens } from "../agents/AgentTokens.ts"
import { type CancelCallback, CancelCallbacks, publishedCallback } from "../agents/CancelCallbacks.ts"
import { distinct } from "../common/Json.ts"
import { agentAttachFailed, type FailedParticipant, failedParticipantsOf } from "../common/LaunchErrors.ts"
import { LaunchCompiler } from "../compile/LaunchCompiler.ts"
import { PolicyRegistration } from "../control-plane/PolicyRegistration.ts"
import { RunFate } from "../control-plane/RunFate.ts"
import { RunSubmission } from "../control-plane/RunSubmission.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import { Casting, failedParticipant, hostedAgent, type Member } from "./Cast.ts"
import { type LaunchWatch, makeLaunchWatch } from "./LaunchWatch.ts"

type Callbacks = ReadonlyMap<string, CancelCallback>

/**
 * The example flow (docs/launch.md#example-flow): compile, judge whether the launch can work, start the agents one at a
 * time with the initiator first, and meanwhile submit the run to the control plane. When an agent does not attach, or
 * ends before the session is open, the launch's other agents are stopped again and the run says why.
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
      const casting = yield* Casting
      const policies = yield* PolicyRegistration
      const tokens = yield* AgentTokens
      const host = yield* AgentHost
      const cancelCallbacks = yield* CancelCallbacks
      const submission = yield* RunSubmission
      const fate = yield* RunFate
      const service = yield* Effect.scope

      const run = Effect.fn("ExampleRuns.run")(function* (request: ExampleRunRequest) {
        const compiled = withOverrides(yield* compiler.compile(request), request)
        if (!(request.bootstrapAgents ?? settings.autoBootstrapAgents)) return { compiled, hostedAgents: [] }
        const members = yield* casting.cast(compiled)
        yield* policies.ensure(compiled.runDescriptor.session.policyVersion)
        return yield* launch(compiled, members)
      })

      const launch = Effect.fnUntraced(function* (compiled: CompileLaunchResult, members: ReadonlyArray<Member>) {
        const { sessionId } = compiled
        const callbacks = yield* cancelCallbacks.assign(
          sessionId,
          members.flatMap(({ binding, manifest }) => (manifest === undefined ? [] : [binding.participantId]))
        )
        // It goes on when the launch fails meanwhile: a run that was made has to be told of it.
        const submitted = yield* Effect.forkIn(submission.submit(withCancelCallback(compiled, callbacks)), service)
        const submittedRun = Fiber.join(submitted)
        const { sessionOpenTimeoutMs: openTimeoutMs } = settings
        const watch = yield* makeLaunchWatch({ sessionId, openTimeoutMs, run: submittedRun, fate, host }, service)
        return yield* Effect.gen(function* () {
          const hosted = yield* attachAll(compiled, members, callbacks, watch)
          const controlPlaneRun = yield* submittedRun
          if (!(yield* watch.settle)) return yield* agentAttachFailed(sessionId, yield* watch.dead)
          return {
            compiled,
            hostedAgents: hosted,
            sessionId,
            ...Option.match(controlPlaneRun, {
              onNone: () => ({}),
              onSome: (accepted) => ({ controlPlaneRun: accepted })
            })
          }
        }).pipe(
          // A caller that goes away, like a failure, leaves nothing half-started behind.
          Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : watch.fail(whyFailed(exit.cause))))
        )
      })

      /** Every agent in declaration order; a failure of the initiator ends it at once, others are all reported. */
      const attachAll = Effect.fnUntraced(function* (
        compiled: CompileLaunchResult,
        members: ReadonlyArray<Member>,
        callbacks: Callbacks,
        watch: LaunchWatch
      ) {
        const initiatorId = compiled.initiator?.participantId
        const isInitiator = ({ binding }: Member) => binding.participantId === initiatorId
        const hosted = new Map<Member, HostedAgent>()
        const failed: Array<FailedParticipant> = []
        const attaching = Effect.gen(function* () {
          for (const member of [...members.filter(isInitiator), ...members.filter((other) => !isInitiator(other))]) {
            const result = yield* attachOne(compiled, member, callbacks, watch).pipe(
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
        callbacks: Callbacks,
        watch: LaunchWatch
      ) {
        const { binding, manifest, profile } = member
        if (manifest === undefined) return hostedAgent(member, { processAttached: false })
        const { participantId } = binding
        const { modeName, ttlMs } = compiled.runDescriptor.session
        const isInitiator = compiled.initiator?.participantId === participantId
        const token = yield* tokens.tokenFor({ participantId, modeName, isInitiator, minLifeMs: ttlMs })
        const { framework } = profile
        const assignment = { compiled, binding, token, framework, cancelCallback: callbacks.get(participantId) }
        const agent = yield* host.attach(assignment, manifest)
        yield* watch.add(binding, agent)
        return hostedAgent(member, {
          processAttached: true,
          pid: agent.pid,
          launchMode: "adapter",
          adapterFramework: framework
        })
      })

      return ExampleRuns.of({ run })
    })
  )
}

/** The failed ones as the scenario declares them, each once. */
const inOrderOf = (members: ReadonlyArray<Member>, failed: ReadonlyArray<FailedParticipant>) =>
  members.flatMap(({ binding }) => failed.find(({ participantId }) => participantId === binding.participantId) ?? [])

/** What the run is told of a launch that failed. */
const whyFailed = (cause: Cause.Cause<LauncherError>): string => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (failure === undefined) return "the launch was broken off"
  const failed = failedParticipantsOf(failure)
  return failed.length === 0
    ? `${failure.errorCode}: ${failure.message}`
    : failed.map(({ agentRef, participantId, reason }) => `agent ${participantId} (${agentRef}): ${reason}`).join("; ")
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
