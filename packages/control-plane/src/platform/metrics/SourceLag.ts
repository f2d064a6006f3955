import { Gauge, type Registry } from "prom-client"

/** A source of telemetry of which something waits. */
export interface WaitingSource {
  readonly source: string
  /** How long the oldest of it has waited. */
  readonly lagSeconds: number
}

/** The begin of the name of a token's holder. Holders share a label: metrics name no persons. */
const HOLDER = "user:"

export const sourceLabel = (source: string, bounded: (source: string) => string): string =>
  source.startsWith(HOLDER) ? "users" : bounded(source)

/** The lag of each source of telemetry, as read last (docs/reference/ingest.md#turns). */
export const makeSourceLag = (registers: Array<Registry>, bounded: (source: string) => string) => {
  const gauge = new Gauge({
    name: "otlp_source_lag_seconds",
    help: "How long the oldest waiting span or log record of a source has waited, of all processes",
    labelNames: ["source"],
    registers
  })
  return (sources: ReadonlyArray<WaitingSource>) => {
    const lags = new Map<string, number>()
    for (const { lagSeconds, source } of sources) {
      const label = sourceLabel(source, bounded)
      lags.set(label, Math.max(lagSeconds, lags.get(label) ?? 0))
    }
    gauge.reset()
    for (const [source, lag] of lags) gauge.set({ source }, lag)
  }
}
