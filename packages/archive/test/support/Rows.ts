import type { ColdEvent, ColdRun, ColdTombstone } from "@runplane/domain"

export const eventRowOf = (seq: number, changes: Partial<ColdEvent> = {}): ColdEvent => ({
  ...{ cell: "main", seq, run_id: `run-${seq % 3}`, index: Math.ceil(seq / 3), ts: 1_764_115_200_000 + seq },
  ...{ type: "message.sent", subject_kind: "message", subject_id: `m${seq}`, source_kind: "runtime" },
  ...{ source_name: "sandbox", sender: null, model: null, provider: null, calls: null, prompt_tokens: null },
  ...{ completion_tokens: null, total_tokens: null, cost_usd: null, cost_basis: null, latency_ms: null },
  ...{ action: null, positive: null, salts: seq % 2 === 0 ? null : `salt-${seq}` },
  event: JSON.stringify({ seq, text: "Grüße 👋" }),
  ...changes
})

export const runRowOf = (id: string, version: number, changes: Partial<ColdRun> = {}): ColdRun => ({
  ...{ cell: "main", version, run_id: id, status: "completed", mode: "live", mode_name: "decision" },
  ...{ runtime_kind: "rust", runtime_version: null, session_id: `s-${id}`, trace_id: "t", source_kind: null },
  ...{ source_ref: null, scenario_ref: null, environment: null, policy_version: null, tags: ["a", "b c"] },
  ...{ error_code: null, error_message: null, created_at: 1, updated_at: 2, started_at: null, ended_at: 3 },
  ...{ archived_at: null, duration_ms: 1.5, first_seq: 1, last_seq: Number.MAX_SAFE_INTEGER, events: 4 },
  ...{ history_gap: false, declined: true, intent: null, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  ...{ cost_usd: 0.1, guessed_cost_usd: 0, signals: 0, decisions: 1, run: "{}", metrics: null, seal: null },
  erasures: null,
  ...changes
})

export const tombstoneRowOf = (id: string, version: number): ColdTombstone => ({
  ...{ cell: "main", version, run_id: id, status: "completed", events: 1, deleted_at: 4, deleted_by: "key", seal: null }
})
