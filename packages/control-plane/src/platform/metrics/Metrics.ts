import { AlertSeverity, OutboundMessageCategory, RunStatus } from "@runplane/domain"
import { RuntimeCallMeter } from "@runplane/runtime"
import { HttpObserver, Loops, makeServiceRegistry, type ServiceRegistry } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Counter, Gauge, Histogram, Registry } from "prom-client"
import { type DropReason, dropReasons, type JoinRefusal, joinRefusals } from "./IngestReasons.ts"
import { archiveFailureKinds, type ReceiptResult, receiptResults } from "./ResultLabels.ts"
import { makeSourceLag, sourceLabel, type WaitingSource } from "./SourceLag.ts"

/** The value of a label that is beyond a bound. */
const OTHER_LABEL = "other"

/** UTF-16 code units of a label's value. */
export const MAX_LABEL_LENGTH = 64

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

const isPrintable = (value: string): boolean => value.length <= MAX_LABEL_LENGTH && !UNPRINTABLE.test(value)

/** Whether a value is among the first `limit` different ones. */
const amongFirst = (limit: number): ((value: string) => boolean) => {
  const first = new Set<string>()
  return (value) => {
    if (first.has(value)) return true
    if (first.size >= limit) return false
    first.add(value)
    return true
  }
}

/**
 * Bounds a label whose values come from agents (docs/reference/admin.md#metrics-endpoint). A value over
 * `MAX_LABEL_LENGTH`, one with control or format characters, and every new value after the first `limit` ones become
 * `other`.
 */
export const boundedLabel = (limit: number): ((value: string) => string) => {
  const isKnown = amongFirst(limit)
  return (value) => (isPrintable(value) && isKnown(value) ? value : OTHER_LABEL)
}

/** Buckets in seconds. */
const RUN_BUCKETS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600]
const GRPC_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]

/** Different values of a label that agents choose; later values are counted as `other`. */
export const MAX_FREE_LABEL_VALUES = 200
/** Different pairs of mode and message type: labels multiply each other. */
export const MAX_MESSAGE_PAIRS = 1_000

const recoveryStatuses = ["success", "failed"] as const
const deliveryStatuses = ["delivered", "failed"] as const
const outboundStatuses = ["accepted", "rejected"] as const
const retainedKinds: ReadonlyArray<string> = ["run", "event", "audit_entry", "webhook_delivery", "alert"]
const sweepStatuses = ["completed", "failed"] as const
/**
 * Work after a commit that cannot undo it: to notify the subscribers of this process (`publish`) and the other
 * instances (`notify`), the audit entry of a completed change (`audit`), and the spans (`trace`).
 */
const sideEffectSteps = ["publish", "notify", "audit", "trace"] as const
export type SideEffectStep = (typeof sideEffectSteps)[number]

/**
 * What a seal cannot prove (docs/reference/seal.md#proof): the `head` of a run whose MAC is not of this process's key,
 * a seal that was made `late`, a stored seal that was `altered` beyond reading, a `ledger` that was cut
 * or has entries without a valid MAC, and ledger entries that were not `published`.
 */
const sealDoubtKinds = ["head", "late", "altered", "key", "ledger", "published"] as const

const CIRCUIT_STATE = { CLOSED: 0, HALF_OPEN: 1, OPEN: 2 } as const

export interface RunEndMetric {
  readonly status: string
  readonly modeName: string
  readonly seconds: number
}

/** Gauges that are read from their owners at the moment of a scrape. */
export interface ScrapedValues {
  readonly activeRuntimeStreams: number
  /** How long the oldest append has waited for the log. */
  readonly oldestAppendMs: number
  /** Appends that wait. */
  readonly waitingAppends: number
  readonly pool: { readonly inUse: number; readonly waiting: number; readonly max: number }
  /** Undefined: it cannot be counted now. */
  readonly webhookBacklog: number | undefined
  readonly circuitState: keyof typeof CIRCUIT_STATE
  readonly circuitSuccesses: number
  readonly circuitFailures: number
}

/**
 * The Prometheus metrics of this process (docs/reference/admin.md#metrics-endpoint), which every part counts into. A
 * part without `Metrics.layer` counts into a registry that is never served.
 */
export class Metrics extends Context.Reference<ReturnType<typeof makeMetrics>>("runplane/control-plane/Metrics", {
  defaultValue: () => makeMetrics({ observe: () => undefined, registry: new Registry() })
}) {
  /** A registry of its own, so nothing is global, with the requests and the runtime calls of this process. */
  static readonly layer = Layer.effectContext(
    Effect.map(makeServiceRegistry("control-plane"), (registry) => {
      const metrics = makeMetrics(registry)
      return Metrics.context(metrics).pipe(
        Context.add(HttpObserver, { observe: (request) => Effect.sync(() => metrics.httpRequest(request)) }),
        Context.add(RuntimeCallMeter, metrics.runtimeCall),
        Context.add(Loops, registry.loops)
      )
    })
  )
}

const makeMetrics = ({ observe, registry }: Pick<ServiceRegistry, "observe" | "registry">) => {
  const registers = [registry]
  const counter = <Label extends string>(name: string, help: string, ...labelNames: ReadonlyArray<Label>) =>
    new Counter({ name, help, labelNames, registers })
  /** Exports every value of its label at 0 from the start: an increase from no series is invisible to Prometheus. */
  const counterOf = <Value extends string>(name: string, help: string, label: string, values: ReadonlyArray<Value>) => {
    const made = counter(name, help, label)
    for (const value of values) made.labels(value).inc(0)
    return (value: Value, count = 1) => made.labels(value).inc(count)
  }
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const histogram = <Label extends string>(
    name: string,
    help: string,
    buckets: ReadonlyArray<number>,
    ...labelNames: ReadonlyArray<Label>
  ) => new Histogram({ name, help, labelNames, registers, buckets: [...buckets] })

  const sseConnections = gauge("active_sse_connections", "Open event streams of clients")
  const runtimeStreams = gauge("active_runtime_streams", "Runs observed by this process")
  const waitingAppends = gauge("log_waiting_appends", "Appends to the log that wait to be stored")
  const lastFrame = gauge(
    "runtime_last_frame_timestamp_seconds",
    "When the last frame was received, Unix time; 0 before it"
  )
  const pool = new Gauge({
    name: "db_pool_connections",
    help: "Connections of the pool: in use, and callers that wait for one",
    labelNames: ["state"],
    registers
  })
  const poolMax = gauge("db_pool_max_connections", "Most connections of the pool")
  const webhookBacklog = gauge("webhook_backlog_deliveries", "Deliveries that are not settled yet; counted to 10,000")
  const oldestAppend = gauge("log_oldest_append_seconds", "How long the oldest append to the log has waited")
  const transitions = counterOf(
    "run_state_transitions_total",
    "Changes of run status, by new status",
    "status",
    RunStatus.literals
  )
  const runSeconds = histogram(
    "proto_run_duration_seconds",
    "From start to end of a run",
    RUN_BUCKETS,
    "terminal_status",
    "mode_name"
  )
  // Without labels: consoles that draw percentiles expect one line for each bucket.
  const allRunSeconds = histogram("macp_run_duration_seconds", "From start to end of any run", RUN_BUCKETS)
  const grpcSeconds = histogram("grpc_call_duration_seconds", "Unary runtime calls", GRPC_BUCKETS, "method", "status")
  const circuitState = gauge("circuit_breaker_state", "0 closed, 1 half open, 2 open")
  const circuitFailures = counter("proto_circuit_breaker_failures_total", "Failed runtime calls")
  const circuitSuccesses = counter("proto_circuit_breaker_success_total", "Successful runtime calls")
  const outbound = counter("proto_outbound_messages_total", "Messages of observed agents", "category", "status")
  for (const category of OutboundMessageCategory.literals)
    for (const status of outboundStatuses) outbound.labels(category, status).inc(0)
  const inbound = counter("proto_inbound_messages_total", "Messages from the runtime", "mode", "message_type")
  const signals = counter("proto_signals_total", "Ambient signals", "signal_type")
  const reconnects = counter("proto_stream_reconnects_total", "Repeated subscriptions to session streams")
  const gaps = counter("proto_stream_resume_gap_total", "Session histories that could not be continued")
  const signalGaps = counter("proto_signal_gaps_total", "Times that the runtime dropped signals of a slow reader")
  const lostSignals = counter("proto_signals_lost_total", "Signals that could not be stored")
  const recoveries = counterOf("proto_recovery_total", "Runs adopted again after a start", "status", recoveryStatuses)
  const deliveries = counterOf(
    "proto_webhook_deliveries_total",
    "Settled webhook deliveries, by outcome",
    "status",
    deliveryStatuses
  )
  const attempts = counterOf(
    "webhook_delivery_attempts_total",
    "Attempts to deliver a webhook, by outcome",
    "status",
    deliveryStatuses
  )
  const sideEffects = counterOf(
    "proto_post_commit_side_effect_failures_total",
    "Work after a commit that failed",
    "step",
    sideEffectSteps
  )
  const retained = counterOf("retention_removed_total", "Rows that retention deleted", "kind", retainedKinds)
  const sweeps = counterOf("retention_sweeps_total", "Retention sweeps, by outcome", "status", sweepStatuses)
  const sealDoubts = counterOf(
    "runplane_seal_doubts_total",
    "Heads and seals without full proof, by what",
    "what",
    sealDoubtKinds
  )
  const receipts = counterOf(
    "proto_decision_receipts_total",
    "Receipts of decisions, by the result of their check",
    "result",
    receiptResults
  )
  const otlpReceived = counter("otlp_received_total", "Spans and log records that were received")
  const otlpRejected = counter("otlp_rejected_total", "Spans and log records that were rejected")
  const otlpDuplicates = counter("otlp_duplicate_spans_total", "Spans and log records that arrived again")
  const otlpDropped = counterOf(
    "otlp_dropped_total",
    "Spans, log records and parts of them that were dropped, by reason",
    "reason",
    dropReasons
  )
  const otlpTooLarge = counter("otlp_too_large_total", "Exports that were refused as too large, by source", "source")
  const tooLargeSources = boundedLabel(MAX_FREE_LABEL_VALUES)
  const otlpJoinRefused = counterOf(
    "otlp_join_refused_total",
    "Traces that may not join the run of their session, and requests with a token that is not valid, by reason",
    "reason",
    joinRefusals
  )
  const otlpDrained = counter("otlp_drained_total", "Spans and log records that became part of a run")
  const otlpUnread = counter("otlp_unread_spans_total", "Spans that no event says anything of, by scope", "scope")
  const unreadScopes = boundedLabel(MAX_FREE_LABEL_VALUES)
  const otlpMarks = counterOf("otlp_marks_total", "Judgements of telemetry that became marks, or not", "outcome", [
    "stored",
    "dropped"
  ])
  const otlpWaiting = gauge("otlp_inbox_rows", "Received spans and log records that wait, of all processes")
  const otlpBytes = gauge("otlp_inbox_bytes", "Bytes of these")
  const otlpLag = gauge("otlp_inbox_lag_seconds", "How long the oldest of these has waited")
  const sourceLag = makeSourceLag(registers, boundedLabel(MAX_FREE_LABEL_VALUES))
  const alertsOpen = new Gauge({
    name: "runplane_alerts_open",
    help: "Open alerts, in the process that evaluates the rules",
    labelNames: ["severity"],
    registers
  })
  const alertLag = gauge("runplane_alerts_lag_seconds", "How far the evaluation of alert rules is behind the log")
  const decisionLag = gauge(
    "runplane_decisions_lag_seconds",
    "How long the oldest changed decision has waited for lists"
  )
  const archiveLag = gauge("runplane_archive_lag_seconds", "How long the oldest event has waited for its file")
  const archiveBehind = gauge("runplane_archive_lag_events", "Positions of the log that are not in files")
  const archiveRows = counter("runplane_archive_rows_total", "Rows that this process wrote to the archive")
  const archiveBytes = counter("runplane_archive_bytes_total", "Bytes of the files that it wrote")
  const archiveFiles = counter("runplane_archive_files_total", "Files that it wrote")
  const archiveFailures = counterOf(
    "runplane_archive_failures_total",
    "Attempts to write to the archive that failed, by kind",
    "kind",
    archiveFailureKinds
  )
  const retentionWaiting = gauge("retention_waiting_runs", "Expired runs that wait for the archive")
  const sweepSeconds = gauge("retention_last_sweep_duration_seconds", "How long the last sweep took")

  const modes = boundedLabel(MAX_FREE_LABEL_VALUES)
  const messageTypes = boundedLabel(MAX_FREE_LABEL_VALUES)
  const signalTypes = boundedLabel(MAX_FREE_LABEL_VALUES)
  const isKnownPair = amongFirst(MAX_MESSAGE_PAIRS)
  let countedSuccesses = 0
  let countedFailures = 0
  let reconnected = 0

  return {
    httpRequest: observe,
    sseOpened: () => sseConnections.inc(),
    sseClosed: () => sseConnections.dec(),
    /** Unix nanoseconds. */
    framesAt: (at: bigint) => lastFrame.set(Number(at / 1_000_000n) / 1_000),
    runTransition: (status: RunStatus) => transitions(status),
    runEnded: ({ modeName, seconds, status }: RunEndMetric) => {
      runSeconds.observe({ terminal_status: status, mode_name: modes(modeName) }, seconds)
      allRunSeconds.observe(seconds)
    },
    runtimeCall: (method: string, seconds: number, ok: boolean) =>
      grpcSeconds.observe({ method, status: ok ? "ok" : "error" }, seconds),
    inboundMessage: (mode: string, messageType: string) => {
      const labels = { mode: modes(mode), message_type: messageTypes(messageType) }
      const isKnown = isKnownPair(`${labels.mode}\n${labels.message_type}`)
      inbound.inc(isKnown ? labels : { mode: OTHER_LABEL, message_type: OTHER_LABEL })
    },
    outboundMessage: (category: OutboundMessageCategory, status: (typeof outboundStatuses)[number]) =>
      outbound.inc({ category, status }),
    signal: (signalType: string) => signals.inc({ signal_type: signalTypes(signalType) }),
    streamReconnect: () => {
      reconnected += 1
      reconnects.inc()
    },
    /** Repeated subscriptions to session streams since the start. */
    reconnects: () => reconnected,
    streamResumeGap: () => gaps.inc(),
    /** The runtime dropped signals; their number is unknown. */
    signalGap: () => signalGaps.inc(),
    /** A signal could not be stored. */
    signalLost: () => lostSignals.inc(),
    /** One attempt to adopt an unfinished run that no process observes; it fails when its observer cannot resume. */
    recovery: (status: (typeof recoveryStatuses)[number]) => recoveries(status),
    /** A delivery is settled: it arrived, or it was given up. */
    webhookDelivery: (status: (typeof deliveryStatuses)[number]) => deliveries(status),
    /** A receiver answered an attempt with success, or the attempt failed. */
    webhookAttempt: (status: (typeof deliveryStatuses)[number]) => attempts(status),
    sideEffectFailed: (step: SideEffectStep) => sideEffects(step),
    receiptChecked: (result: ReceiptResult) => receipts(result),
    sealDoubted: (what: (typeof sealDoubtKinds)[number]) => sealDoubts(what),
    /** Of one request: how many spans and log records it has, how many are invalid, and how many are known already. */
    otlpReceived: (request: { readonly received: number; readonly rejected: number; readonly duplicates: number }) => {
      otlpReceived.inc(request.received)
      otlpRejected.inc(request.rejected)
      otlpDuplicates.inc(request.duplicates)
    },
    /** Rows left the span inbox; some of them were part of their run already. */
    otlpDrained: (rows: number, duplicates: number) => {
      otlpDrained.inc(rows - duplicates)
      otlpDuplicates.inc(duplicates)
    },
    /** Ingest dropped spans, log records or parts of them (docs/reference/ingest.md#dropped). */
    otlpDropped: (reason: DropReason, count: number) => otlpDropped(reason, count),
    /** An export of a source was refused with 413. */
    otlpTooLarge: (source: string) => otlpTooLarge.labels(sourceLabel(source, tooLargeSources)).inc(),
    /** A span that was not understood became part of a run. */
    otlpUnread: (scope: string) => otlpUnread.labels(unreadScopes(scope === "" ? "none" : scope)).inc(),
    otlpJoinRefused: (reason: JoinRefusal) => otlpJoinRefused(reason, 1),
    otlpMarks: ({ dropped, stored }: { readonly stored: number; readonly dropped: number }) => {
      otlpMarks("stored", stored)
      otlpMarks("dropped", dropped)
    },
    otlpInbox: ({
      bytes,
      lagSeconds,
      rows,
      sources
    }: {
      readonly rows: number
      readonly bytes: number
      readonly lagSeconds: number
      readonly sources: ReadonlyArray<WaitingSource>
    }) => {
      otlpWaiting.set(rows)
      otlpBytes.set(bytes)
      otlpLag.set(lagSeconds)
      sourceLag(sources)
    },
    alertLag: (seconds: number) => alertLag.set(seconds),
    alertsOpen: (counts: ReadonlyArray<{ readonly severity: AlertSeverity; readonly open: number }>) => {
      for (const severity of AlertSeverity.literals) {
        alertsOpen.set({ severity }, counts.find((count) => count.severity === severity)?.open ?? 0)
      }
    },
    /** Another process evaluates the rules. */
    alertsLeft: () => {
      alertsOpen.reset()
      alertLag.set(0)
    },
    /** 0 where another process keeps the decisions. */
    decisionLag: (seconds: number) => decisionLag.set(seconds),
    /** Another process archives when it is undefined. */
    archiveLag: (lag: { readonly seconds: number; readonly events: number } | undefined) => {
      archiveLag.set(lag?.seconds ?? 0)
      archiveBehind.set(lag?.events ?? 0)
    },
    archiveWritten: (written: { readonly rows: number; readonly bytes: number; readonly files: number }) => {
      archiveRows.inc(written.rows)
      archiveBytes.inc(written.bytes)
      archiveFiles.inc(written.files)
    },
    archiveFailed: (kind: (typeof archiveFailureKinds)[number]) => archiveFailures(kind),
    retentionRemoved: (kind: string, count: number) => retained(kind, count),
    /** Runs past their time that wait for the archive, of the last sweep. */
    retentionWaiting: (runs: number) => retentionWaiting.set(runs),
    retentionSweep: (status: (typeof sweepStatuses)[number], seconds: number) => {
      sweeps(status)
      sweepSeconds.set(seconds)
    },
    /** Text in exposition format 0.0.4. */
    scrape: (values: ScrapedValues) =>
      Effect.suspend(() => {
        runtimeStreams.set(values.activeRuntimeStreams)
        oldestAppend.set(values.oldestAppendMs / 1_000)
        waitingAppends.set(values.waitingAppends)
        pool.set({ state: "in_use" }, values.pool.inUse)
        pool.set({ state: "waiting" }, values.pool.waiting)
        poolMax.set(values.pool.max)
        webhookBacklog.set(values.webhookBacklog ?? Number.NaN)
        circuitState.set(CIRCUIT_STATE[values.circuitState])
        circuitSuccesses.inc(Math.max(0, values.circuitSuccesses - countedSuccesses))
        circuitFailures.inc(Math.max(0, values.circuitFailures - countedFailures))
        countedSuccesses = values.circuitSuccesses
        countedFailures = values.circuitFailures
        return Effect.promise(() => registry.metrics())
      })
  }
}
