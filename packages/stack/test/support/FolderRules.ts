import { posix } from "node:path"
import { importsOf, type PackageSources } from "./ImportRules.ts"

/** Where the tables stand: what fails says so. */
const TABLE = "packages/stack/test/support/FolderRules.ts"

export interface FolderRule {
  readonly meaning: string
  /** The folders, and files beside them, that it may import. */
  readonly knows: ReadonlyArray<string>
}

/** Leaves of the control plane that every other folder may know. */
const LEAVES = ["audit", "ledger", "database", "edge"]

/**
 * The order of knowledge inside a package, from the top to the bottom. A key is a folder of `src`, or a file that
 * stands beside the folders; files that are not named compose the package: they may know everything, and no folder may
 * import them.
 */
export const FOLDERS: Readonly<Record<string, Readonly<Record<string, FolderRule>>>> = {
  "control-plane": {
    http: {
      meaning: "composition of the handlers",
      knows: ["operate", "react", "read", "runs", "observe", "log", ...LEAVES]
    },
    operate: {
      meaning: "health, drift, retention, policies, batches, administration",
      knows: ["react", "read", "runs", "observe", "log", ...LEAVES]
    },
    react: { meaning: "what follows from a commit: webhooks, metrics, traces, tallies", knows: ["log", ...LEAVES] },
    read: {
      meaning: "stream, replay, export, comparison, dashboard, events across runs",
      knows: ["log", ...LEAVES]
    },
    runs: { meaning: "create, cancel, pause, claim, clone, delete", knows: ["observe", "log", ...LEAVES] },
    observe: { meaning: "one observer a run, the watches, which process observes what", knows: ["log", ...LEAVES] },
    log: { meaning: "append, fold, rows, live events, reads", knows: LEAVES },
    audit: { meaning: "who did what", knows: ["ledger", "database", "edge"] },
    ledger: { meaning: "the numbered chain of seals, tombstones and audit entries", knows: ["database", "edge"] },
    edge: { meaning: "what the handlers of all folders share", knows: ["database"] },
    database: { meaning: "the connection pool, migrations, what its failures mean", knows: [] }
  },
  console: {
    pages: { meaning: "one folder a page", knows: ["live", "ui", "client", "view"] },
    shell: { meaning: "what stands around every page", knows: ["ui", "client", "view"] },
    live: { meaning: "a run's events, as they come", knows: ["client", "view"] },
    ui: { meaning: "what pages are put together from", knows: ["client", "view"] },
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
    operate: { meaning: "readiness and metrics", knows: ["examples", "catalog", "LauncherSettings.ts", "common"] },
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
      meaning: "what the control plane is told: runs and the policies of the packs",
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
    faults: { meaning: "faults that tests ask for", knows: ["kernel", "core"] },
    kernel: { meaning: "sessions, policies and limits of one runtime", knows: ["core", "auth", "SandboxOptions.ts"] },
    core: { meaning: "what a session is, as pure code", knows: [] },
    auth: { meaning: "who a caller is", knows: [] },
    "SandboxOptions.ts": { meaning: "the options", knows: ["core"] }
  }
}

/**
 * Arrows of today that the tables do not allow, as `package: from > to`. One that no longer occurs has to go from here.
 */
export const FOLDER_EXCEPTIONS: ReadonlyArray<string> = []

/** Circles of files of today, each as `circlesOf` names it. One that no longer occurs has to go from here. */
export const CIRCLE_EXCEPTIONS: ReadonlyArray<string> = []

/** An import from one folder of a package into another that its table does not allow. */
export interface WrongArrow {
  /** `package: from > to` */
  readonly arrow: string
  /** The file, what it imports, and what would be allowed. */
  readonly problem: string
}

/** The imports between folders that the table of the package does not allow; nothing for a package without a table. */
export const wrongArrows = ({ files, name }: PackageSources): ReadonlyArray<WrongArrow> => {
  const rules = FOLDERS[name]
  if (rules === undefined) return []
  const unitOf = (path: string) => (path.includes("/") ? (path.split("/")[0] ?? "") : path)
  return [...fileGraph(files)].flatMap(([file, imported]) => {
    const from = unitOf(file)
    const rule = rules[from]
    // A file beside the folders that has no rule is part of the composition.
    if (rule === undefined && from === file) return []
    if (rule === undefined) {
      return [{ arrow: `${name}: ${from}`, problem: `packages/${name}/src/${from} has no rule (add it to ${TABLE})` }]
    }
    return imported
      .map((path) => ({ path, to: unitOf(path) }))
      .filter(({ to }) => to !== from && !rule.knows.includes(to))
      .map(({ path, to }) => ({
        arrow: `${name}: ${from} > ${to}`,
        problem:
          `packages/${name}/src/${file} imports ${path}: ${from} must not know ${to}; ` +
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
