import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import type { FoundRows, RunErasure } from "../event-log/erasure/ErasureHooks.ts"
import { type MarkRow, markColumns, toMark } from "./MarkRows.ts"
import { MarkWriter } from "./MarkWriter.ts"

const KEPT = "a mark keeps its name, its target and its author"

/**
 * Deletes the marks of a run whose value, comment or judge has the text, as their author could: their chain has no
 * text, and stays whole.
 */
export const makeMarkErasure = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const writer = yield* MarkWriter
  const columns = markColumns(sql)

  return Effect.fnUntraced(function* ({ at, by, finder, isDryRun, runId }: RunErasure) {
    const rows = yield* sql<MarkRow>`SELECT ${columns} FROM marks WHERE run_id = ${runId}::uuid ORDER BY position`
    const isIn = (texts: ReadonlyArray<string | null>) => texts.some((text) => text !== null && finder(text))
    const isErased = (row: MarkRow) => isIn([row.category, row.comment, row.judge_name, row.judge_model])
    const found = rows.filter((row) => row.deleted_at === null && isErased(row))
    const kept = rows.filter((row) => isIn([row.name, row.target_id, row.author, row.author_name]))
    if (found.length > 0 && !isDryRun) {
      let chain = yield* writer.lock(runId)
      for (const row of found) {
        if (chain !== undefined) chain = yield* writer.erase(chain, toMark(row), by, at)
      }
    }
    const answer: FoundRows = {
      rows: found.length === 0 ? [] : [{ of: "mark", count: found.length }],
      remains: kept.map(({ id }) => ({ of: "mark", id, why: KEPT }))
    }
    return answer
  })
})
