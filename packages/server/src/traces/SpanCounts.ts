import * as Context from "effect/Context"

/** The exported and dropped spans of this process, for the metrics; the exporter adds to it. */
export interface Counts {
  exported: number
  /** Ended and not exported: the collector refused them or was away, or the queue was full. */
  dropped: number
}

/** Without a recording tracer both stay 0. */
export const SpanCounts = Context.Reference<Counts>("runplane/server/SpanCounts", {
  defaultValue: () => ({ exported: 0, dropped: 0 })
})
