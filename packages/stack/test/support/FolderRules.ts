import { posix } from "node:path"
import { importsOf, type PackageSources } from "./ImportRules.ts"

/** The file of the tables, for the messages of failures. */
const TABLE = "packages/stack/test/support/FolderRules.ts"

export interface FolderRule {
  readonly meaning: string
  /** The folders, and files beside them, that it may import. */
  readonly knows: ReadonlyArray<string>
}

/** Files beside the folders of the event log that each of them may know. */
const LOG = ["CommittedEvent.ts", "EventRepository.ts", "EventLogSettings.ts", "ProcessChannel.ts", "SessionOrder.ts"]

/** What the groups of the HTTP contract are made of. */
const CONTRACT = ["caller", "errors", "middleware", "openapi", "validation", "Version.ts"]

/** Files of the bench that its scenarios and programs share. */
const BENCH = [
  "BenchDatabase.ts",
  "Figures.ts",
  "FreshWorld.ts",
  "Measurement.ts",
  "Plan.ts",
  "Report.ts",
  "Statistics.ts"
]

/** What every folder of the domain may know. */
const BASE = ["run", "frames", "values"]

/**
 * The order of knowledge inside a package, or inside a folder of one, from the top to the bottom. A key is a folder, or
 * a file that stands beside the folders; files that are not named compose what the table is of: they may know
 * everything, and no folder may import them.
 */
export const FOLDERS: Readonly<Record<string, Readonly<Record<string, FolderRule>>>> = {
  "control-plane": {
    http: {
      meaning: "composition of the handlers",
      knows: [
        "admin",
        "features",
        "streams",
        "queries",
        "runs",
        "marks",
        "reactors",
        "observe",
        "event-log",
        "platform"
      ]
    },
    admin: {
      meaning: "health, drift, retention, policies, batches, audit",
      knows: ["features", "streams", "queries", "runs", "marks", "reactors", "observe", "event-log", "platform"]
    },
    features: {
      meaning: "one folder a feature: alerts, archive, ingest, MCP, receipts, webhooks",
      knows: ["Feature.ts", "queries", "runs", "marks", "observe", "event-log", "platform"]
    },
    streams: {
      meaning: "the event streams of a run, of the log and of a replay",
      knows: ["queries", "event-log", "platform"]
    },
    queries: { meaning: "one folder a page of the API that reads", knows: ["marks", "event-log", "platform"] },
    marks: { meaning: "judgements beside the log, and their chain", knows: ["event-log", "platform"] },
    runs: {
      meaning: "the commands: create, cancel, pause, claim, clone, delete",
      knows: ["observe", "event-log", "platform"]
    },
    reactors: { meaning: "effects of a commit: metrics, traces, tallies", knows: ["event-log", "platform"] },
    observe: { meaning: "one observer a run, the watches, the placement of runs", knows: ["event-log", "platform"] },
    "Feature.ts": { meaning: "what a feature adds to the core, and by which ports", knows: ["event-log"] },
    "event-log": { meaning: "append, project, subscribe, seal, read", knows: ["platform"] },
    platform: { meaning: "the database, the HTTP edge, the audit trail", knows: [] }
  },
  "control-plane/src/features": {
    alerts: { meaning: "rules over the log: evaluation, firings, commands", knows: [] },
    archive: { meaning: "files of the log, and the runs that only they have", knows: [] },
    ingest: { meaning: "spans and log records of OpenTelemetry: the inbox, and the drain into runs", knows: [] },
    mcp: { meaning: "the MCP endpoint: its tools call the service in the process", knows: [] },
    receipts: { meaning: "receipts of decisions: read from the runtime, checked, recorded", knows: [] },
    webhooks: { meaning: "subscriptions, and the delivery of the outbox", knows: [] }
  },
  "control-plane/src/event-log": {
    append: {
      meaning: "one transaction a group of appends",
      knows: ["projection", "runs", "seal", "subscribe", ...LOG]
    },
    projection: { meaning: "checkpoints, cache, replay", knows: LOG },
    runs: { meaning: "the rows of runs", knows: ["subscribe", "projection", ...LOG] },
    seal: { meaning: "hash chain, seals, keys", knows: LOG },
    subscribe: { meaning: "live events of this process, notices between processes", knows: LOG },
    "CommittedEvent.ts": { meaning: "an event as it is stored and served", knows: [] },
    "EventRepository.ts": { meaning: "reads of events", knows: ["CommittedEvent.ts"] },
    "EventLogSettings.ts": { meaning: "the settings", knows: [] },
    "ProcessChannel.ts": { meaning: "messages between processes", knows: [] },
    "SessionOrder.ts": { meaning: "the order of runs with one session id", knows: [] }
  },
  "control-plane/src/observe": {
    sessions: {
      meaning: "what the runtime has: the directory, early subscriptions, idle checks",
      knows: ["decide", "ObservedRuns.ts", "ObserverSettings.ts", "SessionIds.ts"]
    },
    placement: { meaning: "the shards of this process", knows: ["ObserverSettings.ts"] },
    decide: { meaning: "what an observer does next, as pure code", knows: ["ObserverSettings.ts"] },
    "ObservedRuns.ts": { meaning: "the rows of observed runs", knows: ["decide", "SessionIds.ts"] },
    "ObserverSettings.ts": { meaning: "the settings", knows: [] },
    "SessionIds.ts": { meaning: "session ids that a run can have", knows: [] }
  },
  "control-plane/src/queries": {
    marks: { meaning: "marks of all runs, agreement, records of agents", knows: ["decisions"] },
    insights: { meaning: "exports, comparison, rebuild", knows: ["decisions"] },
    pricing: { meaning: "prices of models, and models without one", knows: [] },
    query: { meaning: "the query language over runs and events", knows: ["events"] },
    dashboard: { meaning: "the overview", knows: [] },
    decisions: { meaning: "forecast, why, divergence, what-if, backtest", knows: [] },
    events: { meaning: "events of a run and across runs", knows: [] },
    seals: { meaning: "seals and tombstones", knows: [] },
    views: { meaning: "saved searches", knows: [] }
  },
  console: {
    pages: { meaning: "one folder a page", knows: ["live", "ui", "client", "view"] },
    shell: { meaning: "the frame of every page", knows: ["ui", "client", "view"] },
    live: { meaning: "a run's events, live", knows: ["client", "view"] },
    ui: { meaning: "the parts of pages", knows: ["client", "view"] },
    client: { meaning: "calls, the session, the connection", knows: ["view"] },
    view: { meaning: "what a page shows, as pure functions", knows: [] }
  },
  launcher: {
    author: {
      meaning: "the commands for authors of packs",
      knows: ["http", "agents", "compile", "catalog", "LauncherSettings.ts", "common"]
    },
    http: {
      meaning: "handlers and answers",
      knows: ["operate", "examples", "compile", "catalog", "LauncherSettings.ts", "common"]
    },
    operate: {
      meaning: "readiness and metrics",
      knows: ["examples", "control-plane", "catalog", "LauncherSettings.ts", "common"]
    },
    examples: {
      meaning: "the example flow: compile, start the agents, submit the run",
      knows: ["agents", "compile", "control-plane", "catalog", "LauncherSettings.ts", "common"]
    },
    agents: { meaning: "the agents of example runs", knows: ["LauncherSettings.ts", "common"] },
    compile: {
      meaning: "a scenario and its inputs become a run descriptor",
      knows: ["catalog", "LauncherSettings.ts", "common"]
    },
    "control-plane": {
      meaning: "calls of the control plane: runs and the policies of the packs",
      knows: ["catalog", "LauncherSettings.ts", "common"]
    },
    catalog: { meaning: "packs, read and checked", knows: ["LauncherSettings.ts", "common"] },
    "LauncherSettings.ts": { meaning: "the settings", knows: ["common"] },
    common: { meaning: "why a launch is refused, and reading of JSON values", knows: [] }
  },
  sandbox: {
    control: { meaning: "the control port of tests", knows: ["Sandbox.ts", "faults"] },
    recorded: { meaning: "replay of recorded sessions", knows: ["kernel", "core"] },
    server: {
      meaning: "the wire contract over gRPC",
      knows: ["faults", "kernel", "core", "auth", "SandboxOptions.ts"]
    },
    faults: { meaning: "faults that tests inject", knows: ["kernel", "core"] },
    kernel: { meaning: "sessions, policies and limits of one runtime", knows: ["core", "auth", "SandboxOptions.ts"] },
    core: { meaning: "what a session is, as pure code", knows: [] },
    auth: { meaning: "the identity of a caller", knows: [] },
    "SandboxOptions.ts": { meaning: "the options", knows: ["core"] }
  },
  agents: {
    examples: { meaning: "the example agents", knows: ["client"] },
    client: { meaning: "the small client that they share", knows: [] }
  },
  api: {
    promise: { meaning: "the typed client with promises", knows: ["client"] },
    client: { meaning: "the typed clients and the event streams", knows: ["control-plane", "launcher"] },
    "control-plane": { meaning: "the groups of the control plane", knows: ["service", ...CONTRACT] },
    launcher: { meaning: "the groups of the launch service", knows: ["service", ...CONTRACT] },
    service: { meaning: "endpoints that both services have", knows: CONTRACT },
    openapi: { meaning: "what the document says of an endpoint", knows: ["caller"] },
    middleware: { meaning: "checks in front of endpoints", knows: ["errors", "caller"] },
    errors: { meaning: "the errors and the failures of endpoints", knows: ["caller"] },
    validation: { meaning: "rules of parameters, queries and bodies", knows: [] },
    caller: { meaning: "roles and access", knows: [] },
    "Version.ts": { meaning: "the version", knows: [] }
  },
  bench: {
    cells: { meaning: "a simulated day of several cells", knows: ["Statistics.ts"] },
    ingest: {
      meaning: "load of spans beside observed runs",
      knows: ["scenarios", "client", "reads", "service", "runtime", "process", ...BENCH]
    },
    scenarios: {
      meaning: "one scenario a file",
      knows: ["client", "reads", "service", "runtime", "process", ...BENCH]
    },
    client: {
      meaning: "clients under measurement",
      knows: ["reads", "service", "runtime", "process", "Statistics.ts"]
    },
    reads: { meaning: "load of reads over a large database", knows: ["service", "runtime", "process", ...BENCH] },
    service: {
      meaning: "the control plane as a process",
      knows: ["runtime", "process", "BenchDatabase.ts"]
    },
    runtime: { meaning: "the runtime as a process", knows: ["process"] },
    process: { meaning: "child processes and their CPU time", knows: [] }
  },
  mcp: {
    tools: {
      meaning: "one file a subject",
      knows: ["ToolSpec.ts", "Backend.ts", "Events.ts", "SealCheck.ts", "Shape.ts", "Facts.ts"]
    },
    "ToolSpec.ts": { meaning: "what a tool is", knows: ["Backend.ts", "Shape.ts", "Facts.ts"] },
    "Events.ts": { meaning: "events in short", knows: ["Shape.ts", "Facts.ts"] },
    "Backend.ts": { meaning: "what the tools call", knows: ["Subscriptions.ts"] },
    "Subscriptions.ts": { meaning: "followed runs", knows: [] },
    "SealCheck.ts": { meaning: "signatures of seals", knows: [] },
    "Shape.ts": { meaning: "the bounds of answers, as pure code", knows: ["Facts.ts"] },
    "Facts.ts": { meaning: "facts, and aliases of texts of others", knows: ["Identifier.ts"] },
    "Identifier.ts": { meaning: "what is an identifier", knows: [] }
  },
  cli: {
    commands: {
      meaning: "one command a file",
      knows: [
        "gate",
        "query",
        "narrative",
        "CliFailure.ts",
        "Connection.ts",
        "FileText.ts",
        "JsonText.ts",
        "Output.ts",
        "Table.ts",
        "Unreachable.ts"
      ]
    },
    query: {
      meaning: "SQL over the files of an archive",
      knows: ["narrative", "CliFailure.ts", "JsonText.ts", "Output.ts", "TextWidth.ts"]
    },
    gate: { meaning: "the runs of a gate and its reports", knows: ["narrative", "CliFailure.ts", "FileText.ts"] },
    narrative: { meaning: "events as lines of text", knows: ["TextWidth.ts"] }
  },
  domain: {
    "ag-ui": {
      meaning: "a run as events of AG-UI",
      knows: ["narrative", "normaliser", "projector", "events", ...BASE]
    },
    narrative: { meaning: "a run as lines of text", knows: ["otlp", "events", ...BASE] },
    alerts: {
      meaning: "rules, windows, evaluation and formats of alerts",
      knows: ["gate", "marks", "insight", "policies", "query", "events", ...BASE]
    },
    seal: { meaning: "hash chain and proofs", knows: ["marks", "projector", "events", "receipts", ...BASE] },
    archive: { meaning: "columns, files and ranges of the archive", knows: ["events", ...BASE] },
    gate: {
      meaning: "stability of decisions, verdicts of a gate",
      knows: ["marks", "insight", "statistics", "events", ...BASE]
    },
    otlp: {
      meaning: "spans of OpenTelemetry become canonical events",
      knows: ["marks", "projector", "events", "redaction", "usage", "pricing", ...BASE]
    },
    marks: {
      meaning: "judgements, their agreement, the record of an agent",
      knows: ["insight", "policies", "events", "statistics", ...BASE]
    },
    insight: {
      meaning: "forecast, what-if, divergence",
      knows: ["projector", "policies", "events", "receipts", ...BASE]
    },
    projector: { meaning: "the fold of a run: state, metrics, usage", knows: ["events", "receipts", ...BASE] },
    normaliser: {
      meaning: "frames become canonical events",
      knows: ["events", "receipts", "redaction", "usage", "pricing", ...BASE]
    },
    events: { meaning: "the typed events", knows: ["receipts", ...BASE] },
    redaction: { meaning: "patterns of redaction, and the texts that they search", knows: ["usage", ...BASE] },
    usage: { meaning: "token usage in payloads", knows: ["pricing", ...BASE] },
    receipts: { meaning: "hashes of commitments, receipts of runtimes", knows: BASE },
    pricing: { meaning: "prices of model calls", knows: BASE },
    policies: { meaning: "policy rules and their evaluation", knows: BASE },
    statistics: { meaning: "intervals, tests, resamples, agreement, calibration", knows: ["values"] },
    query: { meaning: "the search language", knows: BASE },
    run: { meaning: "descriptor, status, participants, denials, outcome", knows: ["frames", "values"] },
    frames: { meaning: "what a runtime sends", knows: ["values"] },
    values: { meaning: "JSON, texts, ids, money, digests", knows: [] }
  },
  runtime: {
    testing: {
      meaning: "the runtime in memory",
      knows: ["RuntimeCatalog.ts", "RuntimeClient.ts", "RuntimeClientShape.ts", "RuntimeError.ts", "SessionListing.ts"]
    }
  },
  server: {
    metrics: { meaning: "metrics that both services have", knows: ["http", "traces", "loops"] },
    http: {
      meaning: "keys, roles, limits, refusals, listening",
      knows: ["oidc", "traces", "loops", "settings", "OutageLog.ts"]
    },
    oidc: { meaning: "tokens of an issuer", knows: ["settings", "OutageLog.ts"] },
    traces: { meaning: "spans and their export", knows: ["settings", "OutageLog.ts"] },
    settings: { meaning: "the table of all settings", knows: [] },
    loops: { meaning: "background loops: repeat, count, report", knows: [] },
    "OutageLog.ts": { meaning: "one log line for each outage", knows: [] }
  },
  stack: {
    runplane: { meaning: "the `runplane` command", knows: ["CommandLine.ts", "ExitDeadline.ts", "Program.ts"] },
    demo: { meaning: "the demo run", knows: ["Stack.ts"] },
    auth: { meaning: "the auth service of a developer's machine", knows: [] }
  }
}

/**
 * Arrows of today that the tables do not allow, as `package: from > to`. One that no longer occurs has to go from here.
 */
export const FOLDER_EXCEPTIONS: ReadonlyArray<string> = [
  // A rule makes the subscription of its own action.
  "control-plane/src/features: alerts > webhooks"
]

/** Circles of files of today, each as `circlesOf` names it. One that no longer occurs has to go from here. */
export const CIRCLE_EXCEPTIONS: ReadonlyArray<string> = []

/** An import from one folder of a package into another that its table does not allow. */
export interface WrongArrow {
  /** `package: from > to` */
  readonly arrow: string
  /** The file, what it imports, and what would be allowed. */
  readonly problem: string
}

/** The imports between folders that the tables of the package do not allow; nothing for a package without a table. */
export const wrongArrows = ({ files, name }: PackageSources): ReadonlyArray<WrongArrow> => {
  const graph = fileGraph(files)
  return Object.entries(FOLDERS).flatMap(([table, rules]) => {
    if (table === name) return wrongArrowsOf(name, "", graph, rules)
    const inside = `${name}/src/`
    return table.startsWith(inside) ? wrongArrowsOf(table, `${table.slice(inside.length)}/`, graph, rules) : []
  })
}

/** The wrong arrows inside one folder, `src` itself when `prefix` is empty. */
const wrongArrowsOf = (
  name: string,
  prefix: string,
  graph: ReadonlyMap<string, ReadonlyArray<string>>,
  rules: Readonly<Record<string, FolderRule>>
): ReadonlyArray<WrongArrow> => {
  const root = prefix === "" ? `packages/${name}/src` : `packages/${name}`
  const inside = (path: string) => path.startsWith(prefix)
  const within = (path: string) => path.slice(prefix.length)
  const unitOf = (path: string) => (path.includes("/") ? (path.split("/")[0] ?? "") : path)
  return [...graph]
    .filter(([path]) => inside(path))
    .flatMap(([path, targets]) => {
      const file = within(path)
      const from = unitOf(file)
      const rule = rules[from]
      // A file beside the folders that has no rule is part of the composition.
      if (rule === undefined && from === file) return []
      if (rule === undefined) {
        return [{ arrow: `${name}: ${from}`, problem: `${root}/${from} has no rule (add it to ${TABLE})` }]
      }
      return targets
        .filter(inside)
        .map((target) => ({ path: within(target), to: unitOf(within(target)) }))
        .filter(({ to }) => to !== from && !rule.knows.includes(to))
        .map(({ path: target, to }) => ({
          arrow: `${name}: ${from} > ${to}`,
          problem:
            `${root}/${file} imports ${target}: ${from} must not know ${to}; ` +
            `it may know ${rule.knows.length === 0 ? "nothing" : rule.knows.join(", ")} (${TABLE})`
        }))
    })
}

/**
 * The sets of source files that import each other in a circle, types included; one line each, files in alphabetical
 * order.
 */
export const circlesOf = ({ files, name }: PackageSources): ReadonlyArray<string> =>
  components(fileGraph(files))
    .filter((members) => members.length > 1)
    .map((members) => `packages/${name}/src: ${members.toSorted().join(", ")}`)

/** Every source file with those it imports by a relative path, as paths within `src`. */
const fileGraph = (files: PackageSources["files"]): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    files
      .filter(({ path }) => path.startsWith("src/"))
      .map(({ path, text }) => [
        path.slice("src/".length),
        importsOf(text)
          .filter((specifier) => specifier.startsWith("."))
          .map((specifier) => posix.join(posix.dirname(path), specifier).slice("src/".length))
      ])
  )

/** The strongly connected components of a graph (Tarjan). */
const components = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> => {
  const order = new Map<string, number>()
  const open: Array<string> = []
  const found: Array<ReadonlyArray<string>> = []
  const visit = (node: string): number => {
    const own = order.size
    order.set(node, own)
    open.push(node)
    let low = own
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? own)
    }
    if (low === own) found.push(open.splice(open.indexOf(node)))
    return low
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return found
}
