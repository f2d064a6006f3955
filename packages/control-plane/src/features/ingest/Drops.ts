import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { DropReason } from "../../platform/metrics/IngestReasons.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { MAX_BYTES_PER_RUN, MAX_SPANS_PER_RUN } from "./SpanInbox.ts"

/** Of one reason the log has a line at most so often. Milliseconds. */
const LOG_EVERY_MS = 60_000

/** Why telemetry is dropped that its sender expects to find, for people. */
export const DROPPED_BECAUSE = {
  run_full:
    `the run has ${MAX_SPANS_PER_RUN} spans and log records, or ${MAX_BYTES_PER_RUN} bytes of them, ` +
    "the most that a run may have",
  run_deleted: "the run of their trace was deleted",
  invalid: "their request does not have the form of OTLP, or is over its limits"
} as const satisfies Partial<Record<DropReason, string>>

const REMEDY = "let the exporter compress, send smaller batches, or raise OTLP_MAX_BODY_BYTES"
/** Sources whose last line is known. */
const MOST_SOURCES = 1_000

const isSaid = (reason: DropReason): reason is keyof typeof DROPPED_BECAUSE => reason in DROPPED_BECAUSE

/**
 * Counts what ingest drops, by reason (docs/reference/ingest.md#dropped), and says it in the log where the sender loses
 * something.
 */
export class Drops extends Context.Service<
  Drops,
  {
    /** An export of a source is refused because it is too large, for the reason that its sender gets. */
    readonly refuse: (source: string, reason: string) => Effect.Effect<void>
    /** `count` spans, log records or parts of them of a source are dropped. */
    readonly drop: (reason: DropReason, count: number, source: string) => Effect.Effect<void>
  }
>()("runplane/control-plane/Drops") {
  static readonly layer = Layer.effect(
    Drops,
    Effect.gen(function* () {
      const metrics = yield* Metrics
      const unsaid = new Map<DropReason, { saidAt: number; count: number }>()

      const drop = Effect.fnUntraced(function* (reason: DropReason, count: number, source: string) {
        if (count === 0) return
        metrics.otlpDropped(reason, count)
        if (!isSaid(reason)) return
        const now = yield* Clock.currentTimeMillis
        const { count: before, saidAt } = unsaid.get(reason) ?? { count: 0, saidAt: Number.NEGATIVE_INFINITY }
        const isDue = now - saidAt >= LOG_EVERY_MS
        unsaid.set(reason, isDue ? { count: 0, saidAt: now } : { count: before + count, saidAt })
        if (!isDue) return
        const line = `dropped ${before + count} spans and log records of OpenTelemetry: ${DROPPED_BECAUSE[reason]}`
        yield* Effect.annotateLogs(Effect.logWarning(line), { reason, source })
      })
      const refusedAt = new Map<string, number>()
      const refuse = Effect.fnUntraced(function* (source: string, reason: string) {
        metrics.otlpTooLarge(source)
        const now = yield* Clock.currentTimeMillis
        if (now - (refusedAt.get(source) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return
        refusedAt.delete(source)
        refusedAt.set(source, now)
        for (const oldest of refusedAt.keys()) if (refusedAt.size > MOST_SOURCES) refusedAt.delete(oldest)
        const line = `refused an export of OpenTelemetry, whose spans are lost: ${reason}; ${REMEDY}`
        yield* Effect.annotateLogs(Effect.logWarning(line), { reason: "too_large", source })
      })
      return Drops.of({ drop, refuse })
    })
  )
}
