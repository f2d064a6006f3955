/** Names of the scenarios, in the order in which they run. */
export const SCENARIOS = ["throughput", "latency", "tails", "creation", "large", "standstill"] as const
export type ScenarioName = (typeof SCENARIOS)[number]

/** Histories that are released at once. */
export interface ThroughputLoad {
  readonly runs: number
  /** Of each run. */
  readonly envelopes: number
  /** Clients of each run's event stream. */
  readonly subscribers: number
  /** Envelopes a second, of all runs together. */
  readonly aim?: number
  /** Share of the raw ceiling's rows per second. */
  readonly aimRatio?: number
}

/** Envelopes at an even pace. */
export interface LatencyLoad {
  readonly runs: number
  /** Clients of each run's event stream; with `ofLog`, clients of the stream of the whole log, in all. */
  readonly subscribers: number
  readonly ofLog?: true
  /** Of all runs together. */
  readonly eventsPerSecond: number
  readonly seconds: number
  /** Milliseconds of the 99th percentile. */
  readonly aim?: number
}

/** Histories of large envelopes that are released at once, beside quiet runs. */
export interface LargeLoad {
  readonly runs: number
  /** Of each run. */
  readonly envelopes: number
  readonly payloadBytes: number
  /** Runs with small envelopes at an even pace and one subscriber each, meanwhile. */
  readonly quietRuns: number
  /** Envelopes a second, of all quiet runs together. */
  readonly quietPerSecond: number
  /** How long the quiet runs go on. */
  readonly quietSeconds: number
  /** How long the database stands still, from the release on. */
  readonly standStillSeconds: number
  /** MiB of the control plane's largest resident set. */
  readonly aimMemory?: number
  /** Milliseconds of the quiet runs' 99th percentile. */
  readonly aimQuiet?: number
}

/** Runs that are created at once. */
export interface CreationLoad {
  readonly atOnce: number
  readonly rounds: number
}

export interface Plan {
  readonly throughput: ReadonlyArray<ThroughputLoad>
  readonly latency: ReadonlyArray<LatencyLoad>
  readonly tails: ReadonlyArray<LatencyLoad>
  readonly creation: ReadonlyArray<CreationLoad>
  readonly large: ReadonlyArray<LargeLoad>
  readonly standstill: ReadonlyArray<LargeLoad>
}

const LARGE = { runs: 1, payloadBytes: 1_000_000, quietRuns: 20, quietPerSecond: 200, standStillSeconds: 0 }
const STANDSTILL = { runs: 500, payloadBytes: 10_000, quietRuns: 0, quietPerSecond: 0, quietSeconds: 0 }
const PACE = { eventsPerSecond: 1_000, seconds: 10 }

/** The loads that the aims are set for. */
export const fullPlan: Plan = {
  throughput: [
    { runs: 1, envelopes: 5_000, subscribers: 0, aim: 4_000 },
    { runs: 32, envelopes: 100, subscribers: 0, aimRatio: 0.5 },
    { runs: 32, envelopes: 100, subscribers: 1 }
  ],
  latency: [
    { ...PACE, runs: 1, subscribers: 1, aim: 15 },
    { ...PACE, runs: 10, subscribers: 10 },
    { ...PACE, runs: 1, subscribers: 100 }
  ],
  tails: [{ ...PACE, runs: 10, subscribers: 200, ofLog: true, aim: 50 }],
  creation: [{ atOnce: 32, rounds: 10 }],
  large: [{ ...LARGE, envelopes: 400, quietSeconds: 10, aimMemory: 700, aimQuiet: 100 }],
  standstill: [{ ...STANDSTILL, envelopes: 40, standStillSeconds: 60, aimMemory: 700 }]
}

/** What is run first and not counted: the compilers and caches of all processes are warm afterwards. */
export const warmUpPlan: Plan = {
  throughput: [
    { runs: 1, envelopes: 3_000, subscribers: 1 },
    { runs: 32, envelopes: 100, subscribers: 0 }
  ],
  latency: [{ runs: 1, subscribers: 1, eventsPerSecond: 1_000, seconds: 2 }],
  tails: [{ runs: 1, subscribers: 20, ofLog: true, eventsPerSecond: 1_000, seconds: 2 }],
  creation: [{ atOnce: 32, rounds: 2 }],
  large: [{ ...LARGE, envelopes: 10, quietSeconds: 1 }],
  standstill: []
}

export const only = (plan: Plan, names: ReadonlyArray<ScenarioName>): Plan => ({
  throughput: names.includes("throughput") ? plan.throughput : [],
  latency: names.includes("latency") ? plan.latency : [],
  tails: names.includes("tails") ? plan.tails : [],
  creation: names.includes("creation") ? plan.creation : [],
  large: names.includes("large") ? plan.large : [],
  standstill: names.includes("standstill") ? plan.standstill : []
})
