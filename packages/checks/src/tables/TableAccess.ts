// Every table of the database has one owner, a folder of the control plane: only the owner writes it, and only the
// folders above read it. Imports show what a folder knows of another; this check shows the same for SQL. The tables of
// a feature are in its manifest (`features/*/*.feature.ts`), which `features.ts` lists; those of the core in the
// declaration of folders.
import { FOLDERS } from "../declaration/Folders.ts"
import { read, trackedFiles } from "../Repository.ts"

const SOURCES = "packages/control-plane/src/"

/** The declared folders of the control plane: what each knows and reads, and the tables that it owns. */
const RULES = FOLDERS["control-plane"] ?? {}

interface Exception {
  readonly folder: string
  readonly table: string
  readonly writes?: boolean
  readonly why: string
}

/** What stays until its port exists, or for good, each with its reason. `writes` allows a write, too. */
const EXCEPTIONS: ReadonlyArray<Exception> = [
  // An outbox in the transaction of what it reports.
  { folder: "platform", table: "webhooks", why: "the one INSERT of notifications joins the subscriptions" },
  { folder: "platform", table: "webhook_deliveries", writes: true, why: "the one INSERT of notifications" },
  { folder: "platform", table: "run_seals", why: "the backfill of the ledger" },
  { folder: "event-log", table: "run_participants", why: "the participants of listed runs" },
  // The tombstone of a run that files may have.
  { folder: "event-log", table: "archive_state", why: "deletion of runs that files may have" },
  // Columns of runs that a command or an observer owns.
  { folder: "features/ingest", table: "runs", writes: true, why: "the facts of a run that its spans change" },
  { folder: "observe", table: "sessions", writes: true, why: "the session that an observer binds" },
  { folder: "observe", table: "artifacts", writes: true, why: "the trace of a bound session" },
  { folder: "features/archive", table: "run_tombstones", writes: true, why: "a run that only files have is deleted" },
  { folder: "features/alerts", table: "webhooks", writes: true, why: "subscriptions that rules make" },
  { folder: "features/alerts", table: "webhook_deliveries", why: "a subscription with pending deliveries stays" },
  { folder: "queries", table: "otlp_seen", why: "the received spans of an export" }
]

interface Source {
  /** Within the sources of the control plane. */
  readonly path: string
  /** A folder of the core, or `features/<name>`. */
  readonly folder: string
  readonly text: string
}

const sources = (): ReadonlyArray<Source> =>
  trackedFiles()
    .filter((file) => file.startsWith(SOURCES) && file.endsWith(".ts"))
    .map((file) => {
      const path = file.slice(SOURCES.length)
      const [first = "", second] = path.split("/")
      return { path, folder: first === "features" ? `${first}/${second}` : first, text: read(file) }
    })

/** The owner of each table: a folder of the core, or `features/<name>`. */
const ownersOf = (files: ReadonlyArray<Source>): ReadonlyMap<string, string> => {
  const owners = new Map<string, string>()
  for (const [folder, { tables = [] }] of Object.entries(RULES)) for (const table of tables) owners.set(table, folder)
  for (const { folder, path, text } of files) {
    if (!path.endsWith(".feature.ts")) continue
    const [, list = ""] = /\btables: \[([^\]]*)\]/.exec(text) ?? []
    for (const [, table = ""] of list.matchAll(/"(\w+)"/g)) owners.set(table, folder)
  }
  return owners
}

const tablesOfMigrations = (): ReadonlyArray<string> =>
  trackedFiles()
    .filter((file) => /^migrations\/[^/]*\.sql$/.test(file))
    .flatMap((file) => [...read(file).matchAll(/^CREATE (?:UNLOGGED )?TABLE (\w+)/gm)])
    .map(([, table = ""]) => table)

/** An access of SQL to a table. */
interface Access {
  readonly table: string
  readonly isWrite: boolean
}

/**
 * The accesses of a text to these tables: those of SQL in its order, then the tables that `ListPage` and `LeasedRows`
 * receive by name.
 */
export const accessesOf = (text: string, tables: ReadonlySet<string>): ReadonlyArray<Access> => {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "")
  const found = [...code.matchAll(/\b(DELETE\s+FROM|FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?([a-z_]+)\b/g)]
  const listed = code.matchAll(/\b(from)(?:: | = )sql`([a-z_]+)\b/g)
  const leased = code.matchAll(/\bmakeLeasedRows<\w+>\(sql, \{\s*(table): "([a-z_]+)"/g)
  return [...found, ...listed, ...leased].flatMap(([, verb = "", table = ""]) =>
    tables.has(table) ? [{ table, isWrite: /^(?:DELETE|INTO|UPDATE|table)/.test(verb) }] : []
  )
}

const topOf = (folder: string) => folder.split("/")[0] ?? ""

/** Whether the declaration allows a folder to access a table of that owner: all to the owner, reads to those above. */
export const isAllowed = (folder: string, owner: string, isWrite: boolean): boolean => {
  if (folder === owner) return true
  const { knows = [], reads = [] } = RULES[topOf(folder)] ?? {}
  return !isWrite && [...knows, ...reads].includes(topOf(owner))
}

/** One text for each access against the order, each table without an owner, and each unused exception. */
export const tableFaults = (): ReadonlyArray<string> => {
  const files = sources()
  const owners = ownersOf(files)
  const owned = new Set(owners.keys())
  const tables = tablesOfMigrations()
  const accesses = files.flatMap((file) => accessesOf(file.text, owned).map((access) => ({ ...file, ...access })))
  const used = new Set<Exception>()
  const refused = accesses.flatMap(({ folder, isWrite, path, table }) => {
    const owner = owners.get(table) ?? ""
    if (isAllowed(folder, owner, isWrite)) return []
    const exception = EXCEPTIONS.find((each) => each.folder === folder && each.table === table)
    if (exception === undefined || (isWrite && exception.writes !== true)) {
      return [`${path} ${isWrite ? "writes" : "reads"} ${table}, which ${owner} owns`]
    }
    used.add(exception)
    return []
  })
  const unread = Object.entries(RULES).flatMap(([folder, { reads = [] }]) =>
    reads
      .filter((owner) => accesses.every((each) => topOf(each.folder) !== folder || owners.get(each.table) !== owner))
      .map((owner) => `${folder} does not read tables of ${owner} any more: remove it from the declaration`)
  )
  const list = read(`${SOURCES}features.ts`)
  return [
    ...tables.filter((table) => !owned.has(table)).map((table) => `the table ${table} has no owner`),
    ...[...owned].filter((table) => !tables.includes(table)).map((table) => `the table ${table} does not exist`),
    ...new Set(refused),
    ...unread,
    ...files
      .filter(({ path }) => path.endsWith(".feature.ts") && !list.includes(`"./${path}"`))
      .map(({ path }) => `features.ts does not list ${path}`),
    ...EXCEPTIONS.filter((each) => !used.has(each)).map(
      ({ folder, table }) => `the exception of ${folder} for ${table} is not needed any more`
    )
  ]
}
