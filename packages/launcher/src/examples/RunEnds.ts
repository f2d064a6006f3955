import type { ControlPlaneRun } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { LaunchedRuns } from "../control-plane/LaunchedRuns.ts"
import type { LaunchedAgent } from "./LaunchWatch.ts"

/** Shortest time between two reads of one run, ms. */
const POLL_MS = 5_000
/** Shortest time between two reads of any run, ms: the control plane limits the requests of each caller. */
const POLL_ANY_MS = 2_000

export interface LaunchedAgents {
  readonly sessionId: string
  /** Longest life of the session, ms. */
  readonly ttlMs: number
  readonly run: Option.Option<ControlPlaneRun>
  readonly agents: ReadonlyArray<LaunchedAgent>
}

/** Ends agents that outlive their run (docs/internals/launch.md#run-end). */
export interface RunEnds {
  /** Follows the run of a launch in the background until every agent has ended. */
  readonly follow: (launched: LaunchedAgents) => Effect.Effect<void>
  /** The run of a launch whose agents are followed. */
  readonly runOf: (sessionId: string) => string | undefined
  /** Agents stopped so far. */
  readonly stopped: Effect.Effect<number>
}

export const makeRunEnds = (
  { graceMs, runs }: { readonly graceMs: number; readonly runs: Pick<LaunchedRuns["Service"], "phase"> },
  service: Scope.Scope
): RunEnds => {
  const followed = new Map<string, string | undefined>()
  let stopped = 0

  /** Waits for the end of the run, and returns the reason to believe in it. */
  const ended = Effect.fnUntraced(function* ({ run, sessionId, ttlMs }: LaunchedAgents) {
    let answeredAt = yield* Clock.currentTimeMillis
    if (Option.isNone(run)) {
      yield* Effect.sleep(ttlMs)
      return `the time of session ${sessionId} was over`
    }
    const { runId } = run.value
    let isSilent = false
    while (true) {
      yield* Effect.sleep(Math.max(POLL_MS, followed.size * POLL_ANY_MS))
      const phase = yield* Effect.result(runs.phase(runId))
      const now = yield* Clock.currentTimeMillis
      if (Result.isSuccess(phase)) {
        isSilent = false
        answeredAt = now
        if (phase.success === "ended") return `run ${runId} had ended`
        continue
      }
      if (!isSilent) {
        yield* Effect.logWarning(
          `the control plane did not report the status of run ${runId}: ${phase.failure.message}`
        )
      }
      isSilent = true
      // Counted from the last answer: a suspended session outlives its time.
      if (now - answeredAt >= ttlMs) return `the time of session ${sessionId} was over, and the control plane is silent`
    }
  })

  const stopAgents = Effect.fnUntraced(function* (launched: LaunchedAgents) {
    const why = yield* ended(launched)
    yield* Effect.sleep(graceMs)
    yield* Effect.forEach(
      launched.agents,
      ({ agent, binding: { agentRef, participantId } }) =>
        Effect.gen(function* () {
          if (yield* agent.hasEnded) return
          stopped++
          yield* Effect.logWarning(
            `agent ${participantId} (${agentRef}, pid ${agent.pid}) still runs ${graceMs} ms after ${why}: it is stopped`
          )
          yield* agent.stop
        }),
      { concurrency: "unbounded", discard: true }
    )
  })

  return {
    follow: (launched) =>
      Effect.suspend(() => {
        const { agents, run, sessionId } = launched
        followed.set(sessionId, Option.getOrUndefined(run)?.runId)
        const allEnded = Effect.forEach(agents, ({ agent }) => agent.ended, { concurrency: "unbounded", discard: true })
        return Effect.raceFirst(allEnded, stopAgents(launched)).pipe(
          Effect.ensuring(Effect.sync(() => followed.delete(sessionId))),
          Effect.forkIn(service),
          Effect.asVoid
        )
      }),
    runOf: (sessionId) => followed.get(sessionId),
    stopped: Effect.sync(() => stopped)
  }
}
