import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { BenchDatabase } from "./BenchDatabase.ts"
import { RunsClient } from "./client/RunsClient.ts"
import type { Outcome } from "./Figures.ts"
import type { Plan } from "./Plan.ts"
import { RuntimeProcess } from "./runtime/RuntimeProcess.ts"
import { creation, creationOutcome } from "./scenarios/Creation.ts"
import { large, largeOutcome } from "./scenarios/Large.ts"
import { latency, latencyOutcome } from "./scenarios/Latency.ts"
import { throughput, throughputOutcome } from "./scenarios/Throughput.ts"
import { ControlPlaneProcess } from "./service/ControlPlaneProcess.ts"

/** Everything that is measured, and what measures it, on whatever database is given. */
export const layerBench = RunsClient.layer.pipe(
  Layer.provideMerge(ControlPlaneProcess.layer),
  Layer.provideMerge(RuntimeProcess.layer),
  Layer.provideMerge(BenchDatabase.layerClient)
)

/** All scenarios of a plan, one after the other; each answers its outcome. */
export const scenariosOf = (plan: Plan) => [
  ...plan.throughput.map((load) => Effect.map(throughput(load), throughputOutcome)),
  ...[...plan.latency, ...plan.tails].map((load) => Effect.map(latency(load), latencyOutcome)),
  ...plan.creation.map((load) => Effect.map(creation(load), creationOutcome)),
  ...[...plan.large, ...plan.standstill].map((load) => Effect.map(large(load), largeOutcome))
]

export interface BenchOptions {
  readonly plan: Plan
  readonly repetitions: number
  /** Folder for the profiles of the last repetition, one a scenario; undefined profiles nothing. */
  readonly profiles: string | undefined
  /** Told of every outcome as soon as it is there. */
  readonly tell: (outcome: Outcome, repetition: number) => Effect.Effect<void>
}

/** Runs the whole plan several times over, so that a bad moment of the machine does not hit one scenario alone. */
export const runBench = Effect.fn("Bench.run")(function* ({ plan, profiles, repetitions, tell }: BenchOptions) {
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
      yield* tell(outcome, repetition)
    }
  }
  return outcomes
})
