import * as Effect from "effect/Effect"
import { LOG_STREAM, openEventStream, streamOf } from "../client/EventStream.ts"
import type { Figure, Outcome } from "../Figures.ts"
import { type Cost, costFigures, costInWords, measured, within } from "../Measurement.ts"
import type { LatencyLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { EVENTS_PER_STAMPED_ENVELOPE, readStamp } from "../runtime/History.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { type Spread, spreadOf } from "../Statistics.ts"
import { closeFleet, openFleet } from "./Fleet.ts"

export interface LatencyFound {
  readonly load: LatencyLoad
  /**
   * Milliseconds from the moment an envelope is made in the runtime to its event at a subscriber; one for each
   * delivery.
   */
  readonly millis: Spread
  readonly bytes: number
  readonly cost: Cost
}

/** Of the clients of the whole log, so many tell when each event came; the others count what they are sent. */
const LISTENERS_OF_LOG = 20

const MICROS_PER_MILLI = 1_000
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
    const millis: Array<number> = []
    const listener = (frame: Buffer, receivedMicros: number) => {
      const emitted = readStamp(frame)
      if (emitted !== undefined) millis.push((receivedMicros - emitted) / MICROS_PER_MILLI)
    }
    const sources = load.ofLog === true ? [LOG_STREAM] : fleet.runIds.map(streamOf)
    const events = EVENTS_PER_STAMPED_ENVELOPE * perRun * (load.ofLog === true ? load.runs : 1)
    const streams = yield* Effect.forEach(
      sources.flatMap((path) => Array.from({ length: load.subscribers }, (_, number) => ({ path, number }))),
      ({ number, path }) => openEventStream(path, isListener(load, number) ? listener : undefined),
      { concurrency: 8 }
    )
    const { cost } = yield* measured(
      Effect.gen(function* () {
        yield* runtime.run({ _tag: "Pace", sessions: fleet.sessions, envelopes: perRun * load.runs, perSecond })
        const all = Effect.forEach(streams, ({ brought }) => brought(events), {
          discard: true
        })
        yield* within("every event at every subscriber", all)
      })
    )
    const bytes = streams.reduce((sum, stream) => sum + stream.bytes(), 0)
    yield* closeFleet(fleet)
    const found: LatencyFound = { load, millis: spreadOf(millis), bytes, cost }
    return found
  },
  (effect) => Effect.scoped(effect)
)

/** Spread over all of them, as those that are served last wait longest. */
const isListener = ({ ofLog, subscribers }: LatencyLoad, number: number) =>
  ofLog !== true || number % Math.ceil(subscribers / LISTENERS_OF_LOG) === 0

export const latencyOutcome = ({ bytes, cost, load, millis }: LatencyFound): Outcome => {
  const { aim, eventsPerSecond, ofLog, runs, subscribers } = load
  const of = (name: string, value: number): Figure => ({ name, value, unit: "ms", better: "less" })
  const figures: ReadonlyArray<Figure> = [
    of("p50", millis.p50),
    of("p95", millis.p95),
    { ...of("p99", millis.p99), ...(aim !== undefined && { aim }) },
    of("max", millis.max),
    ...costFigures(cost)
  ]
  const scenario =
    ofLog === true
      ? `tails ${eventsPerSecond}/s of ${runs} runs, ${subscribers} SSE of the log`
      : `latency ${eventsPerSecond}/s, ${runs} x ${subscribers} SSE`
  const line =
    `${scenario}: p50 ${number(millis.p50)}, p95 ${number(millis.p95)}, p99 ${number(millis.p99)}, ` +
    `max ${number(millis.max)} ms ` +
    `over ${number(millis.count)} deliveries in ${number(cost.seconds)} s ` +
    `(${number(bytes / BYTES_PER_MEGABYTE / cost.seconds)} MB/s), ${costInWords(cost)}`
  return { scenario, line, figures }
}
