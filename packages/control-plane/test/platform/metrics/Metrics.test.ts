import { assert, describe, it } from "@effect/vitest"
import { RUNPLANE_VERSION } from "@runplane/api"
import { Loops } from "@runplane/server"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import { MAX_FREE_LABEL_VALUES, MAX_MESSAGE_PAIRS, Metrics } from "../../../src/platform/metrics/Metrics.ts"
import { idle } from "../../support/ScrapedValues.ts"

const HTTP_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const RUN_BUCKETS = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600]
const GRPC_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]

/** Name, type, a sample with all its labels, and the buckets of a histogram. */
const table: ReadonlyArray<readonly [name: string, type: string, sample: string, buckets?: ReadonlyArray<number>]> = [
  [
    "http_request_duration_seconds",
    "histogram",
    '_count{method="GET",path="/runs/:id",status_code="403"} 1',
    HTTP_BUCKETS
  ],
  ["http_requests_total", "counter", '{method="GET",path="/runs/:id",status_code="403"} 1'],
  ["active_sse_connections", "gauge", " 1"],
  ["active_runtime_streams", "gauge", " 7"],
  ["log_oldest_append_seconds", "gauge", " 0"],
  ["otlp_received_total", "counter", " 9"],
  ["otlp_rejected_total", "counter", " 2"],
  ["otlp_duplicate_spans_total", "counter", " 4"],
  ["otlp_drained_total", "counter", " 5"],
  ["otlp_too_large_total", "counter", '{source="users"} 1'],
  ["otlp_unread_spans_total", "counter", '{scope="acme.tracer"} 1'],
  ["otlp_dropped_total", "counter", '{reason="run_deleted"} 3'],
  ["otlp_join_refused_total", "counter", '{reason="not_named"} 1'],
  ["otlp_marks_total", "counter", '{outcome="stored"} 2'],
  ["otlp_inbox_rows", "gauge", " 4"],
  ["otlp_inbox_bytes", "gauge", " 800"],
  ["otlp_inbox_lag_seconds", "gauge", " 1.5"],
  ["otlp_source_lag_seconds", "gauge", '{source="team"} 1.5'],
  ["runplane_alerts_open", "gauge", '{severity="critical"} 3'],
  ["runplane_alerts_lag_seconds", "gauge", " 0.25"],
  ["runplane_decisions_lag_seconds", "gauge", " 0.5"],
  ["runplane_archive_lag_seconds", "gauge", " 2.5"],
  ["runplane_archive_lag_events", "gauge", " 12"],
  ["runplane_archive_rows_total", "counter", " 100"],
  ["runplane_archive_bytes_total", "counter", " 2000"],
  ["runplane_archive_files_total", "counter", " 3"],
  ["runplane_archive_failures_total", "counter", '{kind="full"} 1'],
  ["retention_waiting_runs", "gauge", " 6"],
  ["run_state_transitions_total", "counter", '{status="running"} 1'],
  ["proto_run_duration_seconds", "histogram", '_count{terminal_status="completed",mode_name="m"} 1', RUN_BUCKETS],
  ["macp_run_duration_seconds", "histogram", "_count 1", RUN_BUCKETS],
  ["grpc_call_duration_seconds", "histogram", '_count{method="GetSession",status="error"} 1', GRPC_BUCKETS],
  ["circuit_breaker_state", "gauge", " 1"],
  ["proto_circuit_breaker_failures_total", "counter", " 2"],
  ["proto_circuit_breaker_success_total", "counter", " 3"],
  ["proto_outbound_messages_total", "counter", '{category="message",status="accepted"} 1'],
  ["proto_inbound_messages_total", "counter", '{mode="m",message_type="Vote"} 1'],
  ["proto_signals_total", "counter", '{signal_type="risk"} 1'],
  ["proto_stream_reconnects_total", "counter", " 1"],
  ["proto_stream_resume_gap_total", "counter", " 1"],
  ["proto_signal_gaps_total", "counter", " 1"],
  ["proto_signals_lost_total", "counter", " 1"],
  ["proto_recovery_total", "counter", '{status="failed"} 1'],
  ["proto_webhook_deliveries_total", "counter", '{status="delivered"} 1'],
  ["webhook_delivery_attempts_total", "counter", '{status="failed"} 1'],
  ["proto_post_commit_side_effect_failures_total", "counter", '{step="audit"} 1'],
  ["runplane_seal_doubts_total", "counter", '{what="head"} 1'],
  ["proto_decision_receipts_total", "counter", '{result="refuted"} 1'],
  ["retention_removed_total", "counter", '{kind="run"} 4'],
  ["retention_sweeps_total", "counter", '{status="completed"} 1'],
  ["retention_last_sweep_duration_seconds", "gauge", " 0.5"],
  ["log_waiting_appends", "gauge", " 4"],
  ["webhook_backlog_deliveries", "gauge", " 11"],
  ["db_pool_connections", "gauge", '{state="in_use"} 3'],
  ["db_pool_max_connections", "gauge", " 23"],
  ["runtime_last_frame_timestamp_seconds", "gauge", " 1700000000.25"],
  ["access_refusals_total", "counter", '{status_code="403",caller="unknown"} 1'],
  ["runplane_trace_spans_total", "counter", '{outcome="dropped"} 0'],
  ["runplane_loop_failures_total", "counter", '{loop="ledger"} 1'],
  ["runplane_loop_last_round_timestamp_seconds", "gauge", '{loop="ledger"} 0.5'],
  ["runplane_loop_late_seconds", "gauge", '{loop="ledger"} 90'],
  [
    "runplane_build_info",
    "gauge",
    `{service="control-plane",version="${RUNPLANE_VERSION}",node="${process.versions.node}"} 1`
  ]
]

const values = {
  activeRuntimeStreams: 7,
  oldestAppendMs: 0,
  waitingAppends: 4,
  pool: { inUse: 3, waiting: 2, max: 23 },
  webhookBacklog: 11,
  circuitState: "HALF_OPEN",
  circuitFailures: 2,
  circuitSuccesses: 3
} as const

const everything = Effect.gen(function* () {
  const metrics = yield* Metrics
  const request = { requestId: "r", caller: undefined, address: "127.0.0.1", id: undefined }
  metrics.httpRequest({ ...request, method: "GET", route: "/runs/:id", status: 403, seconds: 0.2 })
  metrics.framesAt(1_700_000_000_250_000_000n)
  metrics.sseOpened()
  metrics.sseOpened()
  metrics.sseClosed()
  metrics.runTransition("running")
  metrics.runEnded({ status: "completed", modeName: "m", seconds: 3 })
  metrics.runtimeCall("GetSession", 0.01, false)
  metrics.inboundMessage("m", "Vote")
  metrics.outboundMessage("message", "accepted")
  metrics.signal("risk")
  metrics.signalGap()
  metrics.signalLost()
  metrics.streamReconnect()
  metrics.streamResumeGap()
  metrics.recovery("failed")
  metrics.webhookDelivery("delivered")
  metrics.webhookAttempt("failed")
  metrics.sideEffectFailed("audit")
  metrics.sealDoubted("head")
  metrics.receiptChecked("refuted")
  metrics.otlpReceived({ received: 9, rejected: 2, duplicates: 3 })
  metrics.otlpDrained(6, 1)
  metrics.otlpUnread("acme.tracer")
  metrics.otlpTooLarge("user:ada")
  metrics.otlpJoinRefused("not_named")
  metrics.otlpMarks({ stored: 2, dropped: 1 })
  metrics.otlpDropped("run_deleted", 3)
  metrics.otlpInbox({ rows: 4, bytes: 800, lagSeconds: 1.5, sources: [{ source: "team", lagSeconds: 1.5 }] })
  metrics.alertsOpen([{ severity: "critical", open: 3 }])
  metrics.alertLag(0.25)
  metrics.decisionLag(0.5)
  metrics.archiveLag({ seconds: 2.5, events: 12 })
  metrics.archiveWritten({ rows: 100, bytes: 2_000, files: 3 })
  metrics.archiveFailed("full")
  metrics.retentionWaiting(6)
  metrics.retentionRemoved("run", 4)
  metrics.retentionSweep("completed", 0.5)
  const loops = yield* Loops
  const loop = loops.open("ledger", 60_000, 0)
  loop.worked(500)
  loop.failed(1_000, "x")
  loops.countFailure("ledger")
  yield* TestClock.adjust(90_500)
  // Counts are added once, however often the metrics are scraped.
  yield* metrics.scrape(values)
  return yield* metrics.scrape(values)
})

/** The label values that a counter exports before anything is counted. */
const atStart: Readonly<Record<string, ReadonlyArray<string>>> = {
  run_state_transitions_total: [
    'status="queued"',
    'status="starting"',
    'status="binding_session"',
    'status="running"',
    'status="suspended"',
    'status="completed"',
    'status="failed"',
    'status="cancelled"'
  ],
  proto_circuit_breaker_failures_total: [""],
  proto_circuit_breaker_success_total: [""],
  proto_outbound_messages_total: ["kickoff", "signal", "context_update", "message"].flatMap((category) => [
    `category="${category}",status="accepted"`,
    `category="${category}",status="rejected"`
  ]),
  proto_stream_reconnects_total: [""],
  proto_stream_resume_gap_total: [""],
  proto_signal_gaps_total: [""],
  proto_signals_lost_total: [""],
  proto_recovery_total: ['status="success"', 'status="failed"'],
  proto_webhook_deliveries_total: ['status="delivered"', 'status="failed"'],
  webhook_delivery_attempts_total: ['status="delivered"', 'status="failed"'],
  proto_post_commit_side_effect_failures_total: ['step="publish"', 'step="notify"', 'step="audit"', 'step="trace"'],
  retention_removed_total: [
    'kind="run"',
    'kind="event"',
    'kind="audit_entry"',
    'kind="webhook_delivery"',
    'kind="alert"'
  ],
  retention_sweeps_total: ['status="completed"', 'status="failed"'],
  access_refusals_total: ["401", "403"].flatMap((status) => [
    `status_code="${status}",caller="known"`,
    `status_code="${status}",caller="unknown"`
  ]),
  runplane_seal_doubts_total: ["head", "late", "altered", "key", "ledger", "published"].map((what) => `what="${what}"`),
  proto_decision_receipts_total: ["verified", "refuted", "unverified", "missing"].map((name) => `result="${name}"`),
  runplane_archive_rows_total: [""],
  runplane_archive_bytes_total: [""],
  runplane_archive_files_total: [""],
  runplane_archive_failures_total: [
    ...["full", "refused", "clock", "unreachable", "missing", "unreadable", "failed", "database"].map(
      (kind) => `kind="${kind}"`
    )
  ],
  otlp_received_total: [""],
  otlp_rejected_total: [""],
  otlp_duplicate_spans_total: [""],
  otlp_drained_total: [""],
  otlp_dropped_total: [
    ...["invalid", "run_full", "run_deleted", "without_span", "construction", "unrelated", "log_unread", "log_full"],
    ...["groups", "attributes", "events", "links", "values"]
  ].map((reason) => `reason="${reason}"`),
  otlp_join_refused_total: ["not_named", "other_session", "token_invalid", "token_expired"].map(
    (reason) => `reason="${reason}"`
  ),
  otlp_marks_total: ['outcome="stored"', 'outcome="dropped"'],
  runplane_trace_spans_total: ['outcome="exported"', 'outcome="dropped"'],
  // Each loop exports its own when it starts.
  runplane_loop_failures_total: [],
  // Their labels name what a client or an agent chose.
  otlp_unread_spans_total: [],
  otlp_too_large_total: [],
  http_requests_total: [],
  proto_inbound_messages_total: [],
  proto_signals_total: []
}

describe("the metrics", () => {
  it.effect("export every known label value of a counter at 0 from the start", () =>
    Effect.gen(function* () {
      const text = yield* (yield* Metrics).scrape(idle)
      const counters = [...text.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name ?? "")
      assert.sameMembers(
        counters.filter((name) => !/^(process|nodejs)_/.test(name)),
        Object.keys(atStart)
      )
      for (const [name, labels] of Object.entries(atStart)) {
        const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        const expected = labels.map((label) => (label === "" ? `${name} 0` : `${name}{${label}} 0`))
        assert.deepStrictEqual(lines, expected)
      }
    }).pipe(Effect.provide(Metrics.layer))
  )

  it.effect("have the names, types, labels and buckets of the table", () =>
    Effect.gen(function* () {
      const text = yield* everything
      for (const [name, type, sample, buckets] of table) {
        assert.include(text, `# TYPE ${name} ${type}\n`)
        assert.include(text, `\n${name}${sample}\n`)
        if (buckets === undefined) continue
        const found = [...text.matchAll(new RegExp(`^${name}_bucket\\{le="([^"+]+)"`, "gm"))].map(([, le]) =>
          Number(le)
        )
        assert.deepStrictEqual(found, [...buckets], name)
      }
    }).pipe(Effect.provide(Metrics.layer))
  )

  it.effect("are no more than the table and those of the process", () =>
    Effect.gen(function* () {
      const names = [...(yield* everything).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name ?? "")
      const own = names.filter((name) => !/^(process|nodejs)_/.test(name))
      assert.sameMembers(
        own,
        table.map(([name]) => name)
      )
      assert.isAbove(names.length, own.length + 10)
    }).pipe(Effect.provide(Metrics.layer))
  )

  it.effect("do not grow without end by labels that agents choose", () =>
    Effect.gen(function* () {
      const metrics = yield* Metrics
      for (let number = 0; number < 2 * MAX_FREE_LABEL_VALUES; number++) {
        metrics.signal(`signal-${number}`)
        metrics.inboundMessage(`mode-${number}`, `type-${number}`)
      }
      const text = yield* metrics.scrape(values)
      const series = (name: string) => text.split("\n").filter((line) => line.startsWith(`${name}{`)).length
      assert.strictEqual(series("proto_signals_total"), MAX_FREE_LABEL_VALUES + 1)
      assert.strictEqual(series("proto_inbound_messages_total"), MAX_FREE_LABEL_VALUES + 1)
      assert.include(text, `proto_signals_total{signal_type="other"} ${MAX_FREE_LABEL_VALUES}\n`)
    }).pipe(Effect.provide(Metrics.layer))
  )

  it.effect("stay small whatever types agents send", () =>
    Effect.gen(function* () {
      const metrics = yield* Metrics
      const before = (yield* metrics.scrape(values)).length
      for (let number = 0; number < 134; number++) {
        metrics.signal(`${number} ${"x".repeat(100_000)}`)
        metrics.inboundMessage(`mode ${number}`, `${number} ${"x".repeat(100_000)}`)
        metrics.runEnded({ status: "completed", modeName: `${number} ${"x".repeat(100_000)}`, seconds: 1 })
      }
      assert.isBelow((yield* metrics.scrape(values)).length - before, 20_000)
    }).pipe(Effect.provide(Metrics.layer))
  )

  it.effect("bound the pairs of mode and message type", () =>
    Effect.gen(function* () {
      const metrics = yield* Metrics
      for (let mode = 0; mode < MAX_FREE_LABEL_VALUES; mode++) {
        for (let type = 0; type < 10; type++) metrics.inboundMessage(`mode-${mode}`, `type-${type}`)
      }
      const text = yield* metrics.scrape(values)
      const series = text.split("\n").filter((line) => line.startsWith("proto_inbound_messages_total{"))
      assert.strictEqual(series.length, MAX_MESSAGE_PAIRS + 1)
    }).pipe(Effect.provide(Metrics.layer))
  )
})
