/*
 * How fast the archive is written, and how much slower appends are beside it (docs/internals/scale.md).
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as PgClient from "@effect/sql-pg/PgClient"
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
import { number } from "./Report.ts"
import { copyRun } from "./reads/BigDatabase.ts"
import { median } from "./Statistics.ts"
import { templateRun } from "./scenarios/FullLog.ts"
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

const compare = Effect.fnUntraced(function* (rounds: number, envelopes: number) {
  const fleet = { runs: 32, envelopes, subscribers: 0 }
  const without: Array<number> = []
  const beside: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    without.push(yield* appends(fleet, {}))
    const folder = yield* temporaryFolder
    beside.push(
      yield* appends(fleet, {
        ARCHIVE_URL: `file://${folder}`,
        ARCHIVE_INTERVAL_MS: "1000",
        ARCHIVE_FILE_ROWS: "20000"
      })
    )
  }
  const ratio = median(beside) / median(without)
  yield* Console.log(
    `appends at full speed: ${number(median(without))} envelopes/s without an archive, ${number(median(beside))} ` +
      `beside it, ${number(100 * (1 - ratio))} % slower (medians of ${rounds})`
  )
})

/** A log of copies of one run, archived in one pass. */
const rate = Effect.fnUntraced(function* (wanted: number) {
  const measured = Effect.gen(function* () {
    const { url } = yield* BenchDatabase
    const events = yield* withControlPlane(
      Effect.gen(function* () {
        const template = yield* templateRun
        const { eventsOfRun } = yield* copyRun(template, { runs: 1, days: 1 })
        yield* copyRun(template, { runs: Math.ceil(wanted / eventsOfRun), days: 3 })
        const sql = yield* PgClient.PgClient
        const [row] = yield* sql<{ readonly events: number }>`SELECT count(*)::int AS events FROM canonical_events`
        return row?.events ?? 0
      })
    )
    const folder = yield* temporaryFolder
    const env = { DATABASE_URL: url, ARCHIVE_URL: `file://${folder}`, MIGRATE_ON_START: "false" }
    const started = yield* Clock.currentTimeMillis
    const { bytes, files, rows } = yield* Effect.provide(
      archiveOnce,
      ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
    )
    const seconds = ((yield* Clock.currentTimeMillis) - started) / 1_000
    yield* Console.log(
      `archived ${number(rows)} rows (${number(events)} events) in ${number(seconds)} s, ` +
        `${number(rows / seconds)} rows/s, ${files} files, ${number(bytes / 1024 / 1024)} MiB; ` +
        `the process has ${number(process.memoryUsage().rss / 1024 / 1024)} MiB`
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
    envelopes: Flag.Int("envelopes").pipe(Flag.withDescription("Of each of 32 runs"), Flag.withDefault(1_000)),
    source: Flag.Boolean("source").pipe(
      Flag.withDescription("The service from source instead of its bundle"),
      Flag.withDefault(false)
    )
  },
  ({ envelopes, events, rounds, source }) =>
    Effect.gen(function* () {
      if (events > 0) yield* rate(events)
      if (rounds > 0) yield* compare(rounds, envelopes)
    }).pipe(
      Effect.scoped,
      Effect.provide([BenchDatabase.layer, source ? ServiceForm.layerSource : ServiceForm.layerBundle])
    )
).pipe(Command.withDescription("Measures the archive: its rate, and appends beside it."))

NodeRuntime.runMain(Command.run(command, { version: "0.1.0" }).pipe(Effect.provide(NodeServices.layer)))
