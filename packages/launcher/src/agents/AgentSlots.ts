import type { LauncherFault, LaunchesFull, LaunchQueue } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { invalidConfig, launchesFull } from "../common/LaunchErrors.ts"
import { LaunchPressure } from "../common/LaunchPressure.ts"
import { LauncherSettings } from "../LauncherSettings.ts"

/** A launch as the queue shows it. */
export interface QueuedLaunch {
  readonly sessionId: string
  readonly scenarioRef: string
  readonly runLabel?: string
}

/** The slots of one launch, one for each of its agents. */
export interface AgentLease {
  /** How the launch waited; undefined when enough slots were free at once. */
  readonly waited: { readonly position: number; readonly waitedMs: number } | undefined
  /** Releases the slots of so many agents. */
  readonly release: (agents: number) => Effect.Effect<void>
}

interface Waiter extends QueuedLaunch {
  readonly agents: number
  /** Epoch ms. */
  readonly since: number
  readonly started: Deferred.Deferred<void>
}

/**
 * The slots for agent processes, and the queue of launches that wait for them, first in, first out
 * (docs/internals/launch.md#queue). A launch acquires the slots of all its agents at once; each agent releases its own
 * when it ends.
 */
export class AgentSlots extends Context.Service<
  AgentSlots,
  {
    /** Waits for free slots. Fails when the queue is full, or the time for waiting is over. */
    readonly acquire: (agents: number, launch: QueuedLaunch) => Effect.Effect<AgentLease, LauncherFault | LaunchesFull>
    readonly queue: Effect.Effect<LaunchQueue>
  }
>()("runplane/launcher/AgentSlots") {
  static readonly layer = Layer.effect(
    AgentSlots,
    Effect.gen(function* () {
      const { maxAgents, maxWaitingLaunches, queueTimeoutMs } = yield* LauncherSettings
      const pressure = yield* LaunchPressure
      const waiters: Array<Waiter> = []
      let used = 0

      const positionOf = (waiter: Waiter) => waiters.indexOf(waiter) + 1
      const remove = (waiter: Waiter) => {
        const at = waiters.indexOf(waiter)
        if (at >= 0) waiters.splice(at, 1)
        pressure.waiting = waiters.length
      }
      /** Starts the launches at the head of the queue whose agents fit. */
      const startNext = () => {
        for (let first = waiters[0]; first !== undefined && used + first.agents <= maxAgents; first = waiters[0]) {
          used += first.agents
          remove(first)
          Deferred.doneUnsafe(first.started, Effect.void)
        }
      }
      const release = (agents: number) =>
        Effect.sync(() => {
          used -= agents
          startNext()
        })

      const acquire = Effect.fn("AgentSlots.acquire")(function* (agents: number, launch: QueuedLaunch) {
        if (agents > maxAgents) {
          return yield* invalidConfig(
            `the launch needs ${agents} agents, and EXAMPLE_AGENT_MAX_PROCESSES allows ${maxAgents}`
          )
        }
        if (waiters.length === 0 && used + agents <= maxAgents) {
          used += agents
          return { waited: undefined, release }
        }
        if (waiters.length >= maxWaitingLaunches) {
          return yield* launchesFull(`${used} agents run and ${waiters.length} launches wait already`, waiters.length)
        }
        const since = yield* Clock.currentTimeMillis
        const waiter: Waiter = { ...launch, agents, since, started: yield* Deferred.make<void>() }
        const position = waiters.push(waiter)
        pressure.waiting = waiters.length
        yield* Effect.logInfo(
          `launch ${launch.sessionId} waits at position ${position}: ${used} of ${maxAgents} agents run`
        )
        const started = Deferred.await(waiter.started).pipe(
          Effect.timeoutOrElse({
            duration: queueTimeoutMs,
            orElse: () =>
              Effect.suspend(() =>
                Effect.fail(
                  launchesFull(`still at position ${positionOf(waiter)} after ${queueTimeoutMs} ms`, positionOf(waiter))
                )
              )
          })
        )
        yield* Effect.onExit(Effect.interruptible(started), (exit) =>
          Effect.suspend(() => {
            if (Exit.isSuccess(exit)) return Effect.void
            // A launch that is interrupted just after its start releases its slots; else the next ones may fit.
            const isStarted = !waiters.includes(waiter)
            remove(waiter)
            return isStarted ? release(agents) : Effect.sync(startNext)
          })
        )
        const waitedMs = (yield* Clock.currentTimeMillis) - since
        return { waited: { position, waitedMs }, release }
        // Only the waiting may be interrupted: slots without a caller would stay in use.
      }, Effect.uninterruptible)

      const queue = Effect.map(
        Clock.currentTimeMillis,
        (now): LaunchQueue => ({
          agents: { running: used, limit: maxAgents },
          limit: maxWaitingLaunches,
          waiting: waiters.map(({ agents, runLabel, scenarioRef, sessionId, since }, index) => ({
            position: index + 1,
            sessionId,
            scenarioRef,
            ...(runLabel ? { runLabel } : {}),
            agents,
            waitingMs: now - since
          }))
        })
      )

      return AgentSlots.of({ acquire, queue })
    })
  )
}
