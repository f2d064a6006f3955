/**
 * The type of a column of the archive: `text` UTF-8, `int` 32 bits, `long` 64 bits (a safe integer here), `number`
 * double, `flag` boolean, `time` milliseconds since 1970 (UTC), `texts` a list of texts.
 */
export type ArchiveType = "text" | "int" | "long" | "number" | "flag" | "time" | "texts"

export interface ArchiveColumn {
  readonly type: ArchiveType
  /** Whether a row may have null. */
  readonly isOptional: boolean
}

export type ArchiveColumns = Readonly<Record<string, ArchiveColumn>>

interface Values {
  readonly text: string
  readonly int: number
  readonly long: number
  readonly number: number
  readonly flag: boolean
  readonly time: number
  readonly texts: ReadonlyArray<string>
}

/** A row of a table with these columns. */
export type RowOf<Columns extends ArchiveColumns> = {
  readonly [Name in keyof Columns]: Columns[Name]["isOptional"] extends true
    ? Values[Columns[Name]["type"]] | null
    : Values[Columns[Name]["type"]]
}

const column = <Type extends ArchiveType>(type: Type) => ({ type, isOptional: false }) as const
const optional = <Type extends ArchiveType>(type: Type) => ({ type, isOptional: true }) as const

/** An event of the log; never changed once it is written (docs/reference/archive.md#events). */
export const coldEvents = {
  cell: column("text"),
  seq: column("long"),
  run_id: column("text"),
  index: column("int"),
  ts: column("time"),
  type: column("text"),
  subject_kind: optional("text"),
  subject_id: optional("text"),
  source_kind: optional("text"),
  source_name: optional("text"),
  sender: optional("text"),
  model: optional("text"),
  provider: optional("text"),
  calls: optional("int"),
  prompt_tokens: optional("number"),
  completion_tokens: optional("number"),
  total_tokens: optional("number"),
  cost_usd: optional("number"),
  cost_basis: optional("text"),
  latency_ms: optional("number"),
  action: optional("text"),
  positive: optional("flag"),
  event: column("text"),
  salts: optional("text")
} as const
export type ColdEvent = RowOf<typeof coldEvents>

/** A version of an ended run; the highest `version` of a run counts (docs/reference/archive.md#runs). */
export const coldRuns = {
  cell: column("text"),
  version: column("long"),
  run_id: column("text"),
  status: column("text"),
  mode: column("text"),
  mode_name: column("text"),
  runtime_kind: column("text"),
  runtime_version: optional("text"),
  session_id: column("text"),
  trace_id: column("text"),
  source_kind: optional("text"),
  source_ref: optional("text"),
  scenario_ref: optional("text"),
  environment: optional("text"),
  policy_version: optional("text"),
  tags: column("texts"),
  error_code: optional("text"),
  error_message: optional("text"),
  created_at: column("time"),
  updated_at: column("time"),
  started_at: optional("time"),
  ended_at: optional("time"),
  archived_at: optional("time"),
  duration_ms: optional("number"),
  first_seq: column("long"),
  last_seq: column("long"),
  events: column("int"),
  history_gap: column("flag"),
  declined: column("flag"),
  intent: optional("text"),
  prompt_tokens: column("number"),
  completion_tokens: column("number"),
  total_tokens: column("number"),
  cost_usd: column("number"),
  guessed_cost_usd: column("number"),
  signals: column("int"),
  decisions: column("int"),
  run: column("text"),
  metrics: optional("text"),
  seal: optional("text"),
  erasures: optional("text")
} as const
export type ColdRun = RowOf<typeof coldRuns>

/** A version of a mark; the highest `version` of a mark counts (docs/reference/archive.md#marks). */
export const coldMarks = {
  cell: column("text"),
  version: column("long"),
  mark_id: column("text"),
  run_id: column("text"),
  position: column("int"),
  target_kind: column("text"),
  target_id: optional("text"),
  index: optional("int"),
  name: column("text"),
  number: optional("number"),
  flag: optional("flag"),
  category: optional("text"),
  comment: optional("text"),
  source: column("text"),
  judge_name: optional("text"),
  judge_model: optional("text"),
  judge_prompt_hash: optional("text"),
  author: column("text"),
  author_name: optional("text"),
  created_at: column("time"),
  replaced_by: optional("text"),
  deleted_at: optional("time"),
  deleted_by: optional("text"),
  content_sha256: column("text")
} as const
export type ColdMark = RowOf<typeof coldMarks>

/** A run that a caller deleted: readers leave out its rows (docs/reference/archive.md#tombstones). */
export const coldTombstones = {
  cell: column("text"),
  version: column("long"),
  run_id: column("text"),
  status: column("text"),
  events: column("int"),
  deleted_at: column("time"),
  deleted_by: column("text"),
  seal: optional("text")
} as const
export type ColdTombstone = RowOf<typeof coldTombstones>

/** The tables of an archive; each is a directory of it. */
export const archiveTables = {
  events: coldEvents,
  runs: coldRuns,
  marks: coldMarks,
  tombstones: coldTombstones
} as const
export type ArchiveTable = keyof typeof archiveTables
export type ArchiveRow<Table extends ArchiveTable> = RowOf<(typeof archiveTables)[Table]>

export const ARCHIVE_TABLES: ReadonlyArray<ArchiveTable> = ["events", "runs", "marks", "tombstones"]

/** Version of the columns; files say it in their metadata. */
export const ARCHIVE_VERSION = 1
