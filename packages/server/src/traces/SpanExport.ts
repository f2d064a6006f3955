import { TraceFlags } from "@opentelemetry/api"
import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from "@opentelemetry/sdk-trace"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { makeOutageLog } from "../OutageLog.ts"
import { readSettings } from "../settings/ReadSettings.ts"
import { ServiceSettings } from "../settings/ServiceSettings.ts"
import type { Counts } from "./SpanCounts.ts"

/** How long the last spans may take on their way to the collector when the service stops. */
export const FLUSH_TIMEOUT = Duration.seconds(1)

const settings = {
  maxQueueSize: ServiceSettings.OTEL_BSP_MAX_QUEUE_SIZE,
  maxExportBatchSize: ServiceSettings.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
  scheduledDelayMillis: ServiceSettings.OTEL_BSP_SCHEDULE_DELAY,
  exportTimeoutMillis: ServiceSettings.OTEL_BSP_EXPORT_TIMEOUT
}

/** The codes of an exporter's results. */
const SUCCESS = 0
const FAILED = 1

export interface SpanExport {
  readonly processor: SpanProcessor
  /** Exports what waits, and ends; spans that are not exported within `FLUSH_TIMEOUT` are lost, which is logged. */
  readonly stop: Effect.Effect<void>
}

/**
 * Batches ended spans for an exporter and adds to `counts` what becomes of each (docs/reference/admin.md#tracing). An
 * exporter that fails is logged once, then at growing distances, and when it works again.
 */
export const makeSpanExport = Effect.fnUntraced(function* (exporter: SpanExporter, counts: Counts) {
  const { maxQueueSize, ...batch } = yield* readSettings(settings)
  const log = Effect.runForkWith(yield* Effect.context())
  const outages = makeOutageLog("the export of traces")
  /** Spans that wait for the exporter, and spans that it has not answered for. */
  let queued = 0
  let underWay = 0
  /** Spans dropped since the last success. */
  let lost = 0
  let overflowed = false

  const drop = (spans: number) => {
    counts.dropped += spans
    lost += spans
  }

  const settle = (spans: number, failure: string | undefined) => {
    underWay -= spans
    if (failure === undefined) counts.exported += spans
    else drop(spans)
    const reason = failure ?? (overflowed ? `more than ${maxQueueSize} spans wait for the exporter` : undefined)
    overflowed = false
    if (reason !== undefined) {
      log(outages.lost(`${reason}; ${lost} spans are lost so far`))
      return
    }
    lost = 0
    log(outages.back)
  }

  const counted: SpanExporter = {
    export: (spans, done) => {
      queued -= spans.length
      underWay += spans.length
      const settled: typeof done = (result) => {
        settle(spans.length, result.code === SUCCESS ? undefined : reasonOf(result.error))
        done(result)
      }
      try {
        exporter.export(spans, settled)
      } catch (error) {
        settled({ code: FAILED, error: error instanceof Error ? error : new Error(String(error)) })
      }
    },
    shutdown: () => exporter.shutdown()
  }
  const batches = new BatchSpanProcessor({
    ...batch,
    // The SDK refuses a batch that its queue cannot hold.
    maxExportBatchSize: Math.min(batch.maxExportBatchSize, maxQueueSize),
    exporter: counted,
    maxQueueSize
  })

  const processor: SpanProcessor = {
    onStart: (span, parent) => batches.onStart(span, parent),
    onEnd: (span) => {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return
      // The SDK drops what its queue cannot hold without a word, so a full queue is found here.
      if (queued >= maxQueueSize) {
        overflowed = true
        drop(1)
        return
      }
      queued += 1
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown()
  }

  // A finalizer cannot be interrupted, and a promise that is not interrupted outlasts every time-out.
  const flushed = Effect.ignore(Effect.tryPromise(() => batches.shutdown())).pipe(
    Effect.interruptible,
    Effect.timeoutOption(FLUSH_TIMEOUT)
  )
  const stop = Effect.gen(function* () {
    const before = counts.dropped
    yield* flushed
    const missing = counts.dropped - before + queued + underWay
    if (missing === 0) return
    yield* Effect.logWarning(`the last ${missing} spans are lost: the collector did not take them in time`)
  })

  return { processor, stop } satisfies SpanExport
})

/** Errors of several addresses have no text of their own; refusals over HTTP have a code beside it. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "the exporter gave no reason"
  const code = "code" in error ? String(error.code) : ""
  if (error.message === "") return code === "" ? error.name : code
  return code === "" || error.message.includes(code) ? error.message : `${error.message} (${code})`
}
