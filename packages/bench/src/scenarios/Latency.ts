import * as Effect from "effect/Effect"
import { Deliveries, type DeliveryTimes } from "../client/Deliveries.ts"
import { LOG_STREAM, openEventStream, streamOf } from "../client/EventStream.ts"
import type { StreamBroken } from "../client/StreamProgress.ts"
import { type PlainPushed, plainPush } from "../client/tails/PlainPush.ts"
import { openTailReaders } from "../client/tails/TailReaders.ts"
import type { Figure, Outcome } from "../Figures.ts"
import { type Cost, costFigures, costInWords, measured, within } from "../Measurement.ts"
import type { LatencyLoad } from "../Plan.ts"
import type { ChildFailed } from "../process/ChildProcess.ts"
import { number } from "../Report.ts"
import { EVENTS_PER_STAMPED_ENVELOPE, readStamp } from "../runtime/History.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"
import { closeFleet, openFleet } from "./Fleet.ts"

export interface LatencyFound {
  readonly load: LatencyLoad
  /**
   * Milliseconds from the moment an envelope is made in the runtime to its event at a subscriber; one for each
   * delivery.
   */
  readonly times: DeliveryTimes
  readonly bytes: number
  readonly cost: Cost
  /** The same bytes to as many clients from a server that does nothing else; undefined with few clients. */
  readonly plain: PlainPushed | undefined
}

/** Of many clients of one stream so many record when each event came; the others count events. */
const MOST_LISTENERS = 20
/** From so many clients of a run on they are in a process of their own. */
const MANY = 100

/** The one stream that many clients follow. */
const sharedStream = ({ ofLog, runs, subscribers }: LatencyLoad, [runId]: ReadonlyArray<string>) => {
  if (ofLog === true) return LOG_STREAM
  return runs === 1 && subscribers >= MANY && runId !== undefined ? streamOf(runId) : undefined
}

const BYTES_PER_MEGABYTE = 1e6

/**
 * Lets the runtime make envelopes at an even pace and measures when each event reaches each subscriber, over the real
 * port.
 */
export const latency = Effect.fn("Latency.measure")(
  function* (load: LatencyLoad) {
    const runtime = yield* RuntimeProcess
    const perSecond = load.eventsPerSecond / EVENTS_PER_STAMPED_ENVELOPE
    const perRun = Math.max(1, Math.round((perSecond * load.seconds) / load.runs))
    const fleet = yield* openFleet(load.runs, 0)
    const envelopes = perRun * load.runs
    const shared = sharedStream(load, fleet.runIds)
    const events = EVENTS_PER_STAMPED_ENVELOPE * envelopes
    const { brought, cpuSeconds }: Followed = yield* shared === undefined
      ? followRuns(load, fleet.runIds, EVENTS_PER_STAMPED_ENVELOPE * perRun)
      : followShared(load, shared, events)
    const { cost, value } = yield* measured(
      Effect.gen(function* () {
        yield* runtime.run({ _tag: "Pace", sessions: fleet.sessions, envelopes, perSecond })
        return yield* within("every event at every subscriber", brought)
      }),
      cpuSeconds
    )
    yield* closeFleet(fleet)
    const plain =
      shared === undefined
        ? undefined
        : yield* plainPush(
            {
              frameBytes: Math.round(value.bytes / load.subscribers / events),
              frames: events,
              perSecond: load.eventsPerSecond
            },
            leadOf(load),
            readersOf(load)
          )
    const found: LatencyFound = { load, ...value, cost, plain }
    return found
  },
  (effect) => Effect.scoped(effect)
)

interface Followed {
  /** Answers when every event has come to every subscriber. */
  readonly brought: Effect.Effect<Pick<LatencyFound, "times" | "bytes">, ChildFailed | StreamBroken>
  /** Of processes of their own. */
  readonly cpuSeconds: Effect.Effect<number | undefined>
}

/** Clients of the stream of each run, in this process. */
const followRuns = Effect.fnUntraced(function* (load: LatencyLoad, runIds: ReadonlyArray<string>, events: number) {
  const deliveries = new Deliveries()
  const listener = (frame: Buffer, receivedMicros: number) => {
    const emitted = readStamp(frame)
    if (emitted !== undefined) deliveries.note(emitted, receivedMicros)
  }
  const streams = yield* Effect.forEach(
    runIds.flatMap((runId) => Array.from({ length: load.subscribers }, () => streamOf(runId))),
    (path) => openEventStream(path, listener),
    { concurrency: 8 }
  )
  const brought = Effect.gen(function* () {
    yield* Effect.forEach(streams, (stream) => stream.brought(events), { discard: true })
    return { times: deliveries.times(leadOf(load)), bytes: streams.reduce((sum, stream) => sum + stream.bytes(), 0) }
  })
  return { brought, cpuSeconds: Effect.succeed(0) }
})

const leadOf = ({ leadSeconds = 0 }: LatencyLoad) => leadSeconds

const readersOf = ({ subscribers }: LatencyLoad) => ({
  clients: subscribers,
  listeners: Math.min(subscribers, MOST_LISTENERS)
})

/** Clients of one stream, in a process of their own. */
const followShared = Effect.fnUntraced(function* (load: LatencyLoad, path: string, events: number) {
  const target = yield* ControlPlaneProcess
  const readers = yield* openTailReaders({ ...readersOf(load), target, path })
  return { brought: readers.brought(events, leadOf(load)), cpuSeconds: readers.cpuSeconds }
})

export const latencyOutcome = ({ bytes, cost, load, plain, times }: LatencyFound): Outcome => {
  const { aim, eventsPerSecond, ofLog, runs, subscribers } = load
  const { first, settled: millis } = times
  const of = (name: string, value: number): Figure => ({ name, value, unit: "ms", better: "less" })
  const figures: ReadonlyArray<Figure> = [
    of("p50", millis.p50),
    of("p95", millis.p95),
    { ...of("p99", millis.p99), ...(aim !== undefined && { aim }) },
    of("max", millis.max),
    ...(first === undefined ? [] : [of("p99 of the start", first.p99)]),
    ...(plain === undefined ? [] : [of("p99 of a plain server", plain.millis.p99)]),
    ...costFigures(cost)
  ]
  const scenario =
    ofLog === true
      ? `tails ${eventsPerSecond}/s of ${runs} runs, ${subscribers} SSE of the log`
      : `latency ${eventsPerSecond}/s, ${runs} x ${subscribers} SSE`
  const readersInWords =
    plain !== undefined && cost.helpersCpu !== undefined ? `, the clients' CPU ${number(cost.helpersCpu)} s` : ""
  const plainInWords =
    plain === undefined
      ? ""
      : `; a plain server with the same bytes: p50 ${number(plain.millis.p50)}, p99 ${number(plain.millis.p99)} ms` +
        (plain.cpu === undefined ? "" : `, CPU ${number(plain.cpu)} s`)
  const startInWords =
    first === undefined ? "" : ` after ${number(leadOf(load))} s with a p99 of ${number(first.p99)} ms`
  const line =
    `${scenario}: p50 ${number(millis.p50)}, p95 ${number(millis.p95)}, p99 ${number(millis.p99)}, ` +
    `max ${number(millis.max)} ms ` +
    `over ${number(millis.count)} deliveries${startInWords}, in ${number(cost.seconds)} s ` +
    `(${number(bytes / BYTES_PER_MEGABYTE / cost.seconds)} MB/s), ${costInWords(cost)}${readersInWords}${plainInWords}`
  return { scenario, line, figures }
}
