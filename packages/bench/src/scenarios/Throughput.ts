import * as PgClient from "@effect/sql-pg/PgClient"
import { emptyChain, eventTexts, extendDigested } from "@runplane/control-plane"
import { RecordedEvent } from "@runplane/domain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { openEventStream, streamOf } from "../client/EventStream.ts"
import type { Figure, Outcome } from "../Figures.ts"
import { type Cost, costFigures, costInWords, measured, within } from "../Measurement.ts"
import type { ThroughputLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { eventsOfHistory } from "../runtime/History.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { median } from "../Statistics.ts"
import { awaitEnvelopes, closeFleet, openFleet } from "./Fleet.ts"
import { measureRawCeiling } from "./RawCeiling.ts"
import { countRows, eventCounts, readWrittenRows, type WrittenRows } from "./WrittenRows.ts"

/** Hashing all of it is over in some milliseconds, so it is done several times and the median counts. */
const ROUNDS = 9
const NANOS_PER_SECOND = 1e9

const decodeRecorded = Schema.decodeUnknownSync(Schema.fromJsonString(RecordedEvent))

/**
 * What digests and the hash chain cost of an ingest that has just been measured: the seconds that it takes to write the
 * very events that were stored and to extend the chains of their runs, by the functions of the append, without those
 * that the same events take as plain JSON.
 */
const measureChain = Effect.fn("ChainCost.measure")(function* (events: WrittenRows["events"]) {
  const seconds: Array<number> = []
  const stored = events.map(({ event, run_id: runId, seed }) => ({
    runId,
    recorded: decodeRecorded(event),
    seed: Buffer.from(seed, "hex")
  }))
  for (let round = 0; round < ROUNDS; round++) {
    const heads = new Map<string, Uint8Array>()
    const before = yield* Clock.monotonicTimeNanos
    for (const { recorded } of stored) JSON.stringify(recorded)
    const started = yield* Clock.monotonicTimeNanos
    for (const { recorded, runId, seed } of stored) {
      heads.set(
        runId,
        extendDigested(heads.get(runId) ?? emptyChain(2, runId), eventTexts(seed, recorded).digested ?? "")
      )
    }
    const ended = yield* Clock.monotonicTimeNanos
    seconds.push(Number(ended - started - (started - before)) / NANOS_PER_SECOND)
  }
  return median(seconds)
})

const BYTES_PER_KB = 1_000

export interface ThroughputFound {
  readonly load: ThroughputLoad
  readonly envelopes: number
  readonly events: number
  /** Of the three high-volume tables; the heads, projections and metrics that are updated with them do not count. */
  readonly rows: number
  /** Transactions that wrote the events. */
  readonly transactions: number
  readonly rawRowsPerSecond: number
  /** What the hash chains of the runs take of it. */
  readonly chainSeconds: number
  /** Of the write-ahead log, in all. */
  readonly walBytes: number
  readonly cost: Cost
}

/** Where the write-ahead log of the database ends, in bytes. */
const walEnd = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly bytes: number }>`
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes`
  return row?.bytes ?? 0
})

/**
 * Releases whole histories at once and takes the time until their last envelope is committed, and until every
 * subscriber has been sent its last event. The runs are created, bound and subscribed before. Then puts the raw ceiling
 * beside it, with the same rows.
 */
export const throughput = Effect.fn("Throughput.measure")(
  function* (load: ThroughputLoad) {
    const runtime = yield* RuntimeProcess
    const fleet = yield* openFleet(load.runs, load.envelopes)
    const before = yield* eventCounts(fleet.runIds)
    const streams = yield* Effect.forEach(
      fleet.runIds.flatMap((runId) => Array.from({ length: load.subscribers }, () => runId)),
      (runId) => openEventStream(streamOf(runId))
    )
    const envelopes = load.runs * load.envelopes
    const walBefore = yield* walEnd
    const { cost } = yield* measured(
      Effect.gen(function* () {
        yield* runtime.run({ _tag: "Release", sessions: fleet.sessions })
        yield* awaitEnvelopes(fleet, envelopes)
        const all = Effect.forEach(streams, ({ brought }) => brought(eventsOfHistory(load.envelopes)), {
          discard: true
        })
        yield* within("every event at its subscribers", all)
      })
    )
    const walBytes = (yield* walEnd) - walBefore
    const rows = yield* readWrittenRows(before)
    yield* closeFleet(fleet)
    const rawRowsPerSecond = yield* measureRawCeiling(rows)
    const chainSeconds = yield* measureChain(rows.events)
    const found: ThroughputFound = {
      load,
      envelopes,
      events: rows.events.length,
      rows: countRows(rows),
      transactions: new Set(rows.events.map(({ writer }) => writer)).size,
      rawRowsPerSecond,
      chainSeconds,
      walBytes,
      cost
    }
    return found
  },
  (effect) => Effect.scoped(effect)
)

export const throughputOutcome = ({
  chainSeconds,
  cost,
  envelopes,
  events,
  load,
  rawRowsPerSecond,
  rows,
  transactions,
  walBytes
}: ThroughputFound): Outcome => {
  const { aim, aimChain, aimRatio, runs, subscribers } = load
  const chainShare = (100 * chainSeconds) / cost.seconds
  const envelopeRate = envelopes / cost.seconds
  const rowRate = rows / cost.seconds
  const ratio = rowRate / rawRowsPerSecond
  const figures: ReadonlyArray<Figure> = [
    { name: "envelopes", value: envelopeRate, unit: "/s", better: "more", ...(aim !== undefined && { aim }) },
    { name: "events", value: events / cost.seconds, unit: "/s", better: "more" },
    { name: "rows", value: rowRate, unit: "/s", better: "more" },
    { name: "raw rows", value: rawRowsPerSecond, unit: "/s", better: "more" },
    { name: "share of raw", value: ratio, unit: "", better: "more", ...(aimRatio !== undefined && { aim: aimRatio }) },
    {
      name: "hash chain of ingest",
      value: chainShare,
      unit: "%",
      better: "less",
      ...(aimChain !== undefined && { aim: aimChain })
    },
    { name: "WAL of an envelope", value: walBytes / envelopes / BYTES_PER_KB, unit: "kB", better: "less" },
    ...costFigures(cost)
  ]
  const scenario = `throughput ${runs} x ${load.envelopes}${subscribers === 0 ? "" : `, ${subscribers} SSE each`}`
  const line =
    `${scenario}: ${number(cost.seconds)} s in ${transactions} transactions, ` +
    `${number(envelopeRate)} envelopes/s, ${number(events / cost.seconds)} events/s, ` +
    `${number(rowRate)} rows/s = ${number(ratio)} of raw (${number(rawRowsPerSecond)} rows/s), ` +
    `${number(walBytes / envelopes / BYTES_PER_KB)} kB of WAL an envelope, ` +
    `${number(chainShare)} % for the hash chain, ${costInWords(cost)}`
  return { scenario, line, figures }
}
