import type { Run, RunUsage } from "@runplane/api"
import { isJsonObject, objectAt, RunId, type RunMode, type RunStatus, textAt } from "@runplane/domain"
import { shownUrl } from "@runplane/server"
import type * as Schema from "effect/Schema"

/** The columns of a `RunRow`, of `runs` as `r` and `run_heads` as `h`. */
const columnsWith = (metadata: string) => `
  r.id::text AS id, r.status, r.mode, r.mode_name, r.policy_version, r.runtime_kind, r.runtime_version, r.runtime_session_id,
  r.trace_id, r.idempotency_key, r.source_kind, r.source_ref, r.tags, ${metadata}, r.error_code,
  r.error_message, r.created_at, r.updated_at, r.started_at, r.ended_at, r.archived_at, r.history_gap,
  r.status_revision, h.last_seq, h.last_index`

export const runColumns = columnsWith("r.metadata::text AS metadata")

/** The usage of a run, of its row `m` of `run_metrics`; null while it has no call of a language model. */
export const usageColumn = `
  CASE WHEN m.total_tokens > 0 OR m.estimated_cost_usd > 0 OR m.metrics -> 'callsWithoutUsage' IS NOT NULL
            OR m.metrics -> 'uncountedCostUsd' IS NOT NULL THEN
    json_strip_nulls(json_build_object(
      'totalTokens', m.total_tokens, 'estimatedCostUsd', m.estimated_cost_usd,
      'guessedCostUsd', nullif(m.guessed_cost_usd, 0), 'uncountedCostUsd', m.metrics -> 'uncountedCostUsd',
      'callsWithoutUsage', m.metrics -> 'callsWithoutUsage'))
  END AS usage`

/** The same for lists, which leave large metadata out: nothing of those is read (docs/reference/runs.md#list-runs). */
export const listColumns = `${columnsWith("r.listed_metadata::text AS metadata, r.omitted_metadata")}, m.intent, ${usageColumn}`

/** Those of a list that includes participants: an index has each run's together. */
export const countingColumns = `${listColumns},
  (SELECT count(*)::int FROM run_participants p WHERE p.run_id = r.id) AS participant_count`

/** The columns that make a row of `runColumns` large. */
export const LARGE_COLUMNS = ["r.metadata", "r.tags", "r.error_message"]

/** The columns that a row of a list may be large of. */
export const LARGE_LISTED = ["r.listed_metadata", "r.tags", "r.omitted_metadata", "r.error_message"]

/** A row of `runs` joined with its `run_heads`; the JSON column as text. */
export interface RunRow {
  readonly id: string
  readonly status: RunStatus
  readonly mode: RunMode
  readonly mode_name: string
  readonly policy_version: string | null
  readonly runtime_kind: string
  readonly runtime_version: string | null
  readonly runtime_session_id: string
  readonly trace_id: string
  readonly idempotency_key: string | null
  readonly source_kind: string | null
  readonly source_ref: string | null
  readonly tags: ReadonlyArray<string>
  /** Of a list what lists show of it. */
  readonly metadata: string
  /** Of a list the keys of the metadata that are left out of it. */
  readonly omitted_metadata?: ReadonlyArray<string>
  /** Of a list. */
  readonly intent?: string | null
  /** Of a list. */
  readonly usage?: RunUsage | null
  /** Of a list that includes participants. */
  readonly participant_count?: number
  readonly error_code: string | null
  readonly error_message: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly started_at: Date | null
  readonly ended_at: Date | null
  readonly archived_at: Date | null
  readonly history_gap: boolean
  readonly status_revision: number
  readonly last_seq: bigint
  readonly last_index: number
  /** The record of a run that has left the database, as the archive has it. */
  readonly coldText?: string
}

/** A run as stored. Its metadata may hold the secret of a cancel callback: answer with `publicRun` of it. */
export interface StoredRun {
  readonly record: Run
  readonly modeName: string
  /** Number of the changes of its status so far. */
  readonly statusRevision: number
}

/** The run record (docs/reference/runs.md#run-record): absent values leave their key out, except `archivedAt`. */
export const toStoredRun = (row: RunRow): StoredRun => ({
  modeName: row.mode_name,
  statusRevision: row.status_revision,
  record: { ...beforeMetadata(row), metadata: parseMetadata(row.metadata), ...afterMetadata(row) }
})

const beforeMetadata = (row: RunRow) => ({
  id: RunId.make(row.id),
  runId: RunId.make(row.id),
  status: row.status,
  mode: row.mode,
  modeName: row.mode_name,
  ...(row.policy_version !== null && { policyVersion: row.policy_version }),
  runtimeKind: row.runtime_kind,
  ...(row.runtime_version !== null && { runtimeVersion: row.runtime_version }),
  runtimeSessionId: row.runtime_session_id,
  traceId: row.trace_id,
  ...(row.idempotency_key !== null && { idempotencyKey: row.idempotency_key }),
  lastEventSeq: Number(row.last_seq),
  lastEventIndex: row.last_index,
  ...sourceOf(row),
  tags: row.tags
})

const afterMetadata = (row: RunRow) => ({
  ...(row.omitted_metadata !== undefined &&
    row.omitted_metadata.length > 0 && { metadataOmitted: row.omitted_metadata }),
  ...(row.error_code !== null && { errorCode: row.error_code }),
  ...(row.error_message !== null && { errorMessage: row.error_message }),
  ...(row.history_gap && { historyGap: true as const }),
  ...(row.participant_count !== undefined && { participantCount: row.participant_count }),
  ...(row.intent !== undefined && row.intent !== null && { intent: row.intent }),
  ...(row.usage !== undefined && row.usage !== null && { usage: row.usage }),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  ...(row.started_at !== null && { startedAt: row.started_at.toISOString() }),
  ...(row.ended_at !== null && { endedAt: row.ended_at.toISOString() }),
  archivedAt: row.archived_at === null ? null : row.archived_at.toISOString()
})

/** The text of an object as PostgreSQL's jsonb writes it, with blanks. */
const SPACED = /^\{"(?:[^"\\]|\\.)*": /

/**
 * The text of `publicRun`, with the keys in the order of the contract. Metadata that hold no secret go out as they are
 * stored, which is how we would write them again: most of a record is metadata, and reading and writing them is most of
 * the work.
 */
export const publicRunText = (row: RunRow): string => {
  const { coldText, metadata } = row
  if (coldText !== undefined) return `${coldText.slice(0, -1)},"storage":"archive"}`
  if (metadata.includes("cancelCallback") || SPACED.test(metadata)) return JSON.stringify(publicRun(toStoredRun(row)))
  const before = JSON.stringify(beforeMetadata(row))
  return `${before.slice(0, -1)},"metadata":${metadata},${JSON.stringify(afterMetadata(row)).slice(1)}`
}

/**
 * The record as answers show it: the bearer of a cancel callback is redacted in both places
 * (docs/reference/runs.md#run-record).
 */
export const publicRun = ({ record }: StoredRun): Run => {
  const { metadata } = record
  const request = objectAt(metadata, "executionRequest")
  const session = request && objectAt(request, "session")
  const sessionMetadata = session && objectAt(session, "metadata")
  const withRequest =
    request === undefined || session === undefined || sessionMetadata === undefined
      ? metadata
      : {
          ...metadata,
          executionRequest: { ...request, session: { ...session, metadata: withoutBearer(sessionMetadata) } }
        }
  return { ...record, metadata: withoutBearer(withRequest) }
}

const withoutBearer = (metadata: Schema.JsonObject): Schema.JsonObject => {
  const callback = objectAt(metadata, "cancelCallback")
  if (callback === undefined) return metadata
  const url = textAt(callback, "url")
  return {
    ...metadata,
    cancelCallback: {
      ...callback,
      ...(url !== undefined && { url: shownUrl(url) }),
      ...(callback["bearer"] !== undefined && { bearer: "[REDACTED]" })
    }
  }
}

const sourceOf = ({ source_kind: kind, source_ref: ref }: RunRow): Pick<Run, "source" | "sourceKind" | "sourceRef"> => {
  if (kind === null && ref === null) return {}
  return {
    ...(kind !== null && { sourceKind: kind }),
    ...(ref !== null && { sourceRef: ref }),
    source: { ...(kind !== null && { kind }), ...(ref !== null && { ref }) }
  }
}

// The column is JSON and only ever written from an object: nothing else has to be looked at.
const parseMetadata = (text: string): Schema.JsonObject => {
  const parsed: Schema.Json = JSON.parse(text)
  return isJsonObject(parsed) ? parsed : {}
}
