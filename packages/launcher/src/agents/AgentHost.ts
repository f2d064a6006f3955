import type { Readable } from "node:stream"
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { LauncherSettings } from "../LauncherSettings.ts"
import { type AgentAssignment, bootstrapOf, environmentOf } from "./AgentBootstrap.ts"
import { type AgentManifest, startupTimeoutMs } from "./AgentManifest.ts"
import { type AgentProcess, type ProcessExit, spawnAgent } from "./AgentProcess.ts"
import { bootstrapFile, sweepBootstrapFiles } from "./BootstrapFile.ts"
import { builtEntrypoint, hostCommand } from "./HostCommand.ts"
import { logLines, printable } from "./LogLines.ts"
import { ProcessGuard } from "./ProcessGuard.ts"

/** How long the last lines of an ended process are waited for, ms. */
const LOG_DRAIN_MS = 1_000

/** An agent that was not started, or did not stay: the reason as AGENT_ATTACH_FAILED tells it. */
export class AgentNotAttached extends Data.TaggedError("AgentNotAttached")<{ readonly reason: string }> {}

export interface AttachedAgent {
  readonly pid: number
}

/**
 * Keeps example agents running as processes of this machine. An agent is known by its run and participant; it belongs
 * to the host until it exits, its run is stopped, or the host's layer closes, and takes its bootstrap file with it.
 * Exited agents are not restarted.
 */
export class AgentHost extends Context.Service<
  AgentHost,
  {
    /** Starts an agent and waits for the confirmation; the running one is answered when the pair runs already. */
    readonly attach: (
      assignment: AgentAssignment,
      manifest: AgentManifest
    ) => Effect.Effect<AttachedAgent, AgentNotAttached>
    /** Stops the agents of a run, all at once. */
    readonly stopRun: (runId: string) => Effect.Effect<void>
    readonly running: Effect.Effect<ReadonlyArray<RunningAgent>>
  }
>()("runplane/launcher/AgentHost") {
  /** Agents as child processes of this Node process. */
  static readonly layerNode = Layer.effect(
    AgentHost,
    Effect.gen(function* () {
      const settings = yield* LauncherSettings
      const path = yield* Path.Path
      const fs = yield* FileSystem.FileSystem
      const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const hostScope = yield* Effect.scope
      const guard = yield* ProcessGuard
      const swept = yield* sweepBootstrapFiles(settings.bootstrapDir)
      if (swept > 0) yield* Effect.logInfo(`removed ${swept} bootstrap files that an earlier service left behind`)
      const agents = new Map<string, HostedProcess>()

      const stop = (chosen: ReadonlyArray<HostedProcess>) =>
        Effect.forEach(
          chosen,
          (agent) => {
            agent.isStopping = true
            return Scope.close(agent.scope, Exit.void)
          },
          { concurrency: "unbounded", discard: true }
        )
      yield* Effect.addFinalizer(() => stop([...agents.values()]))

      const exists = (file: string) => Effect.orElseSucceed(fs.exists(file), () => false)

      const commandOf = Effect.fnUntraced(function* (manifest: AgentManifest) {
        const folder = manifest.host.cwd ?? "."
        const cwd = path.resolve(settings.serviceRoot, folder)
        if (!(yield* exists(cwd))) {
          return yield* new AgentNotAttached({ reason: `spawn error: no working directory ${folder}` })
        }
        const built = builtEntrypoint(manifest)
        const value =
          built !== undefined && (yield* exists(path.resolve(cwd, built))) ? built : manifest.entrypoint.value
        const started = { ...manifest, entrypoint: { ...manifest.entrypoint, value } }
        const command = yield* Effect.mapError(
          Effect.fromResult(hostCommand(started, settings, { ownNode: process.execPath, parent: process.env })),
          (reason) => new AgentNotAttached({ reason })
        )
        return { ...command, cwd }
      })

      const start = Effect.fnUntraced(function* (assignment: AgentAssignment, manifest: AgentManifest) {
        const { compiled, binding } = assignment
        const command = yield* commandOf(manifest)
        const file = yield* bootstrapFile(
          settings.bootstrapDir,
          compiled.sessionId,
          binding.participantId,
          bootstrapOf(assignment, settings)
        ).pipe(
          Effect.catchTag("PlatformError", (error) =>
            Effect.fail(new AgentNotAttached({ reason: `bootstrap file not written: ${error.reason._tag}` }))
          )
        )
        const env = { ...command.env, ...environmentOf(assignment, settings, file) }
        const agent = yield* guard
          .around(spawnAgent({ ...command, env, stopGraceMs: settings.agentStopGraceMs }))
          .pipe(Effect.mapError(({ message }) => new AgentNotAttached({ reason: message })))
        const prefix = `[${manifest.framework}:${binding.participantId}:${compiled.sessionId}]`
        const ready = yield* Deferred.make<void>()
        const { readyText } = manifest.host
        const logs = yield* Effect.all([
          Effect.forkScoped(
            logOutput(agent.stdout, (line) =>
              Effect.andThen(
                Effect.logInfo(`${prefix} ${printable(line)}`),
                readyText !== undefined && line.includes(readyText) ? Deferred.succeed(ready, undefined) : Effect.void
              )
            )
          ),
          Effect.forkScoped(logOutput(agent.stderr, (line) => Effect.logWarning(`${prefix} ${printable(line)}`)))
        ])
        yield* readyText === undefined
          ? stays(agent, settings.attachConfirmationMs)
          : announces(agent, Deferred.await(ready), startupTimeoutMs(manifest))
        return { agent, logs, prefix }
      })

      const attach = Effect.fn("AgentHost.attach")(function* (assignment: AgentAssignment, manifest: AgentManifest) {
        const runId = assignment.compiled.sessionId
        const { participantId } = assignment.binding
        const key = JSON.stringify([runId, participantId])
        const running = agents.get(key)
        if (running !== undefined) return { pid: running.pid }

        const scope = yield* Scope.make()
        // Known from the first moment, so that a stop during the confirmation reaches it too.
        const hosted: HostedProcess = { runId, participantId, scope, pid: 0, isStopping: false }
        agents.set(key, hosted)
        yield* Scope.addFinalizer(
          scope,
          Effect.sync(() => agents.delete(key))
        )
        return yield* Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const { agent, logs, prefix } = yield* restore(start(assignment, manifest)).pipe(
              Scope.provide(scope),
              Effect.provideContext(context),
              Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Scope.close(scope, exit)))
            )
            hosted.pid = agent.pid
            yield* agent.exit.pipe(
              Effect.tap((exit) => logExit(prefix, exit, hosted.isStopping)),
              Effect.andThen(Effect.timeoutOption(Fiber.awaitAll(logs), LOG_DRAIN_MS)),
              Effect.andThen(Scope.close(scope, Exit.void)),
              Effect.interruptible,
              Effect.forkIn(hostScope)
            )
            return { pid: agent.pid }
          })
        )
      })

      return AgentHost.of({
        attach,
        stopRun: (runId) => Effect.suspend(() => stop([...agents.values()].filter((agent) => agent.runId === runId))),
        running: Effect.sync(() =>
          [...agents.values()].map(({ runId, participantId, pid }) => ({ runId, participantId, pid }))
        )
      })
    })
  ).pipe(Layer.provide(ProcessGuard.layer), Layer.provide(NodeChildProcessSpawner.layer))
}

export interface RunningAgent {
  readonly runId: string
  readonly participantId: string
  readonly pid: number
}

interface HostedProcess {
  readonly runId: string
  readonly participantId: string
  readonly scope: Scope.Closeable
  /** 0 until the process is confirmed. */
  pid: number
  /** Its end is then the host's own doing. */
  isStopping: boolean
}

/** An agent that is still alive after the confirmation time counts as attached. */
const stays = (agent: AgentProcess, forMs: number) =>
  Effect.timeoutOrElse(exited(agent), { duration: forMs, orElse: () => Effect.void })

/** An agent that says so in time counts as attached. */
const announces = (agent: AgentProcess, ready: Effect.Effect<void>, withinMs: number) =>
  Effect.raceFirst(ready, exited(agent)).pipe(
    Effect.timeoutOrElse({
      duration: withinMs,
      orElse: () =>
        Effect.fail(new AgentNotAttached({ reason: `process did not confirm attach within ${withinMs} ms` }))
    })
  )

const exited = (agent: AgentProcess): Effect.Effect<never, AgentNotAttached> =>
  Effect.flatMap(agent.exit, ({ code, signal }) =>
    Effect.fail(
      new AgentNotAttached({ reason: `process exited before attach confirmed (code=${code}, signal=${signal})` })
    )
  )

const logOutput = (output: Readable, log: (line: string) => Effect.Effect<void>) =>
  logLines(NodeStream.fromReadable({ evaluate: () => output })).pipe(
    Stream.runForEach(log),
    Effect.catchCause((cause) => Effect.logDebug("the output of an agent cannot be read any more", cause))
  )

const logExit = (prefix: string, { code, signal }: ProcessExit, expected: boolean) => {
  if (code === 0) return Effect.logInfo(`${prefix} done`)
  const text = `${prefix} exited (code=${code}, signal=${signal})`
  return expected ? Effect.logDebug(text) : Effect.logWarning(text)
}
