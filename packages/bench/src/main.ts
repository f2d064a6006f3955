import { mkdirSync } from "node:fs"
import { availableParallelism, loadavg } from "node:os"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RUNPLANE_VERSION } from "@runplane/api"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { layerBench, runBench } from "./Bench.ts"
import { BenchDatabase } from "./BenchDatabase.ts"
import { type BenchOptions, benchCommand } from "./CommandLine.ts"
import { fullPlan, only, sized, warmUpPlan } from "./Plan.ts"
import { number, renderTable, summarise } from "./Report.ts"
import { ServiceForm } from "./service/ServiceForm.ts"

const program = Effect.fnUntraced(function* ({ json, profiles, repetitions, scenarios, size }: BenchOptions) {
  const say = json ? Console.error : Console.log
  if (profiles !== undefined) yield* Effect.sync(() => mkdirSync(profiles, { recursive: true }))

  const machine = { node: process.version, cpus: availableParallelism(), load: loadavg()[0] ?? 0 }
  yield* say(`Node ${machine.node}, ${machine.cpus} CPUs, load ${number(machine.load)} before the start; warming up`)
  const outcomes = yield* Effect.gen(function* () {
    yield* runBench({
      plan: only(warmUpPlan, scenarios),
      repetitions: 1,
      profiles: undefined,
      report: ({ line }) => say(`warm-up: ${line}`)
    })
    return yield* runBench({
      plan: sized(only(fullPlan, scenarios), size),
      repetitions,
      profiles,
      report: ({ line }, repetition) => say(`${repetition}/${repetitions} ${line}`)
    })
  }).pipe(Effect.provide(layerBench.pipe(Layer.provideMerge([BenchDatabase.layer, ServiceForm.layerBundle]))))

  const summaries = summarise(outcomes)
  yield* say(`\n${renderTable(summaries)}`)
  if (json) yield* Console.log(JSON.stringify({ machine, repetitions, figures: summaries }, undefined, 2))
})

NodeRuntime.runMain(
  Command.run(benchCommand(program), { version: RUNPLANE_VERSION }).pipe(Effect.provide(NodeServices.layer))
)
