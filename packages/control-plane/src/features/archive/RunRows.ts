import type * as PgClient from "@effect/sql-pg/PgClient"
import type { ColdRun } from "@runplane/domain"
import { DURATION } from "../../event-log/runs/RunColumns.ts"
import { LARGE_COLUMNS, publicRunText, type RunRow, runColumns } from "../../event-log/runs/RunRow.ts"
import { appendixOf, type ErasuresRow, erasuresColumn } from "../../event-log/seal/RunErasures.ts"

/** The columns of an `ColdRunRow`, of `runs` as `r`, `run_heads` as `h` and `run_metrics` as `m`. */
export const coldRunColumns = (sql: PgClient.PgClient) => sql`
  ${sql.literal(runColumns)}, r.scenario_ref, r.environment, m.intent, m.metrics::text AS metrics,
  coalesce(m.prompt_tokens, 0) AS prompt_tokens, coalesce(m.completion_tokens, 0) AS completion_tokens,
  coalesce(m.total_tokens, 0) AS total_tokens, coalesce(m.estimated_cost_usd, 0) AS estimated_cost_usd,
  coalesce(m.guessed_cost_usd, 0) AS guessed_cost_usd, coalesce(m.signal_count, 0) AS signal_count,
  coalesce(m.decision_count, 0) AS decision_count, ${sql.literal(DURATION)}::float8 AS duration_ms,
  (SELECT declined FROM run_contributions c WHERE c.run_id = r.id) AS declined,
  (SELECT min(e.seq) FROM canonical_events e WHERE e.run_id = r.id) AS first_seq,
  (SELECT s.seal::text FROM run_seals s WHERE s.run_id = r.id ORDER BY s.events DESC LIMIT 1) AS seal,
  ${erasuresColumn(sql, "r.id")}`

/** The columns that make such a row large. */
export const LARGE_RUN_COLUMNS = [...LARGE_COLUMNS, "m.metrics"]

export interface ColdRunRow extends RunRow, ErasuresRow {
  readonly scenario_ref: string | null
  readonly environment: string | null
  readonly intent: string | null
  readonly metrics: string | null
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly estimated_cost_usd: number
  readonly guessed_cost_usd: number
  readonly signal_count: number
  readonly decision_count: number
  /** Milliseconds; -1 without. */
  readonly duration_ms: number
  readonly declined: boolean
  readonly first_seq: bigint | null
  readonly seal: string | null
}

/** The appendix of an export, with the links of its chain. */
const erasuresText = ({ erasures, id }: ColdRunRow): string | null => {
  const appendix = appendixOf(id, erasures)
  return appendix === undefined ? null : JSON.stringify(appendix)
}

const millis = (date: Date | null): number | null => date?.getTime() ?? null

export const toColdRun = (cell: string, version: number, row: ColdRunRow): ColdRun => ({
  ...{ cell, version, run_id: row.id, status: row.status, mode: row.mode, mode_name: row.mode_name },
  ...{ runtime_kind: row.runtime_kind, runtime_version: row.runtime_version, session_id: row.runtime_session_id },
  ...{ trace_id: row.trace_id, source_kind: row.source_kind, source_ref: row.source_ref },
  ...{ scenario_ref: row.scenario_ref, environment: row.environment, policy_version: row.policy_version },
  ...{ tags: row.tags, error_code: row.error_code, error_message: row.error_message },
  ...{ created_at: row.created_at.getTime(), updated_at: row.updated_at.getTime() },
  ...{ started_at: millis(row.started_at), ended_at: millis(row.ended_at), archived_at: millis(row.archived_at) },
  duration_ms: row.duration_ms < 0 ? null : row.duration_ms,
  first_seq: Number(row.first_seq ?? row.last_seq),
  last_seq: Number(row.last_seq),
  ...{ events: row.last_index, history_gap: row.history_gap, declined: row.declined, intent: row.intent },
  ...{ prompt_tokens: row.prompt_tokens, completion_tokens: row.completion_tokens, total_tokens: row.total_tokens },
  ...{ cost_usd: row.estimated_cost_usd, guessed_cost_usd: row.guessed_cost_usd },
  ...{ signals: row.signal_count, decisions: row.decision_count },
  ...{ run: publicRunText(row), metrics: row.metrics, seal: row.seal, erasures: erasuresText(row) }
})
