/** Names of the scenarios, in the order in which they run. */
export const SCENARIOS = ["throughput", "latency", "creation"] as const
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
  /** Clients of each run's event stream. */
  readonly subscribers: number
  /** Of all runs together. */
  readonly eventsPerSecond: number
  readonly seconds: number
  /** Milliseconds of the 99th percentile. */
  readonly aim?: number
}

/** Runs that are created at once. */
export interface CreationLoad {
  readonly atOnce: number
  readonly rounds: number
}

export interface Plan {
  readonly throughput: ReadonlyArray<ThroughputLoad>
  readonly latency: ReadonlyArray<LatencyLoad>
  readonly creation: ReadonlyArray<CreationLoad>
}

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
  creation: [{ atOnce: 32, rounds: 10 }]
}

/** What is run first and not counted: the compilers and caches of all processes are warm afterwards. */
export const warmUpPlan: Plan = {
  throughput: [
    { runs: 1, envelopes: 3_000, subscribers: 1 },
    { runs: 32, envelopes: 100, subscribers: 0 }
  ],
  latency: [{ runs: 1, subscribers: 1, eventsPerSecond: 1_000, seconds: 2 }],
  creation: [{ atOnce: 32, rounds: 2 }]
}

export const only = (plan: Plan, names: ReadonlyArray<ScenarioName>): Plan => ({
  throughput: names.includes("throughput") ? plan.throughput : [],
  latency: names.includes("latency") ? plan.latency : [],
  creation: names.includes("creation") ? plan.creation : []
})
