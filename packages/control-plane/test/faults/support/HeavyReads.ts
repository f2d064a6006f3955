import type { Seeded } from "./FairReadSeeds.ts"

/** A read whose cost grows with runs, events or participants. `number` makes the requests of one caller differ. */
export interface HeavyRead {
  readonly method?: "POST"
  /** The path of an operation, or the name of an MCP tool, which gets `body` as its arguments. */
  readonly path: (seeded: Seeded, number: number) => string
  readonly body?: (seeded: Seeded, number: number) => unknown
  /** Requests at a time. */
  readonly times?: number
  /** Whether they go on until one of them has its answer. */
  readonly toItsEnd?: true
  /** Whether an answer has no end. */
  readonly isOpen?: true
  readonly isTool?: true
}

const one = ({ large }: Seeded, number: number) => large[number % large.length] ?? ""
/** Each number below the square of the runs gives another pair. */
const other = ({ large }: Seeded, number: number) =>
  large[(number + 1 + Math.floor(number / large.length)) % large.length] ?? ""
const VOTES = ["APPROVE", "REJECT", "ABSTAIN"]
const POLICY = { mode: "macp.mode.decision.v1", schemaVersion: 3, rules: { voting: { algorithm: "unanimous" } } }

/** The client does not withdraw its calls. */
const TOOL_CALLS = 8

const tool = (name: string, body: HeavyRead["body"] & {}): HeavyRead => ({
  path: () => name,
  body,
  isTool: true,
  times: TOOL_CALLS
})

/** The heavy reads of the control plane. */
export const HEAVY_READS: Readonly<Record<string, HeavyRead>> = {
  stability: { path: () => "/stability" },
  "stability, to its end": { path: () => "/stability", times: 3, toItsEnd: true },
  "stability by model of a search": { path: () => "/stability?q=tags:large&by=model" },
  divergence: { path: (seeded, number) => `/runs/${one(seeded, number)}/divergence?with=${other(seeded, number)}` },
  compare: {
    method: "POST",
    path: () => "/runs/compare",
    body: (seeded, number) => ({ leftRunId: one(seeded, number), rightRunId: other(seeded, number) })
  },
  forecast: { path: (seeded, number) => `/runs/${one(seeded, number)}/forecast?atSeq=${seeded.events * 3 + number}` },
  why: { path: (seeded, number) => `/runs/${one(seeded, number)}/decision/why` },
  "what-if": {
    method: "POST",
    path: (seeded, number) => `/runs/${one(seeded, number)}/what-if`,
    body: (_, number) => ({ votes: [{ participantId: "agent://cost", vote: VOTES[number % VOTES.length] }] })
  },
  backtest: {
    method: "POST",
    path: () => "/policies/backtest",
    body: () => ({ policy: POLICY, scope: { limit: 100 } })
  },
  "record of an agent": { path: () => "/agents/agent%3A%2F%2Frisk/record" },
  "agreement of marks": { path: () => "/marks/agreement?sources=human,judge" },
  marks: { path: () => "/marks?limit=200" },
  overview: { path: () => "/dashboard/overview?window=30d" },
  "metrics of agents": { path: () => "/dashboard/agents/metrics" },
  "search of runs": { path: (_, number) => `/runs?q=${encodeURIComponent(`duration:${number}..`)}` },
  "search of events": { path: () => `/events?limit=500&q=${encodeURIComponent('sender:"agent://risk"')}` },
  facets: { path: (_, number) => `/runs/facets?q=${encodeURIComponent(`duration:${number}..`)}` },
  "costs of models": { path: () => "/pricing/models" },
  export: { path: (seeded, number) => `/runs/${one(seeded, number)}/export` },
  "exports of a batch": { method: "POST", path: () => "/runs/batch/export", body: ({ large }) => ({ runIds: large }) },
  events: { path: (seeded, number) => `/runs/${one(seeded, number)}/events?limit=500` },
  "events of all runs": { path: () => "/events?limit=500" },
  state: { path: (seeded, number) => `/runs/${one(seeded, number)}/state` },
  "state of a replay": {
    path: (seeded, number) => `/runs/${one(seeded, number)}/replay/state?seq=${seeded.events * 3 + number}`
  },
  replay: { path: (seeded, number) => `/runs/${one(seeded, number)}/replay/stream?mode=instant` },
  stream: { path: (seeded, number) => `/runs/${one(seeded, number)}/stream?since=1`, isOpen: true },
  "AG-UI": { path: (seeded) => `/runs/${one(seeded, 0)}/ag-ui`, times: 100 },
  "rebuild of a projection": {
    method: "POST",
    path: (seeded, number) => `/runs/${one(seeded, number)}/projection/rebuild`
  },
  seal: { path: (seeded, number) => `/runs/${one(seeded, number)}/seal` },
  traces: { path: (seeded, number) => `/runs/${one(seeded, number)}/traces` },
  "tool runs_compare": tool("runs_compare", (seeded, number) => ({
    left: one(seeded, number),
    right: other(seeded, number)
  })),
  "tool decision_explain": tool("decision_explain", (seeded, number) => ({ runId: one(seeded, number) })),
  "tool stability": tool("stability", () => ({ q: "tags:large" }))
}
