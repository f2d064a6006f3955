import { type Consumed, RunId, stepTraceFold } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Semaphore from "effect/Semaphore"
import { ProcessChannel } from "../../event-log/ProcessChannel.ts"
import { Placement } from "../../observe/placement/Placement.ts"
import { forever } from "../../platform/loop/Forever.ts"
import { Metrics } from "../../platform/metrics/Metrics.ts"
import { Outbox } from "../../platform/outbox/Outbox.ts"
import { Drops } from "./Drops.ts"
import { makeDueKeys } from "./DueKeys.ts"
import type { OpenTraceFold } from "./folds/OpenFold.ts"
import { SpanInbox, type SpanInboxRow, type TraceRef, traceKey, traceOfKey } from "./SpanInbox.ts"
import { TraceFolds } from "./TraceFolds.ts"
import { arrivalOf, runOfKey, TraceRuns } from "./TraceRuns.ts"

/** Traces, and runs, that are processed at the same time: they share statements and transactions. */
const CONCURRENCY = 32
/** Events that are appended at the same time: a transaction of so many holds the thread for some 20 ms. */
const EVENTS_AT_ONCE = 1_000
/** The pause after a failure. Milliseconds. */
const RETRY_MS = 1_000
/** How often the span inbox is read for rows whose notice was lost. Milliseconds. */
const POLL_MS = 5_000
/** Open folds that a process keeps; others are read from the database again. */
const MOST_FOLDS = 2_000
/** Subjects of the messages between processes: names of traces, and a run with the source that has sent. */
const TRACES = "otlp.traces"
const RUN = "otlp.run-of-source"
/** Names of traces in one message. */
const NAMES_PER_MESSAGE = 6_000

/**
 * Appends what waits in the span inbox to the runs (docs/reference/ingest.md#exactly-once). The process that has the
 * shard of a trace decides the run of the trace; the process that has the shard of the run continues its fold. A notice
 * wakes them after a commit of the span inbox, and a poll finds what no notice reached.
 */
export class SpanProcessor extends Context.Service<
  SpanProcessor,
  {
    /** Rows of these traces are committed. Returns at once. */
    readonly received: (traces: ReadonlyArray<TraceRef>) => Effect.Effect<void>
  }
>()("runplane/control-plane/SpanProcessor") {
  static readonly layer = Layer.effect(
    SpanProcessor,
    Effect.gen(function* () {
      const channel = yield* ProcessChannel
      const { drop } = yield* Drops
      const spanInbox = yield* SpanInbox
      const metrics = yield* Metrics
      const placement = yield* Placement
      const folds = yield* TraceFolds
      const traceRuns = yield* TraceRuns
      const outbox = yield* Outbox
      const isOurs = (runId: RunId) => placement.has(placement.shardOf(runId))
      /** The process of the run that the trace has when nothing else names one. */
      const isHome = ({ source, traceId }: TraceRef) => isOurs(runOfKey(source, traceId))

      const appends = yield* Semaphore.make(EVENTS_AT_ONCE)
      const steps = yield* Semaphore.make(1)
      /** Gives the thread back before each step: the folds of one read would hold it together. */
      const turn = <A>(step: () => A) => steps.withPermits(1)(Effect.andThen(Effect.yieldNow, Effect.sync(step)))

      const open = new Map<string, OpenTraceFold>()
      const evict = () => {
        for (const runId of open.keys()) {
          if (open.size <= MOST_FOLDS) return
          open.delete(runId)
        }
      }

      const continueFold = Effect.fnUntraced(function* (runId: RunId) {
        const fold = open.get(runId) ?? (yield* folds.open(runId))
        if (fold === undefined) return undefined
        if (fold === "deleted") {
          yield* received(yield* folds.release(runId))
          return undefined
        }
        // The least recently used fold is the first.
        open.delete(runId)
        const { isCut, rows } = yield* spanInbox.ofRun({ runId, without: fold.pending.keys() })
        const hasJoined = fold.options.joined !== undefined
        const arrivals = rows
          .toSorted(byEnd)
          .map((row) => (hasJoined ? { ...arrivalOf(row), source: row.source } : arrivalOf(row)))
        for (const row of rows) fold.pending.set(row.ordinal, row)
        const now = yield* Clock.currentTimeMillis
        const first = yield* turn(() => stepTraceFold(fold.state, arrivals, now, fold.options))
        const elsewhere = yield* folds.countedElsewhere(fold, first)
        for (const identity of elsewhere) fold.countedElsewhere.add(identity)
        const step =
          elsewhere.length === 0 ? first : yield* turn(() => stepTraceFold(fold.state, arrivals, now, fold.options))
        const consumed = new Set(step.consumed.map(({ key }) => key))
        const gone = [...fold.pending.values()].filter((row) => consumed.has(arrivalOf(row).key))
        const events = Math.min(Math.max(step.events.length, 1), EVENTS_AT_ONCE)
        const marks = yield* appends.withPermits(events)(folds.append(fold, step, gone))
        metrics.otlpMarks(marks)
        if (marks.stored > 0) outbox.wake()
        const dropped = Map.groupBy(step.consumed, ({ dropped }) => dropped)
        for (const [reason, { length }] of dropped) if (reason !== undefined) yield* drop(reason, length, fold.source)
        const isRepeated = ({ dropped, node }: Consumed) => node === undefined && dropped === undefined
        metrics.otlpDrained(
          gone.length - (dropped.get("run_full")?.length ?? 0),
          step.consumed.filter(isRepeated).length
        )
        for (const { node } of step.consumed) {
          if (node === undefined || !("isUnread" in node) || node.scope === undefined) continue
          if (!step.state.readScopes.has(node.scope)) metrics.otlpUnread(node.scope)
        }
        open.set(runId, fold)
        evict()
        return isCut ? 0 : step.nextAt
      })

      const runs = yield* makeDueKeys({
        concurrency: CONCURRENCY,
        retryMs: RETRY_MS,
        process: (key) =>
          Effect.suspend(() => {
            const runId = RunId.make(key)
            if (isOurs(runId)) return continueFold(runId)
            open.delete(key)
            return Effect.undefined
          })
      })

      const wakeRun = (runId: RunId, source: string) =>
        isOurs(runId) ? Effect.sync(() => runs.wake(runId, source)) : channel.send(RUN, `${runId} ${source}`)

      const traces = yield* makeDueKeys({
        concurrency: CONCURRENCY,
        retryMs: RETRY_MS,
        process: Effect.fnUntraced(function* (key) {
          const trace = traceOfKey(key)
          if (!isHome(trace)) return undefined
          const state = yield* traceRuns.bind(trace, yield* Clock.currentTimeMillis)
          if (state._tag === "Bound") yield* wakeRun(state.runId, trace.source)
          return state._tag === "Due" ? state.at : undefined
        })
      })

      const wakeTrace = (trace: TraceRef) => traces.wake(traceKey(trace), trace.source)

      const received = Effect.fnUntraced(function* (refs: ReadonlyArray<TraceRef>) {
        const away: Array<string> = []
        for (const trace of refs) {
          if (isHome(trace)) wakeTrace(trace)
          else away.push(traceKey(trace))
        }
        for (const text of messagesOf(away)) yield* channel.send(TRACES, text)
      })

      yield* channel.listen(TRACES, (text) => {
        for (const trace of text.split("\n").map(traceOfKey)) if (isHome(trace)) wakeTrace(trace)
      })
      yield* channel.listen(RUN, (text) => {
        const [id = "", ...source] = text.split(" ")
        const runId = RunId.make(id)
        if (isOurs(runId)) runs.wake(runId, source.join(" "))
      })

      /** Wakes runs with other rows than this process knows, and the runs that this process has to end. */
      const poll = Effect.gen(function* () {
        yield* folds.removeOld
        const rowsOfRuns = new Map<RunId, { readonly rows: number; readonly source: string }>()
        for (const { rows, runId, ...trace } of yield* spanInbox.waiting) {
          if (runId !== undefined) {
            rowsOfRuns.set(runId, { rows: (rowsOfRuns.get(runId)?.rows ?? 0) + rows, source: trace.source })
          } else if (isHome(trace) && !traces.has(traceKey(trace))) wakeTrace(trace)
        }
        for (const [runId, { rows, source }] of rowsOfRuns) {
          if (isOurs(runId) && open.get(runId)?.pending.size !== rows) runs.wake(runId, source)
        }
        for (const { runId, source } of yield* folds.unfinished) {
          if (isOurs(runId) && !runs.has(runId)) runs.wake(runId, source)
        }
      })
      const signal = yield* Queue.sliding<void>(1)
      yield* Effect.forkScoped(forever("telemetry-inbox", poll, { wake: Queue.take(signal), every: POLL_MS }))
      placement.follow({
        gained: () => Queue.offerUnsafe(signal, undefined),
        leave: (shards) => {
          const leaves = (runId: string) => shards.has(placement.shardOf(RunId.make(runId)))
          return Effect.andThen(
            runs.forget(leaves),
            Effect.sync(() => {
              for (const runId of open.keys()) if (leaves(runId)) open.delete(runId)
            })
          )
        }
      })

      return SpanProcessor.of({ received })
    })
  )
}

/** Unix nanoseconds, a decimal text. */
const endOf = ({ telemetry }: SpanInboxRow) => (telemetry.kind === "span" ? telemetry.endedAt : telemetry.at)

/** Times as texts of any length. */
const byEnd = (left: SpanInboxRow, right: SpanInboxRow): number => {
  const [a, b] = [endOf(left), endOf(right)]
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}

/** Lines of text, each message within the bound of the channel. */
const messagesOf = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const messages: Array<string> = []
  for (const line of lines) {
    const last = messages.at(-1)
    if (last !== undefined && Buffer.byteLength(last) + Buffer.byteLength(line) < NAMES_PER_MESSAGE) {
      messages[messages.length - 1] = `${last}\n${line}`
    } else messages.push(line)
  }
  return messages
}
