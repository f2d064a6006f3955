import { Loops, makeServiceRegistry, type ServiceRegistry } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Counter, Gauge } from "prom-client"
import { LaunchedRuns } from "../control-plane/LaunchedRuns.ts"
import { ExampleRuns } from "../examples/ExampleRuns.ts"
import { People } from "../people/People.ts"

/** The Prometheus metrics of this process (docs/reference/admin.md#metrics-endpoint). */
export class LauncherMetrics extends Context.Service<LauncherMetrics, ServiceRegistry>()(
  "runplane/launcher/LauncherMetrics"
) {
  /** With the background loops of the service, which these metrics count. */
  static readonly layer = Layer.effectContext(
    Effect.map(makeServiceRegistry("launcher"), (registry) =>
      LauncherMetrics.context(LauncherMetrics.of(registry)).pipe(Context.add(Loops, registry.loops))
    )
  )
}

/** Agents and launches as metrics, counted at each scrape (docs/internals/launch.md#processes). */
export const layerAgentMetrics = Layer.effectDiscard(
  Effect.gen(function* () {
    const { registry } = yield* LauncherMetrics
    const { queue, stops } = yield* ExampleRuns
    const { dropped, waiting } = yield* LaunchedRuns
    const run = Effect.runSyncWith(yield* Effect.context())
    const gauge = (name: string, help: string, value: () => number) =>
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(value())
        }
      })
    gauge("runplane_agent_processes", "Agent processes that run or are about to", () => run(queue).agents.running)
    gauge("runplane_agent_processes_limit", "Most agent processes at a time", () => run(queue).agents.limit)
    gauge("runplane_launches_waiting", "Launches that wait for slots for their agents", () => run(queue).waiting.length)
    gauge("runplane_launched_runs_waiting", "Runs of launches that the control plane does not have yet", () => {
      return run(waiting).runs
    })
    const people = yield* People
    if (people !== undefined) {
      gauge("runplane_seats_held", "Seats with an item that waits because too many are open", () => {
        return people.limits.held().waiting
      })
      new Gauge({
        name: "runplane_sessions_waiting_for_people",
        help: "Sessions with seats that suspend them: suspended by the service, by another party, or not although due",
        labelNames: ["suspended"],
        registers: [registry],
        collect() {
          const { no, other, service } = people.suspensions.counts()
          this.set({ suspended: "service" }, service)
          this.set({ suspended: "other" }, other)
          this.set({ suspended: "no" }, no)
        }
      })
    }
    new Counter({
      name: "runplane_launched_runs_dropped_total",
      help: "Runs of launches that the control plane never got: refused, not accepted for a day, too many at once",
      labelNames: ["why"],
      registers: [registry],
      collect() {
        this.reset()
        for (const [why, count] of Object.entries(run(dropped))) this.inc({ why }, count)
      }
    })
    new Counter({
      name: "runplane_agents_stopped_total",
      help: "Agents that were stopped: after the end of their run, or on request",
      labelNames: ["why"],
      registers: [registry],
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
      registers: [registry],
      collect() {
        this.reset()
        this.inc(run(stops).killed)
      }
    })
  })
)
