/*
 * How fast the archive is written, and how much slower appends are beside it (docs/internals/scale.md).
 */

import { loadavg } from "node:os"
import { resolve } from "node:path"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as PgClient from "@effect/sql-pg/PgClient"
import { RUNPLANE_VERSION } from "@runplane/api"
import { archiveOnce } from "@runplane/control-plane"
import { temporaryFolder } from "@runplane/postgres"
import * as Clock from "effect/Clock"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import { BenchDatabase } from "./BenchDatabase.ts"
import { inFreshSurroundings, withControlPlane } from "./FreshWorld.ts"
import { costInWords } from "./Measurement.ts"
import { number } from "./Report.ts"
import { copyRun } from "./reads/BigDatabase.ts"
import { median } from "./Statistics.ts"
import { templateRun } from "./scenarios/FullLog.ts"
import { latency } from "./scenarios/Latency.ts"
import { throughput } from "./scenarios/Throughput.ts"
import { ServiceForm } from "./service/ServiceForm.ts"

const WARM = { runs: 8, envelopes: 250, subscribers: 0 }

/** Envelopes a second into an empty log. */
const appends = Effect.fnUntraced(function* (fleet: typeof WARM, environment: Readonly<Record<string, string>>) {
  const inProcess = Effect.gen(function* () {
    // The first one compiles the code of the service.
    yield* throughput(WARM)
    const { cost } = yield* throughput(fleet)
    return (fleet.runs * fleet.envelopes) / cost.seconds
  })
  return yield* Effect.scoped(inFreshSurroundings(withControlPlane(inProcess, environment)))
})

/** How an archive is written beside the measured service. */
const beside = Effect.map(temporaryFolder, (folder) => ({
  ARCHIVE_URL: `file://${folder}`,
  ARCHIVE_INTERVAL_MS: "1000",
  ARCHIVE_FILE_ROWS: "20000"
}))

const compare = Effect.fnUntraced(function* (rounds: number, envelopes: number) {
  const fleet = { runs: 32, envelopes, subscribers: 0 }
  const without: Array<number> = []
  const archived: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    without.push(yield* appends(fleet, {}))
    archived.push(yield* appends(fleet, yield* beside))
  }
  const ratio = median(archived) / median(without)
  yield* Console.log(
    `appends at full speed: ${number(median(without))} envelopes/s without an archive, ${number(median(archived))} ` +
      `beside it, ${number(100 * (1 - ratio))} % slower (medians of ${rounds})`
  )
})

const PACED = { runs: 10, subscribers: 1, leadSeconds: 5 }

/** Events at an even pace: how late they reach a subscriber of their run, and whether the service keeps the pace. */
const paced = Effect.fnUntraced(function* (eventsPerSecond: number, seconds: number, rounds: number) {
  const one = Effect.fnUntraced(function* (name: string, environment: Readonly<Record<string, string>>) {
    const { cost, times } = yield* Effect.scoped(
      inFreshSurroundings(withControlPlane(latency({ ...PACED, eventsPerSecond, seconds }), environment))
    )
    const { max, p50, p99 } = times.settled
    yield* Console.log(
      `${eventsPerSecond} events/s ${name}: ${number((eventsPerSecond * seconds) / cost.seconds)} events/s, ` +
        `p50 ${number(p50)} ms, p99 ${number(p99)} ms, max ${number(max)} ms, ${costInWords(cost)}`
    )
  })
  for (let round = 0; round < rounds; round++) {
    yield* one("without an archive", {})
    yield* one("beside it", yield* beside)
  }
})

/** A log of copies of one run, archived in one pass. */
const rate = Effect.fnUntraced(function* (wanted: number, into: string) {
  const measured = Effect.gen(function* () {
    const { cpuSeconds, url } = yield* BenchDatabase
    const events = yield* withControlPlane(
      Effect.gen(function* () {
        const template = yield* templateRun
        const sql = yield* PgClient.PgClient
        const count = Effect.map(
          sql<{ readonly events: number }>`SELECT count(*)::int AS events FROM canonical_events`,
          ([row]) => row?.events ?? 0
        )
        const before = yield* count
        yield* copyRun(template, { runs: 1, days: 1, onlyLog: true })
        const eventsOfRun = (yield* count) - before
        yield* copyRun(template, { runs: Math.ceil(wanted / eventsOfRun), days: 3, onlyLog: true })
        return yield* count
      })
    )
    const folder = into === "" ? yield* temporaryFolder : resolve(into)
    const env = { DATABASE_URL: url, ARCHIVE_URL: `file://${folder}`, MIGRATE_ON_START: "false" }
    const started = yield* Clock.currentTimeMillis
    const [own, database] = [process.cpuUsage(), (yield* cpuSeconds) ?? 0]
    const { bytes, files, rows } = yield* Effect.provide(
      archiveOnce,
      ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
    )
    const seconds = ((yield* Clock.currentTimeMillis) - started) / 1_000
    const { system, user } = process.cpuUsage(own)
    const databaseCpu = ((yield* cpuSeconds) ?? 0) - database
    yield* Console.log(
      `archived ${number(rows)} rows (${number(events)} events) in ${number(seconds)} s, ` +
        `${number(rows / seconds)} rows/s, ${files} files, ${number(bytes / 1024 / 1024)} MiB, ` +
        `${number(bytes / events)} bytes an event; CPU ${number((system + user) / 1e6)} s, ` +
        `PostgreSQL ${number(databaseCpu)} s, load ${number(loadavg()[0] ?? 0)}; the process had at most ` +
        `${number(process.resourceUsage().maxRSS / 1024)} MiB`
    )
  })
  yield* Effect.scoped(inFreshSurroundings(measured))
})

const command = Command.make(
  "npm run bench:archive --",
  {
    events: Flag.Int("events").pipe(
      Flag.withDescription("Events that are archived in one pass"),
      Flag.withDefault(1_000_000)
    ),
    rounds: Flag.Int("rounds").pipe(Flag.withDescription("Comparisons of appends; 0 for none"), Flag.withDefault(3)),
    pace: Flag.String("pace").pipe(
      Flag.withDescription("Events a second at an even pace, such as 1000,3000; empty for none"),
      Flag.withDefault("")
    ),
    seconds: Flag.Int("seconds").pipe(Flag.withDescription("Of each pace"), Flag.withDefault(60)),
    folder: Flag.String("folder").pipe(
      Flag.withDescription("Where the files of the pass stay; empty for a temporary folder"),
      Flag.withDefault("")
    ),
    envelopes: Flag.Int("envelopes").pipe(Flag.withDescription("Of each of 32 runs"), Flag.withDefault(1_000)),
    source: Flag.Boolean("source").pipe(
      Flag.withDescription("The service from source instead of its bundle"),
      Flag.withDefault(false)
    )
  },
  ({ envelopes, events, folder, pace, rounds, seconds, source }) =>
    Effect.gen(function* () {
      if (events > 0) yield* rate(events, folder)
      for (const text of pace.split(",").filter((one) => one !== "")) {
        const eventsPerSecond = Number(text)
        if (!(eventsPerSecond >= 1)) return yield* Effect.die(new Error(`--pace ${text} is not a number of events`))
        yield* paced(eventsPerSecond, seconds, Math.max(1, rounds))
      }
      if (rounds > 0 && pace === "") yield* compare(rounds, envelopes)
    }).pipe(
      Effect.scoped,
      Effect.provide([BenchDatabase.layer, source ? ServiceForm.layerSource : ServiceForm.layerBundle])
    )
).pipe(Command.withDescription("Measures the archive: its rate, and appends beside it."))

NodeRuntime.runMain(Command.run(command, { version: RUNPLANE_VERSION }).pipe(Effect.provide(NodeServices.layer)))
