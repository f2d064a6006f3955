import { join } from "node:path"
import type * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { BenchDatabase } from "./BenchDatabase.ts"
import { type RunRefused, RunsClient } from "./client/RunsClient.ts"
import type { StreamBroken } from "./client/StreamProgress.ts"
import type { Outcome } from "./Figures.ts"
import { layerSurroundings } from "./FreshWorld.ts"
import type { NeverHappened } from "./Measurement.ts"
import type { Plan } from "./Plan.ts"
import type { ChildFailed } from "./process/ChildProcess.ts"
import type { WrongAnswer } from "./reads/HttpLoad.ts"
import type { RuntimeProcess } from "./runtime/RuntimeProcess.ts"
import { cold, coldOutcome } from "./scenarios/Cold.ts"
import { decisions, decisionsOutcome } from "./scenarios/Decisions.ts"
import { fullLog, fullLogOutcome } from "./scenarios/FullLog.ts"
import { idle, idleOutcome } from "./scenarios/Idle.ts"
import { idleSessions, idleSessionsOutcome } from "./scenarios/IdleSessions.ts"
import { large, largeOutcome } from "./scenarios/Large.ts"
import { latency, latencyOutcome } from "./scenarios/Latency.ts"
import { longRun, longRunOutcome } from "./scenarios/LongRun.ts"
import { posts, postsOutcome } from "./scenarios/Posts.ts"
import { throughput, throughputOutcome } from "./scenarios/Throughput.ts"
import { ControlPlaneProcess } from "./service/ControlPlaneProcess.ts"
import type { ServiceForm } from "./service/ServiceForm.ts"

/** Everything that is measured, and what measures it, on whatever database and in whatever form is given. */
export const layerBench = RunsClient.layer.pipe(
  Layer.provideMerge(ControlPlaneProcess.layer),
  Layer.provideMerge(layerSurroundings)
)

type Scenario = Effect.Effect<
  Outcome,
  ChildFailed | NeverHappened | RunRefused | SqlError | StreamBroken | WrongAnswer,
  BenchDatabase | ControlPlaneProcess | PgClient.PgClient | RunsClient | RuntimeProcess | ServiceForm
>

/** All scenarios of a plan, one after the other; each answers its outcome. */
export const scenariosOf = (plan: Plan): ReadonlyArray<Scenario> => [
  ...plan.throughput.map((load) => Effect.map(throughput(load), throughputOutcome)),
  ...[...plan.latency, ...plan.tails].map((load) => Effect.map(latency(load), latencyOutcome)),
  ...plan.posts.map((load) => Effect.map(posts(load), postsOutcome)),
  ...plan.cold.map((load) => Effect.map(cold(load), coldOutcome)),
  ...plan.idle.map((load) => Effect.map(idle(load), idleOutcome)),
  ...plan.longRun.map((load) => Effect.map(longRun(load), longRunOutcome)),
  ...[...plan.large, ...plan.standstill].map((load) => Effect.map(large(load), largeOutcome)),
  ...plan.idleSessions.map((load) => Effect.map(idleSessions(load), idleSessionsOutcome)),
  ...plan.fullLog.map((load) => Effect.map(fullLog(load), fullLogOutcome)),
  ...plan.decisions.map((load) => Effect.map(decisions(load), decisionsOutcome))
]

export interface BenchOptions {
  readonly plan: Plan
  readonly repetitions: number
  /** Folder for the profiles of the last repetition, one a scenario; undefined profiles nothing. */
  readonly profiles: string | undefined
  /** Called with every outcome as soon as it is known. */
  readonly report: (outcome: Outcome, repetition: number) => Effect.Effect<void>
}

/** Runs the whole plan several times over, so that a bad moment of the machine does not hit one scenario alone. */
export const runBench = Effect.fn("Bench.run")(function* ({ plan, profiles, repetitions, report }: BenchOptions) {
  const service = yield* ControlPlaneProcess
  const database = yield* BenchDatabase
  const outcomes: Array<Outcome> = []
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    const profiling = profiles !== undefined && repetition === repetitions
    for (const [index, scenario] of scenariosOf(plan).entries()) {
      const file = join(profiles ?? "", `scenario-${index + 1}.cpuprofile`)
      yield* database.settle
      const outcome = yield* profiling ? service.profiled(file, scenario) : scenario
      outcomes.push(outcome)
      yield* report(outcome, repetition)
    }
  }
  return outcomes
})
