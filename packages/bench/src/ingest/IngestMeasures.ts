import * as PgClient from "@effect/sql-pg/PgClient"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { Deliveries } from "../client/Deliveries.ts"
import { openEventStream, streamOf } from "../client/EventStream.ts"
import { type Cost, measured, within } from "../Measurement.ts"
import { number } from "../Report.ts"
import { readStamp } from "../runtime/History.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import type { Spread } from "../Statistics.ts"
import { closeFleet, openFleet } from "../scenarios/Fleet.ts"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"
import { compressed, type ExportLoad, exportBody, makeExporter } from "./Exports.ts"

/** `OTLP_SETTLE_MS` of the control plane, its default. */
const SETTLE_MS = 5_000
/** `OTLP_IDLE_MS` for traces that never end; production waits three minutes. */
const IDLE_MS = 30_000

/** Settings of the control plane: the load may wait in the span inbox as a whole. */
export const SETTINGS = {
  OTLP_SETTLE_MS: String(SETTLE_MS),
  OTLP_IDLE_MS: String(IDLE_MS),
  OTLP_PARENT_WAIT_MS: String(IDLE_MS),
  OTLP_INBOX_BYTES: String(2 * 1024 ** 3)
}

const EXPORTERS = 4
const TRACES_PER_REQUEST = 10
const SPANS_PER_TRACE = 20
const SPANS_PER_REQUEST = TRACES_PER_REQUEST * SPANS_PER_TRACE
const CONTENT_BYTES = 300
const OBSERVED_RUNS = 20
/** Envelopes a second of all observed runs together. */
const ENVELOPES_PER_SECOND = 100
const EVENTS_PER_ENVELOPE = 2
const LEAD_SECONDS = 2
const POLL = Duration.millis(20)
const TIMEOUT = Duration.minutes(5)
const BYTES_PER_MIB = 1024 * 1024

const nowMs = Clock.currentTimeMillis

/** Trace ids are not used twice in one database. */
let nextTrace = 0
const bodiesOf = Effect.fnUntraced(function* (requests: number, load: Omit<ExportLoad, "firstTrace">) {
  const now = yield* nowMs
  return Array.from({ length: requests }, () => {
    const body = compressed(exportBody({ ...load, firstTrace: nextTrace }, now))
    nextTrace += load.traces
    return body
  })
})
const usual = {
  traces: TRACES_PER_REQUEST,
  spansPerTrace: SPANS_PER_TRACE,
  contentBytes: CONTENT_BYTES,
  hasRoot: true
} as const

const count = (what: "otlp_inbox" | "open") =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [row] = yield* what === "otlp_inbox"
      ? sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM otlp_inbox`
      : sql<{ readonly count: number }>`
          SELECT count(*)::int AS count FROM runs WHERE runtime_kind = 'otlp' AND status = 'running'`
    return row?.count ?? 0
  })

const until = <E, R>(what: string, condition: Effect.Effect<boolean, E, R>) =>
  within(what, Effect.repeat(condition, { until: (reached) => reached, schedule: Schedule.spaced(POLL) }), TIMEOUT)

const processed = Effect.andThen(
  until(
    "an empty span inbox",
    Effect.map(count("otlp_inbox"), (rows) => rows === 0)
  ),
  until(
    "the end of all runs",
    Effect.map(count("open"), (runs) => runs === 0)
  )
)

const perThousand = (cpuSeconds: number | undefined, spans: number) =>
  cpuSeconds === undefined ? "?" : `${number((cpuSeconds * 1e6) / spans)} ms`

const othersOf = ({ foreignCpu, seconds }: Cost) =>
  foreignCpu === undefined ? "" : `; others ${number(foreignCpu / seconds)} CPUs`

/** All at once: what receiving and processing cost. */
export const bulk = (spans: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const send = yield* makeExporter
      const bodies = yield* bodiesOf(Math.ceil(spans / SPANS_PER_REQUEST), usual)
      const sent = bodies.length * SPANS_PER_REQUEST
      const begun = yield* nowMs
      const received = yield* measured(Effect.forEach(bodies, send, { concurrency: EXPORTERS, discard: true }))
      const ended = yield* nowMs
      const processing = yield* measured(processed)
      const settled = begun + SETTLE_MS
      const seconds = ((yield* nowMs) - Math.max(settled, ended)) / 1_000
      const overlap = ended > settled ? `, ${number((ended - settled) / 1_000)} s of it while receiving` : ""
      return (
        `${number(sent)} spans at once: received ${number(sent / received.cost.seconds)}/s, ` +
        `${perThousand(received.cost.serviceCpu, sent)} of CPU per 1,000 spans, ` +
        `database ${perThousand(received.cost.databaseCpu, sent)}; ` +
        `processed ${number(sent / (seconds + Math.max(0, ended - settled) / 1_000))}/s${overlap}, ` +
        `${perThousand(processing.cost.serviceCpu, sent)} of CPU per 1,000 spans, ` +
        `database ${perThousand(processing.cost.databaseCpu, sent)}${othersOf(processing.cost)}`
      )
    })
  )

/** Observed runs whose events come at an even pace while the effect runs: how late their events are. */
const beside = Effect.fnUntraced(function* <A, E, R>(seconds: number, effect: Effect.Effect<A, E, R>) {
  const runtime = yield* RuntimeProcess
  const fleet = yield* openFleet(OBSERVED_RUNS, 0)
  const deliveries = new Deliveries()
  const streams = yield* Effect.forEach(fleet.runIds, (runId) =>
    openEventStream(streamOf(runId), (frame, receivedMicros) => {
      const emitted = readStamp(frame)
      if (emitted !== undefined) deliveries.note(emitted, receivedMicros)
    })
  )
  const perRun = Math.round((ENVELOPES_PER_SECOND * seconds) / OBSERVED_RUNS)
  const envelopes = perRun * OBSERVED_RUNS
  const pace = runtime.run({
    _tag: "Pace",
    sessions: fleet.sessions,
    envelopes,
    perSecond: ENVELOPES_PER_SECOND
  })
  const { cost, value } = yield* measured(
    Effect.gen(function* () {
      const [value] = yield* Effect.all([effect, pace], { concurrency: 2 })
      yield* within(
        "all events of the observed runs",
        Effect.forEach(streams, ({ brought }) => brought(perRun * EVENTS_PER_ENVELOPE), { discard: true })
      )
      return value
    })
  )
  yield* closeFleet(fleet)
  return { cost, value, millis: deliveries.times(LEAD_SECONDS).settled }
}, Effect.scoped)

const lateness = ({ max, p50, p99 }: Spread) =>
  `events of ${OBSERVED_RUNS} observed runs late by p50 ${number(p50)}, p99 ${number(p99)}, max ${number(max)} ms`

/** The same events with nothing beside them. */
export const alone = (seconds: number) =>
  Effect.map(beside(seconds, Effect.void), ({ cost, millis }) => `no spans: ${lateness(millis)}${othersOf(cost)}`)

/** Spans at an even pace: whether the processing keeps up. */
export const paced = (perSecond: number, seconds: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const send = yield* makeExporter
      const requests = Math.ceil((perSecond * seconds) / SPANS_PER_REQUEST)
      const bodies = yield* bodiesOf(requests, usual)
      const spans = requests * SPANS_PER_REQUEST
      const load = Effect.gen(function* () {
        const begun = yield* nowMs
        const sendAt = Effect.fnUntraced(function* (body: Buffer, index: number) {
          const at = begun + (index * SPANS_PER_REQUEST * 1_000) / perSecond
          yield* Effect.sleep(Math.max(0, at - (yield* nowMs)))
          yield* send(body)
        })
        yield* Effect.forEach(bodies, sendAt, { concurrency: EXPORTERS, discard: true })
        const sent = yield* nowMs
        const left = yield* count("otlp_inbox")
        yield* processed
        const ended = yield* nowMs
        return { left, sent: (sent - begun) / 1_000, processed: (ended - begun - SETTLE_MS) / 1_000 }
      })
      const { cost, millis, value } = yield* beside(seconds + SETTLE_MS / 1_000, load)
      return (
        `${number(perSecond)} spans/s for ${seconds} s: received in ${number(value.sent)} s, ` +
        `${number(value.left)} waited then, processed at ${number(spans / value.processed)}/s, ` +
        `${perThousand(cost.serviceCpu, spans)} of CPU per 1,000 spans with the observed runs, ` +
        `database ${perThousand(cost.databaseCpu, spans)}; ${lateness(millis)}; ` +
        `peak ${number(cost.peakBytes / BYTES_PER_MIB)} MiB${othersOf(cost)}`
      )
    })
  )

/** Bodies of JSON near the largest, one after the other. */
export const largeBodies = (bodies: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const send = yield* makeExporter
      const load = { traces: 45, spansPerTrace: 200, contentBytes: 2_800, hasRoot: true }
      const now = yield* nowMs
      const raw = Array.from({ length: bodies }, () => {
        const body = exportBody({ ...load, firstTrace: nextTrace }, now)
        nextTrace += load.traces
        return body
      })
      const bytes = raw.reduce((sum, body) => sum + body.length, 0) / bodies
      const ready = raw.map(compressed)
      const { cost, millis, value } = yield* beside(
        20,
        Effect.gen(function* () {
          const begun = yield* nowMs
          yield* Effect.forEach(ready, send, { discard: true })
          return ((yield* nowMs) - begun) / 1_000
        })
      )
      yield* processed
      return (
        `${bodies} bodies of JSON of ${number(bytes / BYTES_PER_MIB)} MiB: received in ${number(value)} s; ` +
        `${lateness(millis)}; peak ${number(cost.peakBytes / BYTES_PER_MIB)} MiB${othersOf(cost)}`
      )
    })
  )

/** Traces without a root: memory while they are open, and that all of them end. */
export const endless = (traces: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const service = yield* ControlPlaneProcess
      const send = yield* makeExporter
      const before = yield* service.memory
      const load = { traces: 50, spansPerTrace: 5, contentBytes: CONTENT_BYTES, hasRoot: false }
      const bodies = yield* bodiesOf(Math.ceil(traces / load.traces), load)
      yield* Effect.forEach(bodies, send, { concurrency: EXPORTERS, discard: true })
      yield* until(
        "an empty span inbox",
        Effect.map(count("otlp_inbox"), (rows) => rows === 0)
      )
      const open = yield* count("open")
      const meanwhile = yield* service.memory
      const { cost } = yield* measured(processed)
      const after = yield* service.memory
      const sql = yield* PgClient.PgClient
      const [row] = yield* sql<{ readonly idle: number }>`
        SELECT count(*)::int AS idle FROM canonical_events
        WHERE type = 'run.completed' AND event -> 'data' ->> 'endedBecause' = 'idle'`
      const mib = ({ heapBytes, residentBytes }: { heapBytes: number; residentBytes: number }) =>
        `${number(residentBytes / BYTES_PER_MIB)} (heap ${number(heapBytes / BYTES_PER_MIB)})`
      return (
        `${number(traces)} traces without a root: ${number(open)} open after the processing; ` +
        `memory before ${mib(before)}, open ${mib(meanwhile)}, ended ${mib(after)} MiB, ` +
        `peak ${number(cost.peakBytes / BYTES_PER_MIB)} MiB; ${number(row?.idle ?? 0)} ended by idleness ` +
        `${number(cost.seconds)} s later, ${perThousand(cost.serviceCpu, traces)} of CPU per 1,000`
      )
    })
  )
