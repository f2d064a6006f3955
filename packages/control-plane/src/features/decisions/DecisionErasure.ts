import * as PgClient from "@effect/sql-pg/PgClient"
import { foldText } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { type ErasureHook, foundRows, makeScrubber } from "../../event-log/erasure/ErasureHooks.ts"

const KEEP = new Set(["verdict", "participantId", "vote"])

interface DecisionRow {
  readonly listed: string
  readonly options: string
}

/**
 * Removes texts from the decision of a run, and has the row made again from the log: its case and its options may be
 * others without them.
 */
export const makeDecisionErasure = Effect.map(
  PgClient.PgClient,
  (sql): ErasureHook =>
    Effect.fnUntraced(function* ({ finder, isDryRun, runId }) {
      const rows = yield* sql<DecisionRow>`
        SELECT listed::text AS listed, options FROM run_decisions WHERE run_id = ${runId}::uuid`
      const scrubber = makeScrubber(finder, KEEP)
      const [changed] = scrubber.changed(rows, ({ listed, options }) => ({
        listed: scrubber.json(listed),
        options: scrubber.text(options)
      }))
      if (!isDryRun) {
        if (changed !== undefined) {
          yield* sql`
            UPDATE run_decisions SET listed = ${changed.listed}::text::json, options = ${foldText(changed.options)}
            WHERE run_id = ${runId}::uuid`
        }
        yield* sql`
          INSERT INTO run_decision_changes AS known (run_id, seq, due_at)
          SELECT d.run_id, d.seq, now() FROM run_decisions d WHERE d.run_id = ${runId}::uuid
          ON CONFLICT (run_id) DO UPDATE SET due_at = least(known.due_at, excluded.due_at)`
      }
      return foundRows("decision", changed === undefined ? 0 : 1, scrubber.kept())
    })
)
