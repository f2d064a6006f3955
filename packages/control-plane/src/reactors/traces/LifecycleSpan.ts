import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type CanonicalEvent,
  type CanonicalEventType,
  decodeEventText,
  OTLP_RUNTIME_KIND,
  type RunId
} from "@runplane/domain"
import { callerFrom, RootSpans } from "@runplane/server"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"

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
  readonly trace_parent: string | null
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
 * Records the `run.lifecycle` span of a run that has ended (docs/reference/admin.md#tracing). A tracer exports a span
 * when it ends and forgets it with its process, so the span is not held open: it is made from the run's row and log
 * when the run ends, under the ids that were stored when it began. Its children may have been exported long before, by
 * other processes.
 */
export const makeLifecycleSpan = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const roots = yield* RootSpans

  const read = Effect.fnUntraced(function* (runId: RunId) {
    const [run] = yield* sql<EndedRun>`
      SELECT mode, mode_name, runtime_kind, status, trace_id, span_id, trace_parent, error_message, created_at, ended_at
      FROM runs
      WHERE id = ${runId}::uuid AND ended_at IS NOT NULL AND runtime_kind <> ${OTLP_RUNTIME_KIND}`
    const events = yield* sql<AnnotatedEvent>`
      SELECT seq, ts, type, event::text AS event FROM canonical_events
      WHERE run_id = ${runId}::uuid AND type = ANY(${ANNOTATED}::text[])
      ORDER BY seq LIMIT ${MAX_ANNOTATIONS}`
    return { run, events }
  }, Effect.withTracerEnabled(false))

  return Effect.fnUntraced(function* (runId: RunId) {
    const { events, run } = yield* read(runId)
    if (run === undefined) return
    const ids = { traceId: run.trace_id, spanId: run.span_id, caller: callerFrom(run.trace_parent) }
    const span = roots.start("run.lifecycle", ids, nanosOf(run.created_at))
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

/** The events that are attached to the run's span. */
const ANNOTATED: ReadonlyArray<CanonicalEventType> = [
  "signal.emitted",
  "signal.acknowledged",
  "policy.denied",
  "decision.finalized"
]

/** The attributes of an event that is attached to the run's span. */
const annotationsOf = (event: CanonicalEvent): Readonly<Record<string, unknown>> => {
  switch (event.type) {
    case "signal.emitted":
      return { name: event.data.signalType ?? stated(event.data.messageType), sender: stated(event.data.sender) }
    case "signal.acknowledged":
      return { signalId: stated(event.data.signalId), sender: stated(event.data.sender) }
    case "policy.denied":
      return { errorCode: event.data.errorCode }
    case "decision.finalized":
      return { action: event.data.action, outcome: event.data.outcomePositive ?? undefined }
    default:
      return {}
  }
}

const stated = (text: string): string | undefined => (text === "" ? undefined : text)

const annotationOf = ({ event, seq }: AnnotatedEvent): Record<string, unknown> => {
  const annotations = annotationsOf(Result.getOrThrow(decodeEventText(event)))
  const present = Object.entries(annotations).filter(([, value]) => value !== undefined)
  return { seq: Number(seq), ...Object.fromEntries(present) }
}
