import type { ControlPlaneRun } from "@runplane/api"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type AgentHost, type AttachedAgent, type EndedAgent, endOf } from "../agents/AgentHost.ts"
import type { FailedParticipant } from "../common/LaunchErrors.ts"
import type { RunFate } from "../control-plane/RunFate.ts"
import { type Binding, failedParticipant } from "./Cast.ts"

/** How long the answer of a failed launch waits for the control plane to know why, ms. */
const SAYING_MS = 500

const ENDED = "process exited before its session was open"

export interface WatchedLaunch {
  readonly sessionId: string
  /** How long the session may take to open, ms; 0 for as long as the control plane waits. */
  readonly openTimeoutMs: number
  /** The run, once the control plane has accepted or refused it. */
  readonly run: Effect.Effect<Option.Option<ControlPlaneRun>>
  readonly fate: RunFate["Service"]
  readonly host: AgentHost["Service"]
}

/**
 * Looks after the agents of one launch until its session is open: an agent that ends before ends the waiting of all
 * (docs/internals/launch.md#dead-agents). Whether the session is open only the control plane can tell.
 */
export interface LaunchWatch {
  /** An agent has been attached. */
  readonly add: (binding: Binding, agent: AttachedAgent) => Effect.Effect<void>
  /** Waits until the launch cannot work any more because agents have ended. */
  readonly broken: Effect.Effect<void>
  /** Those that have been attached so far. */
  readonly agents: Effect.Effect<ReadonlyArray<LaunchedAgent>>
  /** Every agent that has ended in vain so far. */
  readonly dead: Effect.Effect<ReadonlyArray<FailedParticipant>>
  /**
   * Ends the launching: whether all is well so far. If so, what breaks the launch from here on ends its agents.
   */
  readonly settle: Effect.Effect<boolean>
  /**
   * The launch has failed: its agents are ended, and the run, if there is one, says why; in the background where the
   * control plane takes its time over it.
   */
  readonly fail: (reason: string) => Effect.Effect<void>
}

export interface LaunchedAgent {
  readonly binding: Binding
  readonly agent: AttachedAgent
}

interface Watched extends LaunchedAgent {
  /** Undefined while it lives. */
  end?: EndedAgent
  isJudged: boolean
}

/** A watch whose work goes on in the given scope, until every agent has ended. */
export const makeLaunchWatch = Effect.fnUntraced(function* (
  { fate, host, openTimeoutMs, run, sessionId }: WatchedLaunch,
  within: Scope.Scope
): Effect.fn.Return<LaunchWatch> {
  const scope = yield* Scope.fork(within)
  const broken = yield* Deferred.make<void>()
  const agents: Array<Watched> = []
  const judging = yield* Semaphore.make(1)
  let isOpen = false
  let isTold = false
  let isAnswered = false
  let isOver = false

  const close = Effect.suspend(() => {
    isOver = true
    return Effect.forkIn(Scope.close(scope, Exit.void), within)
  }).pipe(Effect.asVoid)

  /** Ends the waiting for the session; whether there was still something to wait for. */
  const abandon = Effect.fnUntraced(function* (reason: string) {
    const accepted = yield* run
    if (Option.isNone(accepted)) return "unknown" as const
    const became = yield* fate.abandon(accepted.value.runId, reason)
    if (became === "opened") isOpen = true
    if (became === "abandoned") isTold = true
    return became
  })

  const giveUp = Effect.fnUntraced(function* (reason: string) {
    yield* Effect.logWarning(`launch ${sessionId} has ended before its session was open: ${reason}`)
    yield* host.stopRun(sessionId)
  })

  const whyDead = ({ binding: { agentRef, participantId }, end }: Watched) =>
    end === undefined ? "" : `agent ${participantId} (${agentRef}): ${endOf(end, ENDED)}`

  /** Asks once for each end, one after the other: the first may settle what the others mean. */
  const judge = (watched: Watched) =>
    judging.withPermits(1)(
      Effect.gen(function* () {
        watched.isJudged = true
        if (isOver || isTold || watched.end === undefined) return
        const isFine = watched.end.code === 0
        if (isOpen) {
          if (!isFine) yield* Deferred.succeed(broken, undefined)
          return
        }
        // The control plane may take its time, and what it says changes nothing here.
        if (!isFine) yield* Deferred.succeed(broken, undefined)
        const became = yield* abandon(whyDead(watched))
        if (became === "abandoned") yield* Deferred.succeed(broken, undefined)
        if (became === "abandoned" && isAnswered) yield* giveUp(whyDead(watched))
      })
    )

  const isDone = Effect.suspend(() => (agents.every(({ isJudged }) => isJudged) && isAnswered ? close : Effect.void))

  const add = (binding: Binding, agent: AttachedAgent) => {
    const watched: Watched = { binding, agent, isJudged: false }
    agents.push(watched)
    return agent.ended.pipe(
      Effect.flatMap((end) => {
        watched.end = end
        return judge(watched)
      }),
      Effect.andThen(isDone),
      Effect.forkIn(scope),
      Effect.asVoid
    )
  }

  const isWaiting = (runId: string) =>
    fate.phase(runId).pipe(
      Effect.map((phase) => phase === "waiting"),
      Effect.catchTag("NotTold", ({ message }) =>
        Effect.as(Effect.logWarning(`the control plane did not report the status of run ${runId}: ${message}`), false)
      )
    )

  const overdue = Effect.gen(function* () {
    yield* Effect.sleep(openTimeoutMs)
    const accepted = yield* run
    if (isOpen || isTold || Option.isNone(accepted) || !(yield* isWaiting(accepted.value.runId))) return
    const quoted = yield* Effect.forEach(agents, ({ agent, binding }) =>
      Effect.map(agent.lastLines, (lines) =>
        lines.length === 0 ? [] : [`agent ${binding.participantId} (${binding.agentRef}) said: ${lines.join(" | ")}`]
      )
    )
    const reason = [`no agent opened it within ${openTimeoutMs} ms`, ...quoted.flat()].join("; ")
    if ((yield* abandon(reason)) !== "abandoned") return
    yield* Deferred.succeed(broken, undefined)
    yield* giveUp(reason)
  })
  if (openTimeoutMs > 0) yield* Effect.forkIn(overdue, scope)

  const dead = Effect.sync(() =>
    agents.flatMap(({ binding, end }) =>
      end === undefined || (isOpen && end.code === 0) ? [] : [failedParticipant(binding, endOf(end, ENDED))]
    )
  )

  const isBroken = Deferred.isDone(broken)
  const settle = Effect.gen(function* () {
    if (yield* isBroken) return false
    return yield* judging.withPermits(1)(
      Effect.gen(function* () {
        if (yield* isBroken) return false
        isAnswered = true
        yield* isDone
        return true
      })
    )
  })

  return {
    add,
    agents: Effect.sync(() => [...agents]),
    broken: Deferred.await(broken),
    dead,
    settle,
    fail: (reason) =>
      Effect.gen(function* () {
        isOver = true
        yield* host.stopRun(sessionId)
        const say = Effect.suspend(() => (isTold || isOpen ? Effect.void : abandon(reason)))
        const saying = yield* Effect.forkIn(Effect.andThen(judging.withPermits(1)(say), close), within)
        yield* Effect.timeoutOption(Fiber.await(saying), SAYING_MS)
      })
  }
})
