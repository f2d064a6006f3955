import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type ArchiveTarget, fileTarget, openTableFile } from "@runplane/archive"
import {
  type ArchiveRow,
  type ArchiveTable,
  archivePath,
  type ColdEvent,
  type ColdRun,
  type ColdTombstone
} from "@runplane/domain"
import * as Effect from "effect/Effect"

/** 2026-11-26T00:00:00.000Z */
export const DAY = Date.UTC(2026, 10, 26)

export const eventRowOf = (seq: number, changes: Partial<ColdEvent> = {}): ColdEvent => ({
  ...{ cell: "main", seq, run_id: "run-1", index: seq, ts: DAY + seq, type: "message.sent", subject_kind: null },
  ...{ subject_id: null, source_kind: null, source_name: null, sender: null, model: null, provider: null },
  ...{ calls: null, prompt_tokens: null, completion_tokens: null, total_tokens: null, cost_usd: null },
  ...{ cost_basis: null, latency_ms: null, action: null, positive: null, event: "{}", salts: null },
  ...changes
})

export const runRowOf = (id: string, version: number, changes: Partial<ColdRun> = {}): ColdRun => ({
  ...{ cell: "main", version, run_id: id, status: "completed", mode: "live", mode_name: "m", runtime_kind: "rust" },
  ...{ runtime_version: null, session_id: id, trace_id: "t", source_kind: null, source_ref: null },
  ...{ scenario_ref: null, environment: null, policy_version: null, tags: [], error_code: null, error_message: null },
  ...{ created_at: DAY, updated_at: DAY, started_at: null, ended_at: null, archived_at: null, duration_ms: null },
  ...{ first_seq: 1, last_seq: 9, events: 9, history_gap: false, declined: false, intent: null, prompt_tokens: 0 },
  ...{ completion_tokens: 0, total_tokens: 0, cost_usd: 0, guessed_cost_usd: 0, signals: 0, decisions: 0 },
  ...{ run: "{}", metrics: null, seal: null, erasures: null },
  ...changes
})

export const tombstoneOf = (id: string, version: number): ColdTombstone => ({
  ...{ cell: "main", version, run_id: id, status: "completed", events: 1, deleted_at: DAY, deleted_by: "key" },
  seal: null
})

export const bytesOfRows = <Table extends ArchiveTable>(table: Table, rows: ReadonlyArray<ArchiveRow<Table>>) => {
  const file = openTableFile(table)
  for (const row of rows) file.add(row, 100)
  return file.finish()
}

export const pathOf = (table: ArchiveTable, from: number, to: number) =>
  archivePath({ table, day: "2026-11-26", cell: "main", from, to })

export const putRows = <Table extends ArchiveTable>(
  target: ArchiveTarget,
  table: Table,
  range: readonly [from: number, to: number],
  rows: ReadonlyArray<ArchiveRow<Table>>
) => target.put(pathOf(table, ...range), bytesOfRows(table, rows))

export const openFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "runplane-query-test-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** An archive with two runs, of which one has two versions, and a third one that a caller has deleted. */
export const openArchive = Effect.gen(function* () {
  // Characters of globs and of SQL are ordinary in the name of a directory.
  const target = fileTarget(join(yield* openFolder, "it's [an] archive"))
  const call = { type: "llm.call.completed", model: "m-1", calls: 1, total_tokens: 10, cost_usd: 0.1 }
  const events = [1, 2, 3].map((seq) => eventRowOf(seq, call))
  yield* putRows(target, "events", [1, 2], events.slice(0, 2))
  yield* putRows(target, "events", [3, 3], events.slice(2))
  yield* putRows(target, "events", [4, 6], [eventRowOf(4, { run_id: "run-2" }), eventRowOf(6, { run_id: "gone" })])
  // Merged, and its parts are not removed yet.
  yield* putRows(target, "events", [1, 3], events)
  yield* putRows(target, "runs", [1, 1], [runRowOf("run-1", 1), runRowOf("gone", 1)])
  yield* putRows(target, "runs", [2, 2], [runRowOf("run-2", 2)])
  yield* putRows(target, "runs", [3, 3], [runRowOf("run-1", 3, { tags: ["later", "a,b"], cost_usd: 0.3 })])
  yield* putRows(target, "tombstones", [4, 4], [tombstoneOf("gone", 4)])
  return target
})
