/*
 * How many cells a load needs, and what several cells cost their users: a simulation over the measured costs of a cell
 * (docs/internals/scale.md#cells).
 */

import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RUNPLANE_VERSION } from "@runplane/api"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type CellCosts, MEASURED, TYPICAL } from "./cells/Costs.ts"
import { type Day, fewestCells, type Spread, spreadOf } from "./cells/Simulation.ts"

const LOADS = [1e4, 1e6, 1e8]
const DAYS_OF_YEAR = 365
const MEGABYTE = 1e6
const EVENTS_OF_ENVELOPE = 2

const percent = (share: number) => `${(100 * share).toFixed(share < 0.01 ? 2 : 0)} %`

const bytes = (count: number) => {
  const [unit, size] =
    count >= 1e15 ? ["PB", 1e15] : count >= 1e12 ? ["TB", 1e12] : count >= 1e9 ? ["GB", 1e9] : ["MB", MEGABYTE]
  return `${(count / size).toFixed(1)} ${unit}`
}

const rows = (day: Day, spread: Spread, costs: CellCosts): ReadonlyArray<readonly [string, string]> => [
  ["runs, envelopes of the day", `${day.runs.toLocaleString("en-US")}, ${day.envelopes.toLocaleString("en-US")}`],
  ["runtimes", day.runtimes.toLocaleString("en-US")],
  ["cells", String(day.cells)],
  ["runs of the busiest cell, to the average", day.imbalance.toFixed(2)],
  ["its cores in its busiest minute", percent(day.busiestCpu)],
  ["its WAL in its busiest minute", percent(day.busiestWal)],
  ["cores of the largest runtime alone", day.largestRuntime.toFixed(1)],
  [`database of the fullest cell, ${costs.retentionDays} days`, bytes(day.stored)],
  ["archive of a year", bytes(day.envelopes * EVENTS_OF_ENVELOPE * costs.archiveBytesOfEvent * DAYS_OF_YEAR)],
  ["a list of all cells, 99th percentile", `${(1e3 * spread.list99).toFixed(0)} ms`],
  ["runs that cannot be read while a cell is away", percent(spread.unread)],
  [
    "new runs of each other cell meanwhile",
    Number.isNaN(spread.moreElsewhere) ? "no other cell" : `x ${spread.moreElsewhere.toFixed(3)}`
  ],
  ["minutes to catch up after ten minutes away", spread.catchUpMinutes.toFixed(1)]
]

const command = Command.make(
  "npm run bench:cells --",
  {
    cores: Flag.Int("cores").pipe(
      Flag.withDescription("Cores of a cell, its database included"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_024 }))),
      Flag.withDefault(MEASURED.cores)
    ),
    retention: Flag.Int("retention").pipe(
      Flag.withDescription("Days that the database keeps a run; the archive has all"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3_650 }))),
      Flag.withDefault(MEASURED.retentionDays)
    ),
    seed: Flag.Int("seed").pipe(Flag.withDescription("Seed of the arrivals"), Flag.withDefault(1))
  },
  Effect.fnUntraced(function* ({ cores, retention, seed }) {
    const costs = { ...MEASURED, cores, retentionDays: retention }
    const columns = LOADS.map((runsPerDay) => {
      const day = fewestCells({ ...TYPICAL, runsPerDay }, costs, seed)
      return rows(day, spreadOf(day, costs, seed), costs)
    })
    const names = (columns[0] ?? []).map(([name]) => name)
    const width = Math.max(...names.map((name) => name.length))
    yield* Console.log(
      `${"".padEnd(width)}  ${LOADS.map((load) => `${load.toExponential(0)} runs a day`.padStart(28)).join("")}`
    )
    for (const [at, name] of names.entries()) {
      yield* Console.log(
        `${name.padEnd(width)}  ${columns.map((column) => (column[at]?.[1] ?? "").padStart(28)).join("")}`
      )
    }
  })
).pipe(Command.withDescription("Simulates a day of runs on cells: how many are needed, and what several cost."))

NodeRuntime.runMain(Effect.provide(Command.run(command, { version: RUNPLANE_VERSION }), NodeServices.layer))
