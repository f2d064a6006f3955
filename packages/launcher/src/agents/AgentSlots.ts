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
export interface LaunchInLine {
  readonly sessionId: string
  readonly scenarioRef: string
  readonly runLabel?: string
}

/** Room for the agents of one launch. */
export interface AgentLease {
  /** How the launch waited for it; undefined when there was room at once. */
  readonly waited: { readonly place: number; readonly waitedMs: number } | undefined
  /** Gives room for so many agents back. */
  readonly giveBack: (agents: number) => Effect.Effect<void>
}

interface Waiter extends LaunchInLine {
  readonly agents: number
  /** Epoch ms. */
  readonly since: number
  readonly turn: Deferred.Deferred<void>
}

/**
 * How many agent processes there may be at a time, and the launches that wait for room, first come, first served
 * (docs/internals/launch.md#queue). A launch takes room for all its agents at once, and each agent gives it back when
 * it ends.
 */
export class AgentSlots extends Context.Service<
  AgentSlots,
  {
    /** Waits for room. Fails when the line is full, or the time for waiting is over. */
    readonly take: (agents: number, launch: LaunchInLine) => Effect.Effect<AgentLease, LauncherFault | LaunchesFull>
    readonly queue: Effect.Effect<LaunchQueue>
  }
>()("runplane/launcher/AgentSlots") {
  static readonly layer = Layer.effect(
    AgentSlots,
    Effect.gen(function* () {
      const { maxAgents, maxWaitingLaunches, queueTimeoutMs } = yield* LauncherSettings
      const pressure = yield* LaunchPressure
      const line: Array<Waiter> = []
      let taken = 0

      const placeOf = (waiter: Waiter) => line.indexOf(waiter) + 1
      const leave = (waiter: Waiter) => {
        const at = line.indexOf(waiter)
        if (at >= 0) line.splice(at, 1)
        pressure.waiting = line.length
      }
      /** Lets in from the head of the line whoever fits. */
      const letIn = () => {
        for (let first = line[0]; first !== undefined && taken + first.agents <= maxAgents; first = line[0]) {
          taken += first.agents
          leave(first)
          Deferred.doneUnsafe(first.turn, Effect.void)
        }
      }
      const giveBack = (agents: number) =>
        Effect.sync(() => {
          taken -= agents
          letIn()
        })

      const take = Effect.fn("AgentSlots.take")(function* (agents: number, launch: LaunchInLine) {
        if (agents > maxAgents) {
          return yield* invalidConfig(
            `the launch needs ${agents} agents, and EXAMPLE_AGENT_MAX_PROCESSES allows ${maxAgents}`
          )
        }
        if (line.length === 0 && taken + agents <= maxAgents) {
          taken += agents
          return { waited: undefined, giveBack }
        }
        if (line.length >= maxWaitingLaunches) {
          return yield* launchesFull(`${taken} agents run and ${line.length} launches wait already`, line.length)
        }
        const since = yield* Clock.currentTimeMillis
        const waiter: Waiter = { ...launch, agents, since, turn: yield* Deferred.make<void>() }
        const place = line.push(waiter)
        pressure.waiting = line.length
        yield* Effect.logInfo(`launch ${launch.sessionId} waits at place ${place}: ${taken} of ${maxAgents} agents run`)
        const turn = Deferred.await(waiter.turn).pipe(
          Effect.timeoutOrElse({
            duration: queueTimeoutMs,
            orElse: () =>
              Effect.suspend(() =>
                Effect.fail(
                  launchesFull(`still at place ${placeOf(waiter)} after ${queueTimeoutMs} ms`, placeOf(waiter))
                )
              )
          })
        )
        yield* Effect.onExit(Effect.interruptible(turn), (exit) =>
          Effect.suspend(() => {
            if (Exit.isSuccess(exit)) return Effect.void
            // Who goes away just after it was let in gives the room back; else those behind it may fit.
            const isIn = !line.includes(waiter)
            leave(waiter)
            return isIn ? giveBack(agents) : Effect.sync(letIn)
          })
        )
        const waitedMs = (yield* Clock.currentTimeMillis) - since
        return { waited: { place, waitedMs }, giveBack }
        // Only the waiting may be interrupted, so that nobody is given room without hearing of it.
      }, Effect.uninterruptible)

      const queue = Effect.map(
        Clock.currentTimeMillis,
        (now): LaunchQueue => ({
          agents: { running: taken, limit: maxAgents },
          limit: maxWaitingLaunches,
          waiting: line.map(({ agents, runLabel, scenarioRef, sessionId, since }, index) => ({
            place: index + 1,
            sessionId,
            scenarioRef,
            ...(runLabel ? { runLabel } : {}),
            agents,
            waitingMs: now - since
          }))
        })
      )

      return AgentSlots.of({ take, queue })
    })
  )
}
