import * as Effect from "effect/Effect"
import { Counter, Gauge } from "prom-client"
import type { TasksShape } from "../tasks/Tasks.ts"
import { LauncherMetrics } from "./AgentMetrics.ts"

export interface A2aMetrics {
  /** A request was answered; a stream, when it began. */
  readonly answered: (method: string, outcome: string) => void
}

/** Requests and launches of A2A (docs/reference/admin.md#metrics-endpoint). `open` counts waiting requests. */
export const makeA2aMetrics = Effect.fnUntraced(function* (tasks: TasksShape, open: () => number) {
  const { registry } = yield* LauncherMetrics
  const registers = [registry]
  const requests = new Counter({
    name: "runplane_a2a_requests_total",
    help: "Requests of agents that speak A2A, by method and outcome: ok, or the reason of the error",
    labelNames: ["method", "outcome"],
    registers
  })
  new Gauge({
    name: "runplane_a2a_requests_open",
    help: "Requests of A2A that wait for the end of a task, or stream it",
    registers,
    collect() {
      this.set(open())
    }
  })
  new Counter({
    name: "runplane_a2a_launches_total",
    help: "Launches of A2A tasks that have ended, since the start of the service",
    labelNames: ["outcome"],
    registers,
    collect() {
      this.reset()
      const { done, failed } = tasks.launches()
      this.inc({ outcome: "done" }, done)
      this.inc({ outcome: "failed" }, failed)
    }
  })
  const metrics: A2aMetrics = { answered: (method, outcome) => requests.inc({ method, outcome }) }
  return metrics
})
