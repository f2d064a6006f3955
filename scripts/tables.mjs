// Every table of the database has one owner, a folder of the control plane: only the owner writes it, and only the
// folders above read it. Imports show what a folder knows of another; this check shows the same for SQL. The tables of
// a feature are in its manifest (`features/*/*.feature.ts`), which `features.ts` lists; those of the core in OWNERS.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const sources = join(root, "packages/control-plane/src")

/** The folders from the bottom to the top. Those of one line do not read each other's tables. */
const HEIGHTS = [
  ["platform"],
  ["event-log"],
  ["observe", "reactors"],
  ["runs", "marks"],
  ["queries"],
  ["streams"],
  ["features"],
  ["admin"],
  ["http"]
]

const OWNERS = {
  platform: ["audit_log", "ledger", "ledger_pending"],
  "event-log": [
    ...["artifacts", "canonical_events", "deleted_sessions", "outbound_messages", "projections"],
    ...["raw_events", "run_heads", "run_metrics", "run_seals", "run_tombstones", "run_totals", "runs", "seal_keys"],
    ...["seal_key_statements", "sessions"]
  ],
  observe: ["late_cancels"],
  reactors: [
    ...["key_event_tallies", "key_events", "removed_key_events", "run_labels", "run_participants", "run_tallies"],
    ...["tallied_key_events", "tallied_runs", "tally_changes"]
  ],
  runs: ["alert_reservations"],
  marks: ["mark_chains", "mark_definitions", "marks"],
  queries: ["event_blocks", "views"],
  streams: ["stream_tickets"],
  admin: ["processes", "request_budgets"]
}

/** What stays until its port exists, or for good, each with its reason. `writes` allows a write, too. */
const EXCEPTIONS = [
  // An outbox in the transaction of what it reports.
  { folder: "platform", table: "webhooks", why: "the one INSERT of notifications joins the subscriptions" },
  { folder: "platform", table: "webhook_deliveries", writes: true, why: "the one INSERT of notifications" },
  { folder: "platform", table: "run_seals", why: "the backfill of the ledger" },
  // The tombstone of a run that files may have.
  { folder: "event-log", table: "archive_state", why: "deletion of runs that files may have" },
  // Searches of runs: to become search fields of their owners.
  { folder: "event-log", table: "marks", why: "searches of runs by marks" },
  { folder: "event-log", table: "mark_definitions", why: "searches of runs by marks" },
  { folder: "event-log", table: "run_labels", why: "the list of runs by scenario" },
  { folder: "event-log", table: "run_participants", why: "searches of runs by participant" },
  { folder: "event-log", table: "key_events", why: "searches of runs by their events" },
  { folder: "event-log", table: "tallied_runs", why: "the total of a list" },
  { folder: "event-log", table: "tally_changes", why: "the total of a list" },
  // Admission by budgets: to become a port that the alerts fill.
  { folder: "runs", table: "alert_counters", why: "admission by budgets" },
  { folder: "runs", table: "alert_cursor", why: "admission by budgets" },
  { folder: "runs", table: "alert_rules", why: "admission by budgets" },
  // Retention: to become expiries of their owners.
  { folder: "admin", table: "alert_firings", writes: true, why: "retention" },
  { folder: "admin", table: "audit_log", writes: true, why: "retention" },
  { folder: "admin", table: "webhook_deliveries", writes: true, why: "retention" },
  // Columns of runs that a command or an observer owns.
  { folder: "runs", table: "runs", writes: true, why: "tags and archival of a run, which have no event" },
  { folder: "features/ingest", table: "runs", writes: true, why: "the facts of a run that its spans change" },
  { folder: "observe", table: "sessions", writes: true, why: "the session that an observer binds" },
  { folder: "observe", table: "artifacts", writes: true, why: "the trace of a bound session" },
  { folder: "features/archive", table: "run_tombstones", writes: true, why: "a run that only files have is deleted" },
  { folder: "features/alerts", table: "webhooks", writes: true, why: "subscriptions that rules make" },
  { folder: "features/alerts", table: "webhook_deliveries", why: "a subscription with pending deliveries stays" },
  { folder: "queries", table: "otlp_seen", why: "the received spans of an export" }
]

const filesOf = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesOf(path) : entry.name.endsWith(".ts") ? [path] : []
  })

/** The owner of each table: a folder of the core, or `features/<name>`. */
const ownersOf = (files) => {
  const owners = new Map(Object.entries(OWNERS).flatMap(([folder, tables]) => tables.map((table) => [table, folder])))
  for (const { folder, path, text } of files) {
    if (!path.endsWith(".feature.ts")) continue
    const [, list = ""] = /\btables: \[([^\]]*)\]/.exec(text) ?? []
    for (const [, table] of list.matchAll(/"(\w+)"/g)) owners.set(table, folder)
  }
  return owners
}

const tablesOfMigrations = () =>
  readdirSync(join(root, "migrations"))
    .filter((file) => file.endsWith(".sql"))
    .flatMap((file) => [
      ...readFileSync(join(root, "migrations", file), "utf8").matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)
    ])
    .map(([, table]) => table)

/** The accesses of a text: a table, and whether it is written. `ListPage` and `LeasedRows` get the name of theirs. */
export const accessesOf = (text, tables) => {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "")
  const found = [...code.matchAll(/\b(DELETE\s+FROM|FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?([a-z_]+)\b/g)]
  const listed = code.matchAll(/\b(from)(?:: | = )sql`([a-z_]+)\b/g)
  const leased = code.matchAll(/\bmakeLeasedRows<\w+>\(sql, \{\s*(table): "([a-z_]+)"/g)
  return [...found, ...listed, ...leased]
    .filter(([, , table]) => tables.has(table))
    .map(([, verb, table]) => ({ table, isWrite: /^(?:DELETE|INTO|UPDATE|table)/.test(verb) }))
}

const heightOf = (folder) => HEIGHTS.findIndex((folders) => folders.includes(folder.split("/")[0]))

export const isAllowed = (folder, owner, isWrite) =>
  folder === owner || (!isWrite && heightOf(folder) > heightOf(owner) && heightOf(owner) !== -1)

/** One text for each access against the order, each table without an owner, and each unused exception. */
export const tableFaults = () => {
  const files = filesOf(sources).map((file) => {
    const path = relative(sources, file).replaceAll("\\", "/")
    const [first, second] = path.split("/")
    return { path, folder: first === "features" ? `${first}/${second}` : first, text: readFileSync(file, "utf8") }
  })
  const owners = ownersOf(files)
  const tables = tablesOfMigrations()
  const used = new Set()
  const faults = tables.filter((table) => !owners.has(table)).map((table) => `the table ${table} has no owner`)
  for (const table of owners.keys()) if (!tables.includes(table)) faults.push(`the table ${table} does not exist`)
  for (const { folder, path, text } of files) {
    for (const { isWrite, table } of accessesOf(text, owners)) {
      const owner = owners.get(table)
      if (isAllowed(folder, owner, isWrite)) continue
      const exception = EXCEPTIONS.find((each) => each.folder === folder && each.table === table)
      if (exception !== undefined && (!isWrite || exception.writes === true)) used.add(exception)
      else faults.push(`${path} ${isWrite ? "writes" : "reads"} ${table}, which ${owner} owns`)
    }
  }
  const list = readFileSync(join(sources, "features.ts"), "utf8")
  for (const { path } of files) {
    if (path.endsWith(".feature.ts") && !list.includes(`"./${path}"`)) faults.push(`features.ts does not list ${path}`)
  }
  const unused = EXCEPTIONS.filter((each) => !used.has(each))
  return [
    ...new Set(faults),
    ...unused.map(
      ({ folder, table }) => `scripts/tables.mjs: the exception of ${folder} for ${table} is not needed any more`
    )
  ]
}
