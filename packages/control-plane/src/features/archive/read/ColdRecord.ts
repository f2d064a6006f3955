import { Run } from "@runplane/api"
import { type ColdRun, RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { RunRow, StoredRun } from "../../../event-log/runs/RunRow.ts"

const decodeRun = Schema.decodeEffect(Schema.fromJsonString(Run))

const dateOf = (millis: number | null) => (millis === null ? null : new Date(millis))

/** The record of a cold run, as its row has it. */
export const coldRecord = Effect.fnUntraced(function* (row: ColdRun) {
  const record = yield* Effect.orDie(decodeRun(row.run))
  const stored: StoredRun = { record: { ...record, storage: "archive" }, modeName: row.mode_name, statusRevision: 0 }
  return stored
})

/** The same as a row of `runs`. */
export const coldRow = Effect.fnUntraced(function* (row: ColdRun) {
  const { record } = yield* coldRecord(row)
  const found: RunRow = {
    ...{ id: RunId.make(row.run_id), status: record.status, mode: record.mode, mode_name: row.mode_name },
    ...{ policy_version: row.policy_version, runtime_kind: row.runtime_kind, runtime_version: row.runtime_version },
    ...{ runtime_session_id: row.session_id, trace_id: row.trace_id, idempotency_key: record.idempotencyKey ?? null },
    ...{ source_kind: row.source_kind, source_ref: row.source_ref, tags: row.tags },
    ...{ error_code: row.error_code, error_message: row.error_message, history_gap: row.history_gap },
    metadata: JSON.stringify(record.metadata),
    created_at: new Date(row.created_at),
    updated_at: new Date(row.updated_at),
    ...{ started_at: dateOf(row.started_at), ended_at: dateOf(row.ended_at), archived_at: dateOf(row.archived_at) },
    ...{ status_revision: 0, last_seq: BigInt(row.last_seq), last_index: row.events },
    coldText: row.run
  }
  return found
})
