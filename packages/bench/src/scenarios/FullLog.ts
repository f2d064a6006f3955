import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { Figure, Outcome } from "../Figures.ts"
import { inFreshSurroundings, withControlPlane } from "../FreshWorld.ts"
import { measured } from "../Measurement.ts"
import type { FullLogLoad } from "../Plan.ts"
import { number } from "../Report.ts"
import { copyRun } from "../reads/BigDatabase.ts"
import { load as loadReads } from "../reads/HttpLoad.ts"
import { MEASURES } from "../reads/Measures.ts"
import { RuntimeProcess } from "../runtime/RuntimeProcess.ts"
import { median } from "../Statistics.ts"
import { ControlPlaneProcess } from "../service/ControlPlaneProcess.ts"
import { awaitEnvelopes, closeFleet, openFleet } from "./Fleet.ts"

interface ReadFound {
  readonly name: string
  /** Milliseconds of the 99th percentile on the small log, and on the full one. */
  readonly small: number
  readonly full: number
}

export interface FullLogFound {
  readonly load: FullLogLoad
  readonly events: number
  /** Envelopes a second into an empty log, into the full one, and into the full one while retention empties it. */
  readonly emptyRate: number
  readonly fullRate: number
  readonly retentionRate: number
  /** Events that retention has deleted meanwhile. */
  readonly removed: number
  readonly reads: ReadonlyArray<ReadFound>
}

/** The log that the reads of the full one are compared with: as many runs as `Measures` are meant for. */
const SMALL_RUNS = 2_000
/** Runs that are read by their ids. */
const READ_RUNS = 2_000
const WARM_UP_SECONDS = 1
/** Of each measure of ingest. */
const INGEST_ENVELOPES = 5_000
const INGEST_ROUNDS = 3
/** Envelopes of the run that is copied. */
const TEMPLATE_ENVELOPES = 20

/**
 * Fills a log with copies of a run that the service has written, and compares what writes and reads cost with what
 * they cost when it was empty; then lets retention delete the oldest tenth while histories are stored.
 */
export const fullLog = Effect.fn("FullLog.measure")(function* (load: FullLogLoad) {
  return yield* inFreshSurroundings(
    Effect.gen(function* () {
      const filled = yield* Effect.scoped(withControlPlane(filling(load)))
      const swept = yield* Effect.scoped(
        withControlPlane(sweeping, {
          DATA_RETENTION_ENABLED: "true",
          DATA_RETENTION_TTL_DAYS: String(Math.ceil(load.days * 0.9))
        })
      )
      const found: FullLogFound = { load, ...filled, ...swept }
      return found
    })
  )
})

const filling = Effect.fnUntraced(function* (load: FullLogLoad) {
  const emptyRate = yield* ingest
  const template = yield* templateRun
  const { events: small, eventsOfRun } = yield* copyRun(template, { runs: SMALL_RUNS, days: load.days })
  const before = yield* readAll(load)
  const { events } = yield* copyRun(template, {
    runs: Math.max(1, Math.ceil((load.events - small) / eventsOfRun)),
    days: load.days
  })
  const fullRate = yield* ingest
  const after = yield* readAll(load)
  const reads = before.map(
    ({ name, p99 }, index): ReadFound => ({
      name,
      small: p99,
      full: after[index]?.p99 ?? Number.NaN
    })
  )
  return { emptyRate, fullRate, events: small + events, reads }
})

/** Stores histories for as long as runs are left that retention deletes. */
const sweeping = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const count = Effect.map(
    sql<{ readonly events: number }>`SELECT coalesce(sum(last_index), 0)::float8 AS events FROM run_heads`,
    ([row]) => row?.events ?? 0
  )
  const rates: Array<number> = []
  let removed = 0
  let idleRounds = 0
  // The first sweep begins some seconds after the start; it is over when a round deletes nothing any more.
  while (idleRounds < 2) {
    const before = yield* count
    const { rate, stored } = yield* ingestOnce
    const gone = Math.max(0, before + stored - (yield* count))
    removed += gone
    if (gone > 0) {
      rates.push(rate)
      idleRounds = 0
    } else {
      idleRounds += rates.length > 0 ? 1 : 0
      yield* Effect.sleep("1 second")
    }
  }
  return { retentionRate: median(rates), removed }
})

const ingestOnce = Effect.gen(function* () {
  const runtime = yield* RuntimeProcess
  const sql = yield* PgClient.PgClient
  const fleet = yield* openFleet(1, INGEST_ENVELOPES)
  const { cost } = yield* measured(
    Effect.andThen(runtime.run({ _tag: "Release", sessions: fleet.sessions }), awaitEnvelopes(fleet, INGEST_ENVELOPES))
  )
  yield* closeFleet(fleet)
  const [row] = yield* sql<{ readonly events: number }>`
    SELECT last_index::float8 AS events FROM run_heads WHERE run_id = ANY(${fleet.runIds}::text[]::uuid[])`
  return { rate: INGEST_ENVELOPES / cost.seconds, stored: row?.events ?? 0 }
})

/** Envelopes a second; the first round warms up. */
const ingest = Effect.gen(function* () {
  yield* ingestOnce
  const rounds = yield* Effect.forEach(Array.from({ length: INGEST_ROUNDS }), () => ingestOnce)
  return median(rounds.map(({ rate }) => rate))
})

export const templateRun = Effect.gen(function* () {
  const runtime = yield* RuntimeProcess
  const fleet = yield* openFleet(1, TEMPLATE_ENVELOPES)
  yield* runtime.run({ _tag: "Release", sessions: fleet.sessions })
  yield* awaitEnvelopes(fleet, TEMPLATE_ENVELOPES)
  yield* closeFleet(fleet)
  return fleet.runIds[0] ?? ""
})

const readAll = Effect.fnUntraced(function* ({ connections, seconds }: FullLogLoad) {
  const sql = yield* PgClient.PgClient
  const { headers, url } = yield* ControlPlaneProcess
  const ids = yield* sql<{ readonly id: string }>`
    SELECT id::text AS id FROM runs WHERE status = 'completed' LIMIT ${READ_RUNS}`
  const runIds = ids.map(({ id }) => id)
  return yield* Effect.forEach(MEASURES, ({ name, path }) =>
    Effect.gen(function* () {
      const target = { url, headers, connections, path: (request: number) => path(request, runIds) }
      yield* loadReads({ ...target, seconds: WARM_UP_SECONDS })
      const { millis } = yield* loadReads({ ...target, seconds })
      return { name, p99: millis.p99 }
    })
  )
})

export const fullLogOutcome = (found: FullLogFound): Outcome => {
  const { emptyRate, events, fullRate, load, reads, removed, retentionRate } = found
  const { aims } = load
  const scenario = `full log of ${number(events)} events`
  const line =
    `${scenario}: ingest ${number(emptyRate)}/s empty, ${number(fullRate)}/s full, ${number(retentionRate)}/s while ` +
    `${number(removed)} events are deleted; p99 small and full in ms: ` +
    reads.map(({ full, name, small }) => `${name} ${number(small)} ${number(full)}`).join(", ")
  const ofReads = reads.flatMap(
    ({ full, name, small }): ReadonlyArray<Figure> => [
      {
        name: `${name}, p99 to that of the small log`,
        value: full / small,
        unit: "",
        better: "less",
        ...(aims && { aim: aims.reads })
      },
      {
        name: `${name}, p99`,
        value: full,
        unit: "ms",
        better: "less",
        ...(aims && name === "GET /dashboard/overview" && { aim: aims.overview })
      }
    ]
  )
  return {
    scenario,
    line,
    figures: [
      { name: "ingest, empty", value: emptyRate, unit: "/s", better: "more" },
      {
        name: "ingest, full to empty",
        value: fullRate / emptyRate,
        unit: "",
        better: "more",
        ...(aims && { aim: aims.ingest })
      },
      {
        name: "ingest, beside retention",
        value: retentionRate / fullRate,
        unit: "",
        better: "more",
        ...(aims && { aim: aims.ingest })
      },
      { name: "deleted meanwhile", value: removed, unit: "events", better: "more" },
      ...ofReads
    ]
  }
}
