/** Names of the scenarios, in the order in which they run. */
export const SCENARIOS = [
  "throughput",
  "latency",
  "tails",
  "posts",
  "cold",
  "idle",
  "long-run",
  "large",
  "standstill",
  "idle-sessions",
  "full-log",
  "decisions"
] as const
/** Those that take so long that they only run when they are named. */
export const NAMED_ONLY: ReadonlyArray<ScenarioName> = ["idle-sessions", "full-log", "decisions"]
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
  /** Percent of the time that digesting and hashing the events may take. */
  readonly aimChain?: number
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
  /**
   * Of these, so many at the start are reported apart. They pay for everything that is new: connections, plans, the
   * first touch of each page since the last checkpoint, and clients whose code is cold.
   */
  readonly leadSeconds?: number
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
  /** How long the quiet runs last. */
  readonly quietSeconds: number
  /** How long the database is paused, from the release on. */
  readonly pausedSeconds: number
  /** MiB of the control plane's largest resident set. */
  readonly aimMemory?: number
  /** Milliseconds of the quiet runs' 99th percentile. */
  readonly aimQuiet?: number
}

/** Runs that are created, so many at once. */
export interface PostsLoad {
  readonly runs: number
  readonly atOnce: number
  /** Milliseconds; requests a second; milliseconds of CPU for a run, the database's included. */
  readonly aims?: {
    readonly p50?: number
    readonly p99?: number
    readonly perSecond?: number
    readonly cpu?: number
  }
}

/** The first history that a process stores, and others after it. */
export interface ColdLoad {
  readonly envelopes: number
  /** Runs between the cold one and the warm one that it is compared with. */
  readonly warmUps: number
  /** Envelopes a second of the first. */
  readonly aim?: number
}

/** A service that has nothing to do, for so long. */
export interface IdleLoad {
  /** Run from its sources, or as the image and the package `runplane` have it. */
  readonly form: "source" | "bundle"
  readonly seconds: number
  /** Seconds until it is ready; MiB. */
  readonly aims?: { readonly ready: number; readonly memory: number }
}

/** One run that grows in equal parts. */
export interface LongRunLoad {
  readonly envelopes: number
  readonly parts: number
  /** CPU of a late envelope to that of an early one; MiB of the largest resident set. */
  readonly aims?: { readonly growth: number; readonly memory: number }
}

/** A log of so many events, copies of one run spread over days. */
export interface FullLogLoad {
  readonly events: number
  readonly days: number
  /** Connections and seconds of each measure of reads. */
  readonly connections: number
  readonly seconds: number
  /** Least share of the rate of ingest; most times the p99 of the small log; milliseconds of the overview's p99. */
  readonly aims?: { readonly ingest: number; readonly reads: number; readonly overview: number }
}

/** Runs that a policy is tried on, and two long ones whose decisions are read. */
export interface DecisionsLoad {
  readonly runs: number
  /** Of each of the two. */
  readonly longEnvelopes: number
  /** Seconds; MiB; milliseconds; MiB; milliseconds that another request may have to wait. */
  readonly aims?: {
    readonly backtest: number
    readonly growth: number
    readonly answer: number
    readonly memory: number
    readonly blocked: number
  }
}

/** Sessions in which nothing happens. */
export interface IdleSessionsLoad {
  readonly sessions: number
  /** How long the process is watched that follows them. */
  readonly seconds: number
  /** MiB; percent of a core; connections to the database; seconds until another process follows all of them. */
  readonly aims?: {
    readonly memory: number
    readonly cpu: number
    readonly connections: number
    readonly restart: number
  }
}

export interface Plan {
  readonly throughput: ReadonlyArray<ThroughputLoad>
  readonly latency: ReadonlyArray<LatencyLoad>
  readonly tails: ReadonlyArray<LatencyLoad>
  readonly posts: ReadonlyArray<PostsLoad>
  readonly cold: ReadonlyArray<ColdLoad>
  readonly idle: ReadonlyArray<IdleLoad>
  readonly longRun: ReadonlyArray<LongRunLoad>
  readonly large: ReadonlyArray<LargeLoad>
  readonly standstill: ReadonlyArray<LargeLoad>
  readonly idleSessions: ReadonlyArray<IdleSessionsLoad>
  readonly fullLog: ReadonlyArray<FullLogLoad>
  readonly decisions: ReadonlyArray<DecisionsLoad>
}

const LARGE = { runs: 1, payloadBytes: 1_000_000, quietRuns: 20, quietPerSecond: 200, pausedSeconds: 0 }
const STANDSTILL = { runs: 500, payloadBytes: 10_000, quietRuns: 0, quietPerSecond: 0, quietSeconds: 0 }
const PACE = { eventsPerSecond: 1_000, seconds: 12, leadSeconds: 2 }

/** The loads that the aims are set for. */
export const fullPlan: Plan = {
  throughput: [
    { runs: 1, envelopes: 5_000, subscribers: 0, aim: 12_000, aimRatio: 0.6, aimChain: 10 },
    { runs: 32, envelopes: 100, subscribers: 0, aim: 12_000, aimRatio: 0.6, aimChain: 10 },
    { runs: 32, envelopes: 100, subscribers: 1 }
  ],
  latency: [
    { ...PACE, runs: 1, subscribers: 1, aim: 15 },
    { ...PACE, runs: 10, subscribers: 10 },
    { ...PACE, runs: 1, subscribers: 100 },
    { ...PACE, runs: 1, subscribers: 500, aim: 100 }
  ],
  tails: [
    { ...PACE, runs: 10, subscribers: 50, ofLog: true },
    { ...PACE, runs: 10, subscribers: 100, ofLog: true },
    { ...PACE, runs: 10, subscribers: 200, ofLog: true, aim: 50 }
  ],
  posts: [
    { runs: 200, atOnce: 1, aims: { p50: 8 } },
    { runs: 640, atOnce: 32, aims: { p99: 80, perSecond: 400, cpu: 4 } }
  ],
  cold: [{ envelopes: 500, warmUps: 4, aim: 2_000 }],
  idle: [
    { form: "bundle", seconds: 20, aims: { ready: 0.8, memory: 130 } },
    { form: "source", seconds: 20 }
  ],
  longRun: [{ envelopes: 100_000, parts: 10, aims: { growth: 1.2, memory: 700 } }],
  large: [{ ...LARGE, envelopes: 400, quietSeconds: 10, aimMemory: 700, aimQuiet: 100 }],
  standstill: [{ ...STANDSTILL, envelopes: 40, pausedSeconds: 60, aimMemory: 700 }],
  idleSessions: [{ sessions: 10_000, seconds: 120, aims: { memory: 600, cpu: 5, connections: 20, restart: 30 } }],
  fullLog: [
    {
      events: 10_000_000,
      days: 30,
      connections: 16,
      seconds: 5,
      aims: { ingest: 0.8, reads: 1.5, overview: 50 }
    }
  ],
  decisions: [
    {
      runs: 10_000,
      longEnvelopes: 10_000,
      aims: { backtest: 30, growth: 50, answer: 1_000, memory: 200, blocked: 100 }
    }
  ]
}

/** What is run first and not counted: the compilers and caches of all processes are warm afterwards. */
export const warmUpPlan: Plan = {
  throughput: [
    { runs: 1, envelopes: 3_000, subscribers: 1 },
    { runs: 32, envelopes: 100, subscribers: 0 }
  ],
  latency: [{ runs: 1, subscribers: 1, eventsPerSecond: 1_000, seconds: 2 }],
  tails: [{ runs: 1, subscribers: 20, ofLog: true, eventsPerSecond: 1_000, seconds: 2 }],
  posts: [{ runs: 64, atOnce: 32 }],
  cold: [],
  idle: [],
  longRun: [{ envelopes: 2_000, parts: 1 }],
  large: [{ ...LARGE, envelopes: 10, quietSeconds: 1 }],
  standstill: [],
  idleSessions: [],
  fullLog: [],
  decisions: []
}

export const only = (plan: Plan, names: ReadonlyArray<ScenarioName>): Plan => ({
  throughput: names.includes("throughput") ? plan.throughput : [],
  latency: names.includes("latency") ? plan.latency : [],
  tails: names.includes("tails") ? plan.tails : [],
  posts: names.includes("posts") ? plan.posts : [],
  cold: names.includes("cold") ? plan.cold : [],
  idle: names.includes("idle") ? plan.idle : [],
  longRun: names.includes("long-run") ? plan.longRun : [],
  large: names.includes("large") ? plan.large : [],
  standstill: names.includes("standstill") ? plan.standstill : [],
  idleSessions: names.includes("idle-sessions") ? plan.idleSessions : [],
  fullLog: names.includes("full-log") ? plan.fullLog : [],
  decisions: names.includes("decisions") ? plan.decisions : []
})

/** The same plan with loads of another size, which no aims are set for. */
export const sized = (plan: Plan, size: number | undefined): Plan =>
  size === undefined
    ? plan
    : {
        ...plan,
        longRun: plan.longRun.map(({ aims: _, ...load }) => ({ ...load, envelopes: size })),
        idleSessions: plan.idleSessions.map(({ aims: _, ...load }) => ({ ...load, sessions: size })),
        fullLog: plan.fullLog.map(({ aims: _, ...load }) => ({ ...load, events: size })),
        decisions: plan.decisions.map(({ aims: _, ...load }) => ({ ...load, runs: size }))
      }
