import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import { callingSpan, traceParentOf } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { AgentNotAttached } from "../common/LaunchErrors.ts"
import { LauncherSettings } from "../LauncherSettings.ts"
import { type AgentAssignment, bootstrapOf, environmentOf } from "./AgentBootstrap.ts"
import { agentCommand } from "./AgentCommand.ts"
import { type AgentManifest, startupTimeoutMs } from "./AgentManifest.ts"
import { OutputBudget, OutputTail, readOutput } from "./AgentOutput.ts"
import { type ProcessExit, spawnAgent } from "./AgentProcess.ts"
import { bootstrapFile, sweepBootstrapFiles } from "./BootstrapFile.ts"
import { printable } from "./LogLines.ts"
import { ProcessGuard } from "./ProcessGuard.ts"
import { AGENT_MARK } from "./ProcessTree.ts"

/** How long the last lines of an ended process are waited for, ms. */
const LOG_DRAIN_MS = 1_000

export interface AttachedAgent {
  readonly pid: number
  /** Waits for the end of its process. */
  readonly ended: Effect.Effect<EndedAgent>
  /** The last lines of its standard error output so far, oldest first. */
  readonly lastLines: Effect.Effect<ReadonlyArray<string>>
  readonly hasEnded: Effect.Effect<boolean>
  /** Ends its process, and waits for that. */
  readonly stop: Effect.Effect<void>
}

export interface EndedAgent extends ProcessExit {
  /** The last lines of its standard error output, oldest first. */
  readonly lastLines: ReadonlyArray<string>
}

/**
 * Keeps example agents running as processes of this machine. An agent is known by its run and participant; it belongs
 * to the host until it exits, its run is stopped, or the host's layer closes, and takes its bootstrap file with it.
 * Exited agents are not restarted.
 */
export class AgentHost extends Context.Service<
  AgentHost,
  {
    /** Whether everything that starts the agent is there: its working directory, script and interpreter. */
    readonly check: (manifest: AgentManifest) => Effect.Effect<void, AgentNotAttached>
    /** Starts an agent and waits for the confirmation; the running one is answered when the pair runs already. */
    readonly attach: (
      assignment: AgentAssignment,
      manifest: AgentManifest
    ) => Effect.Effect<AttachedAgent, AgentNotAttached>
    /** Stops the agents of a run, all at once. */
    readonly stopRun: (runId: string) => Effect.Effect<void>
    /** In the order of their starts. */
    readonly running: Effect.Effect<ReadonlyArray<RunningAgent>>
    /** Processes so far that did not end within their grace after SIGTERM. */
    readonly killed: Effect.Effect<number>
  }
>()("runplane/launcher/AgentHost") {
  /** Agents as child processes of this Node process. */
  static readonly layer = Layer.effect(
    AgentHost,
    Effect.gen(function* () {
      const settings = yield* LauncherSettings
      const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const hostScope = yield* Effect.scope
      const guard = yield* ProcessGuard
      const random = yield* SecureRandom.SecureRandom
      const swept = yield* sweepBootstrapFiles(settings.bootstrapDir)
      if (swept > 0)
        yield* Effect.logInfo(`removed the bootstrap files of ${swept} agents that an earlier service left behind`)
      const agents = new Map<string, HostedProcess>()
      let killed = 0

      const stop = (agent: HostedProcess) =>
        Effect.suspend(() => {
          agent.isStopping = true
          return Scope.close(agent.scope, Exit.void)
        })
      const stopAll = (chosen: ReadonlyArray<HostedProcess>) =>
        Effect.forEach(chosen, stop, { concurrency: "unbounded", discard: true })
      yield* Effect.addFinalizer(() => stopAll([...agents.values()]))

      const start = Effect.fnUntraced(function* (
        assignment: AgentAssignment,
        manifest: AgentManifest,
        { id, tail }: HostedProcess
      ) {
        const { compiled, binding } = assignment
        const name = assignment.shadow?.name ?? binding.participantId
        const command = yield* agentCommand(manifest, settings)
        const { file, rewrite } = yield* bootstrapFile(
          { folder: settings.bootstrapDir, reader: settings.agentUser },
          compiled.sessionId,
          name,
          bootstrapOf(assignment, settings)
        ).pipe(
          Effect.catchTag("PlatformError", (error) =>
            Effect.fail(new AgentNotAttached({ reason: `bootstrap file not written: ${error.reason._tag}` }))
          )
        )
        const launch = yield* callingSpan
        const trace = launch === undefined ? {} : { TRACEPARENT: traceParentOf(launch) }
        const mark = `${guard.mark}/${id}`
        const env = { ...command.env, ...environmentOf(assignment, settings, file), ...trace, [AGENT_MARK]: mark }
        const agent = yield* guard
          .around(
            spawnAgent({ ...command, env, mark, stopGraceMs: settings.agentStopGraceMs, user: settings.agentUser })
          )
          .pipe(Effect.mapError(({ message }) => new AgentNotAttached({ reason: message })))
        yield* Effect.forkScoped(
          Stream.runForEach(assignment.renewals ?? Stream.never, (token) =>
            Effect.catch(rewrite(bootstrapOf({ ...assignment, token }, settings)), (error) =>
              Effect.logWarning(`the renewed token of ${name} was not written: ${error.reason._tag}`)
            )
          ).pipe(
            Effect.catchDefect((defect) => Effect.logError(`the token of ${name} is not renewed any more`, defect))
          )
        )
        const prefix = `[${manifest.framework}:${name}:${compiled.sessionId}]`
        const ready = yield* Deferred.make<void>()
        const { readyText } = manifest.host
        const perSecond = settings.agentLogBytesPerSecond
        const budget = new OutputBudget(perSecond)
        const onCut = (bytes: number | undefined) =>
          Effect.logWarning(
            bytes === undefined
              ? `${prefix} writes more than ${perSecond} bytes a second: more is left out`
              : `${prefix} ${bytes} bytes of its output were left out`
          )
        const logs = yield* Effect.all([
          Effect.forkScoped(
            readOutput(
              agent.stdout,
              (line) =>
                Effect.andThen(
                  Effect.logInfo(`${prefix} ${printable(line)}`),
                  readyText !== undefined && line.includes(readyText) ? Deferred.succeed(ready, undefined) : Effect.void
                ),
              { budget, onCut }
            )
          ),
          Effect.forkScoped(
            readOutput(agent.stderr, (line) => Effect.logWarning(`${prefix} ${printable(line)}`), {
              budget,
              onCut,
              tail
            })
          )
        ])
        /** Its end, once its last lines have been read. */
        const ended = Effect.gen(function* () {
          const exit = yield* agent.exit
          yield* Effect.timeoutOption(Fiber.awaitAll(logs), LOG_DRAIN_MS)
          const known: EndedAgent = { ...exit, lastLines: tail.lines }
          return known
        })
        const isAttached = yield* readyText === undefined
          ? stays(agent.exit, settings.attachConfirmationMs)
          : announces(agent.exit, Deferred.await(ready), startupTimeoutMs(manifest))
        if (isAttached) return { agent, ended, prefix }
        const reason = endOf(yield* ended, "process exited before attach confirmed")
        return yield* new AgentNotAttached({ reason })
      })

      const attach = Effect.fn("AgentHost.attach")(function* (assignment: AgentAssignment, manifest: AgentManifest) {
        const runId = assignment.compiled.sessionId
        const { agentRef } = assignment.binding
        const participantId = assignment.shadow?.name ?? assignment.binding.participantId
        const key = JSON.stringify([runId, participantId])
        const running = agents.get(key)
        if (running !== undefined) return attached(running, stop(running))

        const scope = yield* Scope.make()
        const end = yield* Deferred.make<EndedAgent>()
        // Known from the first moment, so that a stop during the confirmation reaches it too.
        const hosted: HostedProcess = {
          id: yield* random.uuidV4(),
          runId,
          participantId,
          agentRef,
          scenarioRef: assignment.compiled.display.scenarioRef,
          since: yield* Clock.currentTimeMillis,
          scope,
          ended: end,
          tail: new OutputTail(),
          pid: 0,
          isStopping: false
        }
        agents.set(key, hosted)
        yield* Scope.addFinalizer(
          scope,
          Effect.sync(() => agents.delete(key))
        )
        return yield* Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const { agent, ended, prefix } = yield* restore(start(assignment, manifest, hosted)).pipe(
              Scope.provide(scope),
              Effect.provideContext(context),
              Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
            )
            hosted.pid = agent.pid
            yield* ended.pipe(
              Effect.tap((exit) => {
                if (hosted.isStopping && exit.signal === "SIGKILL") killed++
                return logExit(prefix, exit, hosted.isStopping)
              }),
              Effect.tap((exit) => Deferred.succeed(end, exit)),
              Effect.andThen(Scope.close(scope, Exit.void)),
              Effect.interruptible,
              Effect.forkIn(hostScope)
            )
            return attached(hosted, stop(hosted))
          })
        )
      })

      return AgentHost.of({
        check: (manifest) => Effect.asVoid(Effect.provideContext(agentCommand(manifest, settings), context)),
        attach,
        stopRun: (runId) =>
          Effect.suspend(() => stopAll([...agents.values()].filter((agent) => agent.runId === runId))),
        running: Effect.sync(() => [...agents.values()].map((agent) => runningOf(agent, stop(agent)))),
        killed: Effect.sync(() => killed)
      })
    })
  ).pipe(Layer.provide(ProcessGuard.layer), Layer.provide([NodeChildProcessSpawner.layer, SecureRandom.layerWebCrypto]))
}

export interface RunningAgent {
  /** UUID v4. */
  readonly id: string
  /** The session that its launch has allocated. */
  readonly runId: string
  readonly participantId: string
  readonly agentRef: string
  readonly scenarioRef: string
  /** Absent until the process is confirmed. */
  readonly pid?: number
  readonly state: "starting" | "running" | "stopping"
  /** Epoch ms. */
  readonly since: number
  readonly stop: Effect.Effect<void>
}

interface HostedProcess extends Omit<RunningAgent, "pid" | "state" | "stop"> {
  readonly scope: Scope.Closeable
  readonly ended: Deferred.Deferred<EndedAgent>
  readonly tail: OutputTail
  /** 0 until the process is confirmed. */
  pid: number
  /** Its end is then the host's own doing. */
  isStopping: boolean
}

const attached = ({ ended, pid, tail }: HostedProcess, stop: Effect.Effect<void>): AttachedAgent => ({
  pid,
  ended: Deferred.await(ended),
  hasEnded: Deferred.isDone(ended),
  lastLines: Effect.sync(() => tail.lines),
  stop
})

const runningOf = (
  { agentRef, id, isStopping, participantId, pid, runId, scenarioRef, since }: HostedProcess,
  stop: Effect.Effect<void>
): RunningAgent => ({
  id,
  runId,
  participantId,
  agentRef,
  scenarioRef,
  ...(pid > 0 && { pid }),
  state: isStopping ? "stopping" : pid > 0 ? "running" : "starting",
  since,
  stop
})

/** An agent exits with 0 when its part is done: a quick one may be, before its attach is confirmed. */
const isDone = ({ code }: ProcessExit): boolean => code === 0

/** An agent that is still alive after the confirmation time, or has ended well by then, counts as attached. */
const stays = (exit: Effect.Effect<ProcessExit>, forMs: number) =>
  Effect.map(Effect.timeoutOption(exit, forMs), Option.match({ onNone: () => true, onSome: isDone }))

/** An agent that announces itself in time, or has ended well by then, counts as attached; one that fails does not. */
const announces = (exit: Effect.Effect<ProcessExit>, ready: Effect.Effect<void>, withinMs: number) =>
  Effect.raceFirst(Effect.as(ready, true), Effect.map(exit, isDone)).pipe(
    Effect.timeoutOrElse({
      duration: withinMs,
      orElse: () =>
        Effect.fail(new AgentNotAttached({ reason: `process did not confirm attach within ${withinMs} ms` }))
    })
  )

/** How an agent ended, in one line: what happened, its exit, and its last lines of standard error output. */
export const endOf = ({ code, lastLines, signal }: EndedAgent, what: string): string =>
  [`${what} (code=${code}, signal=${signal})`, ...(lastLines.length === 0 ? [] : [lastLines.join(" | ")])].join(": ")

const logExit = (prefix: string, { code, signal }: EndedAgent, expected: boolean) => {
  if (code === 0) return Effect.logInfo(`${prefix} done`)
  if (expected && signal === "SIGKILL") return Effect.logWarning(`${prefix} did not end on SIGTERM and was killed`)
  const text = `${prefix} exited (code=${code}, signal=${signal})`
  return expected ? Effect.logDebug(text) : Effect.logWarning(text)
}
