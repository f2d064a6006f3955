import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Counter, Gauge } from "prom-client"
import { ExampleRuns } from "../examples/ExampleRuns.ts"
import { LauncherMetrics } from "./LauncherMetrics.ts"

/**
 * Agents and launches as metrics of the service, counted when they are asked for (docs/internals/launch.md#processes).
 */
export const layerAgentMetrics = Layer.effectDiscard(
  Effect.gen(function* () {
    const { registry } = yield* LauncherMetrics
    const { queue, stops } = yield* ExampleRuns
    const registers = [registry]
    const run = Effect.runSyncWith(yield* Effect.context())
    new Gauge({
      name: "runplane_agent_processes",
      help: "Agent processes that run or are about to",
      registers,
      collect() {
        this.set(run(queue).agents.running)
      }
    })
    new Gauge({
      name: "runplane_agent_processes_limit",
      help: "Most agent processes at a time",
      registers,
      collect() {
        this.set(run(queue).agents.limit)
      }
    })
    new Gauge({
      name: "runplane_launches_waiting",
      help: "Launches that wait for room for their agents",
      registers,
      collect() {
        this.set(run(queue).waiting.length)
      }
    })
    new Counter({
      name: "runplane_agents_stopped_total",
      help: "Agents that were stopped: after the end of their run, or on request",
      labelNames: ["why"],
      registers,
      collect() {
        const { afterRunEnd, onRequest } = run(stops)
        this.reset()
        this.inc({ why: "run_ended" }, afterRunEnd)
        this.inc({ why: "request" }, onRequest)
      }
    })
    new Counter({
      name: "runplane_agents_killed_total",
      help: "Agents that did not end on SIGTERM",
      registers,
      collect() {
        this.reset()
        this.inc(run(stops).killed)
      }
    })
  })
)
