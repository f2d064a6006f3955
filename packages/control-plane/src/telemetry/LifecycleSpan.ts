import * as PgClient from "@effect/sql-pg/PgClient"
import { isJsonObject, objectAt, type RunId, textAt } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as Tracer from "effect/Tracer"

/** Annotations of one run span, the limit that OpenTelemetry sets by default. */
export const MAX_ANNOTATIONS = 128

const NANOS_PER_MS = 1_000_000n
export const nanosOf = (at: Date): bigint => BigInt(at.getTime()) * NANOS_PER_MS

/** The end of the span of a failed run. */
class RunFailed extends Data.TaggedError("RunFailed")<{ readonly message: string }> {}

interface EndedRun {
  readonly mode: string
  readonly mode_name: string
  readonly runtime_kind: string
  readonly status: string
  readonly trace_id: string
  readonly span_id: string
  readonly error_message: string | null
  readonly created_at: Date
  readonly ended_at: Date
}

interface AnnotatedEvent {
  readonly seq: bigint
  readonly ts: Date
  readonly type: string
  readonly event: string
}

/**
 * Records the `run.lifecycle` span of a run that has ended (run-control-plane "Trace spans"; http-details section 13.6). A tracer
 * exports a span when it ends and forgets it with its process, so the span is not held open: it is made from the run's row and
 * log when the run ends, under the ids that were stored when it began. Its children may have been exported long before, by
 * other processes.
 */
export const makeLifecycleSpan = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const tracer = yield* Effect.tracer

  const read = Effect.fnUntraced(function* (runId: RunId) {
    const [run] = yield* sql<EndedRun>`
      SELECT mode, mode_name, runtime_kind, status, trace_id, span_id, error_message, created_at, ended_at
      FROM runs WHERE id = ${runId}::uuid AND ended_at IS NOT NULL`
    const events = yield* sql<AnnotatedEvent>`
      SELECT seq, ts, type, event::text AS event FROM canonical_events
      WHERE run_id = ${runId}::uuid AND type = ANY(${Object.keys(annotations)}::text[])
      ORDER BY seq LIMIT ${MAX_ANNOTATIONS}`
    return { run, events }
  }, Effect.withTracerEnabled(false))

  return Effect.fnUntraced(function* (runId: RunId) {
    const { events, run } = yield* read(runId)
    if (run === undefined) return
    const span = withIds(
      tracer.span({
        name: "run.lifecycle",
        parent: Option.none(),
        annotations: Context.empty(),
        links: [],
        startTime: nanosOf(run.created_at),
        kind: "internal",
        root: true,
        sampled: true
      }),
      run
    )
    span.attribute("run_id", runId)
    span.attribute("runtime_kind", run.runtime_kind)
    span.attribute("mode_name", run.mode_name)
    span.attribute("execution_mode", run.mode)
    span.attribute("run.terminal_status", run.status)
    for (const event of events) span.event(event.type, nanosOf(event.ts), annotationOf(event))
    span.end(
      nanosOf(run.ended_at),
      run.status === "failed" ? Exit.fail(new RunFailed({ message: run.error_message ?? "run failed" })) : Exit.void
    )
  })
})

/** A tracer chooses the ids of its spans itself; this one had its ids before it had a span. */
const withIds = (span: Tracer.Span, ids: Pick<EndedRun, "span_id" | "trace_id">): Tracer.Span =>
  Object.defineProperties(span, { traceId: { value: ids.trace_id }, spanId: { value: ids.span_id } })

type Event = Schema.JsonObject
const dataOf = (event: Event): Event => objectAt(event, "data") ?? {}
const payloadOf = (event: Event): Event => objectAt(dataOf(event), "decodedPayload") ?? {}
const senderOf = (event: Event) => textAt(event, "sender") ?? textAt(dataOf(event), "sender")

/** The events that are attached to the run's span, and what is told of each. */
const annotations: Readonly<Record<string, (event: Event) => Readonly<Record<string, unknown>>>> = {
  "signal.emitted": (event) => ({
    name: textAt(payloadOf(event), "signalType", "signal_type") ?? textAt(dataOf(event), "messageType"),
    sender: senderOf(event)
  }),
  "signal.acknowledged": (event) => ({
    signalId: textAt(payloadOf(event), "signalId", "signal_id") ?? textAt(objectAt(event, "subject") ?? {}, "id"),
    sender: senderOf(event)
  }),
  "policy.denied": (event) => ({ errorCode: textAt(dataOf(event), "errorCode") }),
  "decision.finalized": (event) => ({
    action: textAt(payloadOf(event), "action"),
    outcome: payloadOf(event)["outcome_positive"]
  })
}

const annotationOf = ({ event, seq, type }: AnnotatedEvent): Record<string, unknown> => {
  const parsed: Schema.Json = JSON.parse(event)
  const told = annotations[type]?.(isJsonObject(parsed) ? parsed : {}) ?? {}
  const stated = Object.entries(told).filter(([, value]) => value !== undefined)
  return { seq: Number(seq), ...Object.fromEntries(stated) }
}
