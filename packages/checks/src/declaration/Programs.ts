import type { FolderTables } from "./Rules.ts"

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

/** What a rule knows that reads files. */
const REPOSITORY = ["Repository.ts"]

export const programs: FolderTables = {
  launcher: {
    author: {
      meaning: "the commands for authors of packs",
      knows: ["http", "agents", "compile", "catalog", "LauncherSettings.ts", "common"]
    },
    http: {
      meaning: "handlers and answers",
      knows: [
        ...["operate", "slack", "tasks", "people", "examples", "compile", "control-plane", "catalog"],
        ...["LauncherSettings.ts", "common"]
      ]
    },
    operate: {
      meaning: "readiness and metrics",
      knows: ["tasks", "examples", "people", "control-plane", "catalog", "LauncherSettings.ts", "common"]
    },
    slack: {
      meaning: "questions as messages in Slack: their texts, their rows, calls of Slack",
      knows: ["people", "catalog", "LauncherSettings.ts", "common"]
    },
    tasks: {
      meaning: "scenarios as tasks of agents that speak A2A: their rows, their launches, their streams",
      knows: ["examples", "people", "compile", "catalog", "LauncherSettings.ts", "common"]
    },
    examples: {
      meaning: "the example flow: compile, start the agents, submit the run",
      knows: ["people", "shadows", "agents", "compile", "control-plane", "catalog", "LauncherSettings.ts", "common"]
    },
    shadows: {
      meaning: "agents that are tried beside a seat, each with a server of its own",
      knows: ["agents", "control-plane", "LauncherSettings.ts", "common"]
    },
    people: {
      meaning: "seats of people: their rows, the fiber of each, answers",
      knows: ["control-plane", "agents", "remote", "catalog", "LauncherSettings.ts", "common"]
    },
    agents: { meaning: "the agents of example runs", knows: ["remote", "LauncherSettings.ts", "common"] },
    compile: {
      meaning: "a scenario and its inputs become a run descriptor",
      knows: ["remote", "catalog", "LauncherSettings.ts", "common"]
    },
    remote: {
      meaning: "agents that speak A2A: their manifests, their cards, calls of them",
      knows: ["LauncherSettings.ts", "common"]
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
    shadow: {
      meaning: "a session of another runtime as one agent beside it is shown it",
      knows: ["server", "faults", "kernel", "core", "auth", "SandboxOptions.ts"]
    },
    server: {
      meaning: "the wire contract over gRPC",
      knows: ["faults", "kernel", "core", "auth", "SandboxOptions.ts"]
    },
    faults: { meaning: "faults that tests inject", knows: ["kernel", "core"] },
    kernel: { meaning: "sessions, policies and limits of one runtime", knows: ["core", "auth", "SandboxOptions.ts"] },
    core: { meaning: "the rules of a session and of each mode, as pure code", knows: [] },
    auth: { meaning: "the identity of a caller", knows: [] },
    "SandboxOptions.ts": { meaning: "the options", knows: ["core"] }
  },
  agents: {
    examples: { meaning: "the example agents", knows: ["client"] },
    client: { meaning: "the small client that they share", knows: [] }
  },
  runtime: {
    testing: {
      meaning: "the runtime in memory",
      knows: ["RuntimeCatalog.ts", "RuntimeClient.ts", "RuntimeClientShape.ts", "RuntimeError.ts", "SessionListing.ts"]
    }
  },
  server: {
    console: {
      meaning: "the files of the built web console, and answers with them",
      knows: ["http", "ProjectFolder.ts"]
    },
    metrics: { meaning: "metrics that both services have", knows: ["http", "traces", "loops"] },
    http: {
      meaning: "keys, roles, limits, refusals, listening",
      knows: ["oidc", "traces", "loops", "settings", "OutageLog.ts"]
    },
    oidc: { meaning: "tokens of an issuer", knows: ["settings", "OutageLog.ts"] },
    traces: { meaning: "spans and their export", knows: ["settings", "OutageLog.ts"] },
    settings: { meaning: "the table of all settings", knows: [] },
    loops: { meaning: "background loops: repeat, count, report", knows: [] },
    "OutageLog.ts": { meaning: "one log line for each outage", knows: [] },
    "ProjectFolder.ts": { meaning: "the folder that the program was installed in", knows: [] }
  },
  stack: {
    runplane: { meaning: "the `runplane` command", knows: ["CommandLine.ts", "ExitDeadline.ts", "Program.ts"] },
    demo: { meaning: "the demo run", knows: ["Stack.ts"] },
    auth: { meaning: "the auth service of a developer's machine", knows: [] }
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
  checks: {
    imports: { meaning: "imports of packages and folders, circles, errors", knows: ["declaration", "Workspace.ts"] },
    tables: {
      meaning: "the owner of each table, and the SQL that reads and writes it",
      knows: ["declaration", ...REPOSITORY]
    },
    documents: {
      meaning: "citations, links, width of prose; the lists of folders",
      knows: ["declaration", ...REPOSITORY]
    },
    words: { meaning: "sentences and names that are not plain", knows: REPOSITORY },
    sizes: { meaning: "lines of files and generators, files of folders, shared names", knows: REPOSITORY },
    loops: { meaning: "work that repeats without `forever`", knows: REPOSITORY },
    migrations: { meaning: "numbers, hashes and triggers of the migrations", knows: ["declaration", ...REPOSITORY] },
    declaration: { meaning: "the packages and their folders: order, meaning, tables", knows: [] },
    "Workspace.ts": { meaning: "the packages with their files", knows: REPOSITORY },
    "Repository.ts": { meaning: "the files of the checkout", knows: [] }
  }
}
