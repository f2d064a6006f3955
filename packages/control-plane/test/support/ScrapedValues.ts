import type { ScrapedValues } from "../../src/platform/metrics/Metrics.ts"

/** What a control plane shows that does nothing. */
export const idle: ScrapedValues = {
  activeRuntimeStreams: 0,
  oldestAppendMs: 0,
  waitingAppends: 0,
  pool: { inUse: 0, waiting: 0, max: 1 },
  webhookBacklog: 0,
  circuitState: "CLOSED",
  circuitFailures: 0,
  circuitSuccesses: 0
}
