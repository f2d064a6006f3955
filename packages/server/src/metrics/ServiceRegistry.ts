import { RUNPLANE_VERSION } from "@runplane/api"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client"
import type { ObservedRequest } from "../http/HttpObserver.ts"
import { Loops } from "../loops/Loops.ts"
import { SpanCounts } from "../traces/SpanCounts.ts"

/** Buckets in seconds. */
const HTTP_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Gauges that prom-client names as counters are named; each is the sum of one that stays. */
const SUMS_WITH_A_COUNTERS_NAME = ["handles", "requests", "resources"].map((what) => `nodejs_active_${what}_total`)

export interface ServiceRegistry {
  readonly registry: Registry
  /** The background loops of the service. */
  readonly loops: ReturnType<typeof Loops.make>
  /** Counts an answered request. */
  readonly observe: (request: ObservedRequest) => void
}

/**
 * What both services measure (docs/reference/admin.md#metrics-endpoint): the process, the build, requests, loops. A
 * registry of its own for each, so nothing is global; cleared with the scope.
 */
export const makeServiceRegistry = (service: "control-plane" | "launcher") =>
  Effect.map(
    Effect.all([
      Effect.acquireRelease(
        Effect.sync(() => new Registry()),
        (registry) => Effect.sync(() => registry.clear())
      ),
      SpanCounts,
      Clock.Clock
    ]),
    ([registry, spans, clock]): ServiceRegistry => {
      const registers = [registry]
      collectDefaultMetrics({ register: registry })
      for (const sum of SUMS_WITH_A_COUNTERS_NAME) registry.removeSingleMetric(sum)
      new Gauge({
        name: "runplane_build_info",
        help: "Always 1; the labels say what runs",
        labelNames: ["service", "version", "node"],
        registers
      }).set({ service, version: RUNPLANE_VERSION, node: process.versions.node }, 1)
      new Counter({
        name: "runplane_trace_spans_total",
        help: "Spans that were exported, and spans that were dropped",
        labelNames: ["outcome"],
        registers,
        collect() {
          this.reset()
          this.inc({ outcome: "exported" }, spans.exported)
          this.inc({ outcome: "dropped" }, spans.dropped)
        }
      })
      const labelNames = ["method", "path", "status_code"] as const
      const seconds = new Histogram({
        name: "http_request_duration_seconds",
        help: "Time until the answer was ready",
        labelNames,
        buckets: HTTP_BUCKETS,
        registers
      })
      const requests = new Counter({ name: "http_requests_total", help: "Answered requests", labelNames, registers })
      const refusals = new Counter({
        name: "access_refusals_total",
        help: "Requests answered with 401 or 403, by whether a key or token named the caller",
        labelNames: ["status_code", "caller"],
        registers
      })
      for (const status of ["401", "403"]) {
        for (const caller of ["known", "unknown"]) refusals.labels(status, caller).inc(0)
      }
      return {
        registry,
        loops: Loops.make(() => clock.currentTimeMillisUnsafe(), registry),
        observe: ({ caller, method, route, seconds: took, status }) => {
          if (status === 401 || status === 403) {
            refusals.inc({ status_code: String(status), caller: caller === undefined ? "unknown" : "known" })
          }
          const labels = { method, path: route, status_code: String(status) }
          seconds.observe(labels, took)
          requests.inc(labels)
        }
      }
    }
  )
