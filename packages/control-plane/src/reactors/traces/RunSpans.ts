import { isTerminal, type RawFrame, type RunId } from "@runplane/domain"
import { tracingEnabled } from "@runplane/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Tracer from "effect/Tracer"
import type { ObservedFrame } from "../../event-log/append/AppendRequest.ts"
import type { Reactor } from "../../event-log/append/Reactors.ts"
import { parentSpan, RunTraces } from "../../event-log/runs/RunTraces.ts"
import { forever } from "../../platform/loop/Forever.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { makeLifecycleSpan, nanosOf } from "./LifecycleSpan.ts"
import { type LlmSpan, makeLlmSpan } from "./LlmSpans.ts"

/** Records that wait to become spans. Further ones are dropped and counted: tracing never slows the log down. */
export const PENDING_RECORDS = 8_192

/** Unix nanoseconds. */
interface Period {
  readonly start: bigint
  readonly end: bigint
}

/** What a span says of a frame; the frame itself is not kept. */
interface FrameRecord {
  readonly kind: RawFrame["kind"]
  readonly messageType: string
  readonly sessionId: string
  readonly receivedAt: string
}

type SpanRecord =
  | ({ readonly _tag: "Persisted"; readonly runId: RunId; readonly eventCount: number } & Period & {
        readonly frames: ReadonlyArray<FrameRecord>
      })
  | ({ readonly _tag: "Emitted"; readonly runId: RunId; readonly eventCount: number } & Period)
  | { readonly _tag: "LlmCall"; readonly runId: RunId; readonly call: LlmSpan }
  | { readonly _tag: "Ended"; readonly runId: RunId }

/** The kind in `run-event.persist` of events without a frame. */
const OWN_EVENTS = "control-plane"

/**
 * Makes the spans of a run's log (docs/reference/admin.md#tracing): `stream.handle_raw_event` from the receipt of a
 * frame to its commit, `run-event.persist` for each append, `run-event.emit` for the delivery to subscribers, one for
 * each reported model call, and `run.lifecycle` at the end. The path of the data only records times; one fiber makes
 * the spans later. Does nothing when tracing is off.
 */
export const makeRunSpans = Effect.gen(function* () {
  if (!(yield* tracingEnabled)) return {} satisfies Reactor
  const clock = yield* Clock.Clock
  const metrics = yield* Metrics
  const lifecycle = yield* makeLifecycleSpan
  const record = yield* makeRecorder
  const llmSpan = yield* makeLlmSpan
  const pending = yield* Queue.dropping<SpanRecord>(PENDING_RECORDS)

  const offer = (item: SpanRecord) => {
    if (!Queue.offerUnsafe(pending, item)) metrics.sideEffectFailed("trace")
  }

  const work = (item: SpanRecord) =>
    (item._tag === "Ended" ? lifecycle(item.runId) : record(item)).pipe(
      Effect.catchCause((cause) => {
        metrics.sideEffectFailed("trace")
        return Effect.logDebug("a span could not be recorded", cause)
      }),
      Effect.uninterruptible
    )
  // The spans of the commits before the service stopped.
  yield* Effect.addFinalizer(() => Effect.flatMap(Queue.clear(pending), Effect.forEach(work, { discard: true })))
  const workAll = Effect.gen(function* () {
    for (let next = yield* Queue.poll(pending); Option.isSome(next); next = yield* Queue.poll(pending)) {
      yield* work(next.value)
    }
  })
  const wake = Queue.peek(pending)
  yield* Effect.forkScoped(forever("run-spans", workAll, { wake, first: Number.POSITIVE_INFINITY }))

  return {
    afterCommit: (appends) => {
      const now = clock.currentTimeNanosUnsafe()
      const emitted = new Map<RunId, number>()
      for (const { requestedAt, change, events, frames, runId } of appends) {
        const eventCount = events.length
        if (eventCount > 0 || frames.length > 0) {
          offer({
            _tag: "Persisted",
            runId,
            eventCount,
            start: requestedAt,
            end: now,
            frames: frames.map(toFrameRecord)
          })
        }
        for (const event of events) {
          if (event.type === "llm.call.completed") offer({ _tag: "LlmCall", runId, call: llmSpan(event) })
        }
        if (eventCount > 0) emitted.set(runId, (emitted.get(runId) ?? 0) + eventCount)
        if (change !== undefined && isTerminal(change.to)) offer({ _tag: "Ended", runId })
      }
      // The subscribers are notified right after this, all at once: a microtask runs at its end.
      queueMicrotask(() => {
        const end = clock.currentTimeNanosUnsafe()
        for (const [runId, eventCount] of emitted) offer({ _tag: "Emitted", runId, eventCount, start: now, end })
      })
    }
  } satisfies Reactor
})

const makeRecorder = Effect.gen(function* () {
  const traces = yield* RunTraces
  const tracer = yield* Effect.tracer

  return Effect.fnUntraced(function* (item: Exclude<SpanRecord, { readonly _tag: "Ended" }>) {
    const trace = yield* traces.find(item.runId)
    if (trace === undefined) return
    const parent = Option.some(parentSpan(trace, true))
    const span = (
      name: string,
      { end, start }: Period,
      attributes: Readonly<Record<string, unknown>>,
      kind: Tracer.SpanKind = "internal"
    ) => {
      const made = tracer.span({
        name,
        parent,
        annotations: Context.empty(),
        links: [],
        startTime: start,
        kind,
        root: false,
        sampled: true
      })
      made.attribute("run_id", item.runId)
      for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.attribute(key, value)
      made.end(end, Exit.void)
    }
    if (item._tag === "LlmCall") return span(item.call.name, item.call, item.call.attributes, "client")
    if (item._tag === "Emitted") return span("run-event.emit", item, { "proto.event_count": item.eventCount })
    for (const frame of item.frames) {
      const received = { start: nanosOf(new Date(frame.receivedAt)), end: item.end }
      span("stream.handle_raw_event", received, {
        "proto.raw_kind": frame.kind,
        "proto.message_type": frame.messageType,
        "proto.session_id": frame.sessionId
      })
    }
    const kinds = new Set(item.frames.map(({ kind }) => kind))
    span("run-event.persist", item, {
      "proto.event_count": item.eventCount,
      "proto.raw_kind": kinds.size === 0 ? OWN_EVENTS : [...kinds].join(",")
    })
  })
})

const toFrameRecord = ({ frame, receivedAt }: ObservedFrame): FrameRecord => {
  const { kind } = frame
  switch (kind) {
    case "stream-envelope": {
      const { messageType, sessionId } = frame.envelope
      return { kind, receivedAt, messageType, sessionId }
    }
    case "stream-inline-error":
      return { kind, receivedAt, messageType: frame.error.code, sessionId: frame.error.sessionId }
    case "send-ack":
      return { kind, receivedAt, messageType: "", sessionId: frame.ack.sessionId }
    case "session-snapshot":
      return { kind, receivedAt, messageType: "", sessionId: frame.snapshot.sessionId }
    case "stream-status":
      return { kind, receivedAt, messageType: "", sessionId: frame.sessionId ?? "" }
  }
}
