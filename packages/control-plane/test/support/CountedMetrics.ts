import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Metrics } from "../../src/platform/metrics/Metrics.ts"

/** The metrics, with the counters of a test instead of some of them. */
export const countedMetrics = (counters: Partial<(typeof Metrics)["Service"]>) =>
  Layer.effect(
    Metrics,
    Effect.map(Metrics, (metrics) => ({ ...metrics, ...counters }))
  )
