import type { ControlPlaneRun } from "@runplane/api"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { AgentHost, AttachedAgent } from "../agents/AgentHost.ts"
import type { FailedParticipant } from "../common/LaunchErrors.ts"
import type { LaunchedRuns } from "../control-plane/LaunchedRuns.ts"
import { type Action, deadAgents, decide, type Input, type LaunchState, watching } from "./decideLaunch.ts"
import type { Binding } from "./ParticipantAgents.ts"

/** How long the answer of a failed launch waits until the control plane has the reason, ms. */
const REPORT_WAIT_MS = 500

export interface WatchedLaunch {
  readonly sessionId: string
  /** How long the session may take to open, ms; 0 for as long as the control plane waits. */
  readonly openTimeoutMs: number
  /** The run, once the control plane has accepted or refused it. */
  readonly run: Effect.Effect<Option.Option<ControlPlaneRun>>
  readonly runs: LaunchedRuns["Service"]
  readonly host: AgentHost["Service"]
}

/**
 * Watches the agents of one launch until its session is open: performs what `decide` says of their ends
 * (docs/internals/launch.md#dead-agents).
 */
export interface LaunchWatch {
  /** An agent has been attached. */
  readonly add: (binding: Binding, agent: AttachedAgent) => Effect.Effect<void>
  /** Waits until the launch has to fail because agents have ended. */
  readonly broken: Effect.Effect<void>
  /** The agents that have been attached so far. */
  readonly agents: Effect.Effect<ReadonlyArray<LaunchedAgent>>
  /** Every agent so far that has ended too early. */
  readonly dead: Effect.Effect<ReadonlyArray<FailedParticipant>>
  /** All agents are attached: whether the launch succeeds. A problem after that ends the agents. */
  readonly settle: Effect.Effect<boolean>
  /** The launch has failed: ends its agents and reports the reason, in the background when that takes long. */
  readonly fail: (reason: string) => Effect.Effect<void>
}

export interface LaunchedAgent {
  readonly binding: Binding
  readonly agent: AttachedAgent
}

/** A watch whose work goes on in the given scope, until every agent has ended. */
export const makeLaunchWatch = Effect.fnUntraced(function* (
  { host, openTimeoutMs, run, runs, sessionId }: WatchedLaunch,
  within: Scope.Scope
): Effect.fn.Return<LaunchWatch> {
  const scope = yield* Scope.fork(within)
  const broken = yield* Deferred.make<void>()
  const settled = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const agents: Array<LaunchedAgent> = []
  let state: LaunchState = watching

  const send = (input: Input): Effect.Effect<void> =>
    Effect.suspend(() => {
      const [next, actions] = decide(state, input)
      state = next
      return Effect.forEach(actions, perform, { discard: true })
    })

  const perform = (action: Action): Effect.Effect<unknown> => {
    switch (action._tag) {
      case "Report":
        return Effect.forkIn(report(action.reason), scope)
      case "CheckRun":
        return Effect.forkIn(checkRun, scope)
      case "Break":
        return Deferred.succeed(broken, undefined)
      case "Settled":
        return Deferred.succeed(settled, undefined)
      case "Warn":
        return Effect.logWarning(`launch ${sessionId} has ended before its session was open: ${action.reason}`)
      case "StopAgents":
        return host.stopRun(sessionId)
      case "Close":
        return Effect.andThen(Deferred.succeed(closed, undefined), Effect.forkIn(Scope.close(scope, Exit.void), within))
    }
  }

  const report = Effect.fnUntraced(function* (reason: string) {
    const accepted = yield* run
    const outcome = Option.isNone(accepted) ? "unknown" : yield* runs.abandon(accepted.value.runId, reason)
    yield* send({ _tag: "Reported", outcome })
  })

  const checkRun = Effect.gen(function* () {
    const accepted = yield* run
    if (Option.isNone(accepted)) return
    const { runId } = accepted.value
    const phase = yield* runs
      .phase(runId)
      .pipe(
        Effect.catchTag("NoAnswer", ({ message }) =>
          Effect.logWarning(`the control plane did not report the status of run ${runId}: ${message}`)
        )
      )
    if (phase !== "waiting") return
    const output = yield* Effect.forEach(agents, ({ agent, binding }) =>
      Effect.map(agent.lastLines, (lines) => ({ binding, lines }))
    )
    yield* send({ _tag: "NotOpened", withinMs: openTimeoutMs, output })
  })

  if (openTimeoutMs > 0) yield* Effect.forkIn(Effect.delay(send({ _tag: "TimeOver" }), openTimeoutMs), scope)

  return {
    add: (binding, agent) =>
      Effect.gen(function* () {
        agents.push({ binding, agent })
        yield* send({ _tag: "Attached", binding })
        const { participantId } = binding
        const ended = Effect.flatMap(agent.ended, (end) => send({ _tag: "Ended", participantId, end }))
        yield* Effect.forkIn(ended, scope)
      }),
    agents: Effect.sync(() => [...agents]),
    broken: Deferred.await(broken),
    dead: Effect.sync(() => deadAgents(state)),
    settle: Effect.andThen(
      send({ _tag: "Settle" }),
      Effect.raceFirst(Effect.as(Deferred.await(broken), false), Effect.as(Deferred.await(settled), true))
    ),
    fail: (reason) =>
      Effect.andThen(send({ _tag: "Fail", reason }), Effect.timeoutOption(Deferred.await(closed), REPORT_WAIT_MS))
  }
})
