import { ascending, percentile } from "../Statistics.ts"
import { type Chance, chanceOf, normal, poisson, weightOf } from "./Chance.ts"
import type { CellCosts, Traffic } from "./Costs.ts"

const MINUTES = 24 * 60
const SECONDS_OF_MINUTE = 60
/** Lists that the fan-out is measured with. */
const LISTS = 20_000
/** A cell is away for so long, in the busiest hour. Minutes. */
const OUTAGE_MINUTES = 10
/** The number by which a normal distribution has 99 % below it. */
const NORMAL_99 = 2.326
/** More cells than any load of the table needs: the search ends. */
const MOST_CELLS = 4_096

/** One day of one number of cells. */
export interface Day {
  readonly cells: number
  readonly runtimes: number
  readonly runs: number
  readonly envelopes: number
  /** Runs of the busiest cell, to the average. */
  readonly imbalance: number
  /** Share of its cores that the busiest cell used in its busiest minute. */
  readonly busiestCpu: number
  /** Share of its WAL. */
  readonly busiestWal: number
  /** Bytes that the fullest cell keeps after the retention. */
  readonly stored: number
  /** Cores of a cell that the largest runtime alone needs in its busiest minute. */
  readonly largestRuntime: number
}

/** What the users notice of several cells. */
export interface Spread {
  /** 99th percentile of a list that merges the pages of all cells. Seconds. */
  readonly list99: number
  /** While one cell is away: share of the runs that no reader reaches, and that are observed later. */
  readonly unread: number
  /** New runs of the others, which take the ones that may run anywhere, to before. */
  readonly moreElsewhere: number
  /** Minutes after its return until the cell has read what it missed. */
  readonly catchUpMinutes: number
}

/** The share of the day's runs that begin in a minute: one wave, with its peak in the middle of the day. */
const shareOfMinute = (minute: number, peak: number): number =>
  (1 + (peak - 1) * Math.cos((2 * Math.PI * (minute - MINUTES / 2)) / MINUTES)) / MINUTES

/** As `shareOfMinute`, never below zero, and one in sum. */
const minutesOf = (peak: number): ReadonlyArray<number> => {
  const raw = Array.from({ length: MINUTES }, (_, minute) => Math.max(0.05 / MINUTES, shareOfMinute(minute, peak)))
  const sum = raw.reduce((total, share) => total + share, 0)
  return raw.map((share) => share / sum)
}

/** The share of the runs of each runtime: by its rank, and no more than one runtime carries. */
const runtimeShares = ({ mostRunsOfRuntime, runsOfRuntime, runsPerDay, skew }: Traffic): ReadonlyArray<number> => {
  const count = Math.max(1, Math.ceil(runsPerDay / runsOfRuntime))
  const ranks = Array.from({ length: count }, (_, rank) => (rank + 1) ** -skew)
  const average = ranks.reduce((total, share) => total + share, 0) / count
  const bounded = ranks.map((share) => Math.min(share, (average * mostRunsOfRuntime) / runsOfRuntime))
  const sum = bounded.reduce((total, share) => total + share, 0)
  return bounded.map((share) => share / sum)
}

/** The cell of a runtime: the one with the greatest weight, so that a new cell takes its part from every other. */
export const cellOf = (runtime: number, cells: number): number => {
  let best = 0
  for (let cell = 1; cell < cells; cell++) if (weightOf(runtime, cell) > weightOf(runtime, best)) best = cell
  return best
}

/** Mean and variance of the envelopes of a run, from a sample of the bounded lognormal distribution. */
const envelopesOf = ({ envelopesMedian, envelopesMost, envelopesSigma }: Traffic, chance: Chance) => {
  const sample = Array.from({ length: 50_000 }, () =>
    Math.min(envelopesMost, Math.max(1, Math.round(envelopesMedian * Math.exp(envelopesSigma * normal(chance)))))
  )
  const mean = sample.reduce((sum, value) => sum + value, 0) / sample.length
  const variance = sample.reduce((sum, value) => sum + (value - mean) ** 2, 0) / sample.length
  return { mean, variance }
}

/** Plays a day: the arrivals of each runtime in each minute, and what they cost its cell. */
export const playDay = (traffic: Traffic, costs: CellCosts, cells: number, seed: number): Day => {
  const chance = chanceOf(seed)
  const size = envelopesOf(traffic, chance)
  const shares = runtimeShares(traffic)
  const homes = shares.map((_, runtime) => cellOf(runtime, cells))
  const minutes = minutesOf(traffic.peak)
  const perCell = Array.from({ length: cells }, () => ({ runs: 0, envelopes: 0, cpu: 0, wal: 0 }))
  let largestRuntime = 0
  for (const share of minutes) {
    const minute = Array.from({ length: cells }, () => ({ cpu: 0, wal: 0 }))
    for (const [runtime, part] of shares.entries()) {
      const runs = poisson(traffic.runsPerDay * share * part, chance)
      if (runs === 0) continue
      const envelopes = Math.max(runs, Math.round(runs * size.mean + Math.sqrt(runs * size.variance) * normal(chance)))
      const cpu = runs * costs.cpuOfRun + envelopes * costs.cpuOfEnvelope
      const wal = envelopes * costs.bytesOfEnvelope
      const home = homes[runtime] ?? 0
      const cell = perCell[home]
      const now = minute[home]
      if (cell === undefined || now === undefined) continue
      cell.runs += runs
      cell.envelopes += envelopes
      now.cpu += cpu
      now.wal += wal
      largestRuntime = Math.max(largestRuntime, cpu / SECONDS_OF_MINUTE)
    }
    for (const [at, now] of minute.entries()) {
      const cell = perCell[at]
      if (cell === undefined) continue
      cell.cpu = Math.max(cell.cpu, now.cpu / SECONDS_OF_MINUTE / costs.cores)
      cell.wal = Math.max(cell.wal, now.wal / SECONDS_OF_MINUTE / costs.walPerSecond)
    }
  }
  const runs = perCell.reduce((sum, cell) => sum + cell.runs, 0)
  const most = (of: (cell: (typeof perCell)[number]) => number) => Math.max(...perCell.map(of))
  return {
    cells,
    runtimes: shares.length,
    runs,
    envelopes: perCell.reduce((sum, cell) => sum + cell.envelopes, 0),
    imbalance: most((cell) => cell.runs) / (runs / cells),
    busiestCpu: most((cell) => cell.cpu),
    busiestWal: most((cell) => cell.wal),
    stored: most((cell) => cell.envelopes) * costs.bytesOfEnvelope * costs.retentionDays,
    largestRuntime
  }
}

const fits = ({ busiestCpu, busiestWal, stored }: Day, costs: CellCosts): boolean =>
  busiestCpu <= costs.busiest && busiestWal <= costs.busiest && stored <= costs.storage

/** The fewest cells that carry the day, or `MOST_CELLS` where a runtime alone is too large for a cell. */
export const fewestCells = (traffic: Traffic, costs: CellCosts, seed: number): Day => {
  let tooFew = 0
  let day = playDay(traffic, costs, 1, seed)
  while (!fits(day, costs) && day.cells < MOST_CELLS) {
    tooFew = day.cells
    day = playDay(traffic, costs, day.cells * 2, seed)
  }
  while (day.cells - tooFew > 1) {
    const between = playDay(traffic, costs, Math.floor((day.cells + tooFew) / 2), seed)
    if (fits(between, costs)) day = between
    else tooFew = between.cells
  }
  return day
}

/** What the users of these cells notice. */
export const spreadOf = ({ busiestCpu, cells }: Day, costs: CellCosts, seed: number): Spread => {
  const chance = chanceOf(seed)
  const sigma = Math.log(costs.list99 / costs.listMedian) / NORMAL_99
  const slowest = Array.from({ length: LISTS }, () => {
    let most = 0
    for (let cell = 0; cell < cells; cell++) most = Math.max(most, costs.listMedian * Math.exp(sigma * normal(chance)))
    return most
  })
  // The missed envelopes are read in bulk, beside those that go on arriving.
  const missed = OUTAGE_MINUTES * busiestCpu * (costs.cpuOfBulkEnvelope / costs.cpuOfEnvelope)
  return {
    list99: percentile(ascending(slowest), 0.99),
    unread: 1 / cells,
    moreElsewhere: cells === 1 ? Number.NaN : cells / (cells - 1),
    catchUpMinutes: missed / (1 - busiestCpu)
  }
}
