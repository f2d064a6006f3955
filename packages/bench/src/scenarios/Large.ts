import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import { BenchDatabase } from "../BenchDatabase.ts"
import { openEventStream, streamOf } from "../client/EventStream.ts"
import type { Figure, Outcome } from "../Figures.ts"
import { type Cost, costFigures, costInWords, measured, within } from "../Measurement.ts"
import type { LargeLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { EVENTS_PER_STAMPED_ENVELOPE, readStamp } from "../runtime/History.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { type Spread, spreadOf } from "../Statistics.ts"
import { awaitEnvelopes, closeFleet, openFleet } from "./Fleet.ts"

export interface LargeFound {
  readonly load: LargeLoad
  /** Milliseconds from the making of a quiet run's envelope to its event at the subscriber. */
  readonly millis: Spread
  /** Payloads that the log has of the large envelopes. */
  readonly bytes: number
  readonly cost: Cost
}

const MICROS_PER_MILLI = 1_000
const BYTES_PER_MEGABYTE = 1e6

/**
 * Releases histories of large envelopes and waits until every one is stored, while quiet runs continue, or while the
 * database is paused.
 */
export const large = Effect.fn("Large.measure")(
  function* (load: LargeLoad) {
    const runtime = yield* RuntimeProcess
    const { pause } = yield* BenchDatabase
    const fat = yield* openFleet(load.runs, load.envelopes, load.payloadBytes)
    const quiet = yield* openFleet(load.quietRuns, 0)
    const millis: Array<number> = []
    const listener = (frame: Buffer, receivedMicros: number) => {
      const emitted = readStamp(frame)
      if (emitted !== undefined) millis.push((receivedMicros - emitted) / MICROS_PER_MILLI)
    }
    const streams = yield* Effect.forEach(quiet.runIds, (runId) => openEventStream(streamOf(runId), listener))
    const perRun = Math.round((load.quietPerSecond * load.quietSeconds) / Math.max(1, load.quietRuns))
    const envelopes = perRun * load.quietRuns

    const paced = Effect.gen(function* () {
      if (envelopes === 0) return
      yield* runtime.run({ _tag: "Pace", sessions: quiet.sessions, envelopes, perSecond: load.quietPerSecond })
      const all = Effect.forEach(streams, ({ brought }) => brought(perRun * EVENTS_PER_STAMPED_ENVELOPE))
      yield* within("every event of the quiet runs", all)
    })
    const release = runtime.run({ _tag: "Release", sessions: fat.sessions })
    const { cost } = yield* measured(
      Effect.gen(function* () {
        yield* load.pausedSeconds === 0
          ? release
          : Effect.scoped(Effect.andThen(pause, Effect.andThen(release, Effect.sleep(load.pausedSeconds * 1_000))))
        yield* Effect.all([awaitEnvelopes(fat, load.runs * load.envelopes), paced], { concurrency: 2 })
      })
    )
    const bytes = yield* storedBytes(fat.runIds)
    yield* closeFleet(fat)
    yield* closeFleet(quiet)
    const found: LargeFound = { load, millis: spreadOf(millis), bytes, cost }
    return found
  },
  (effect) => Effect.scoped(effect)
)

const storedBytes = Effect.fnUntraced(function* (runIds: ReadonlyArray<string>) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql<{ readonly bytes: number }>`
    SELECT coalesce(sum(length(payload #>> '{envelope,payloadBase64}')), 0)::float8 * 3 / 4 AS bytes
    FROM raw_events WHERE run_id = ANY(${runIds}::text[]::uuid[])`
  return row?.bytes ?? 0
})

export const largeOutcome = ({ bytes, cost, load, millis }: LargeFound): Outcome => {
  const { aimMemory, aimQuiet, envelopes, payloadBytes, quietRuns, runs, pausedSeconds } = load
  const quiet: ReadonlyArray<Figure> =
    quietRuns === 0
      ? []
      : [
          { name: "quiet p50", value: millis.p50, unit: "ms", better: "less" },
          {
            name: "quiet p99",
            value: millis.p99,
            unit: "ms",
            better: "less",
            ...(aimQuiet !== undefined && { aim: aimQuiet })
          }
        ]
  const rate = bytes / BYTES_PER_MEGABYTE / cost.seconds
  const figures: ReadonlyArray<Figure> = [
    { name: "payloads", value: rate, unit: "MB/s", better: "more" },
    ...quiet,
    ...costFigures(cost).map((figure) =>
      figure.unit === "MiB" && aimMemory !== undefined ? { ...figure, aim: aimMemory } : figure
    )
  ]
  const beside = pausedSeconds > 0 ? `, database paused for ${pausedSeconds} s` : `, ${quietRuns} quiet runs`
  const scenario = `large ${runs} x ${envelopes} x ${payloadBytes / 1_000} kB${beside}`
  const line =
    `${scenario}: all stored in ${number(cost.seconds)} s, ${number(rate)} MB/s, ` +
    (quietRuns === 0
      ? ""
      : `quiet p50 ${number(millis.p50)}, p99 ${number(millis.p99)}, max ${number(millis.max)} ms, `) +
    costInWords(cost)
  return { scenario, line, figures }
}
