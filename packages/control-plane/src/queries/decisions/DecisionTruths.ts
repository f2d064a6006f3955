import * as PgClient from "@effect/sql-pg/PgClient"
import { CORRECT, type MarkSource, type RunId, type TruthMark } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"

interface Row {
  readonly run_id: string
  readonly index: number | null
  readonly flag: boolean | null
  readonly category: string | null
  readonly source: MarkSource
  readonly created_at: Date
}

/** The marks `correct` on decisions (docs/reference/marks.md#truth). */
export class DecisionTruths extends Context.Service<
  DecisionTruths,
  {
    /** Of each decision the latest current mark of judges, and the latest of all others; by run. */
    readonly ofRuns: (
      runIds: ReadonlyArray<RunId>
    ) => Effect.Effect<ReadonlyMap<string, ReadonlyArray<TruthMark>>, SqlError>
  }
>()("runplane/control-plane/DecisionTruths") {
  static readonly layer = Layer.effect(
    DecisionTruths,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const ofRuns = Effect.fn("DecisionTruths.ofRuns")((runIds: ReadonlyArray<RunId>) =>
        Effect.map(
          sql<Row>`
            SELECT DISTINCT ON (run_id, index, source = 'judge')
                   run_id::text AS run_id, index, flag, category, source, created_at
            FROM marks
            WHERE name = ${CORRECT} AND target_kind = 'decision' AND run_id = ANY(${runIds}::text[]::uuid[])
              AND replaced_by IS NULL AND deleted_at IS NULL AND number IS NULL
            ORDER BY run_id, index, source = 'judge', created_at DESC, id DESC`,
          (rows) =>
            Map.groupBy(
              rows.map(({ category, created_at, flag, index, run_id, source }) => ({
                runId: run_id,
                index: index ?? undefined,
                value: flag ?? category ?? false,
                source,
                createdAt: created_at.toISOString()
              })),
              ({ runId }) => runId
            )
        )
      )
      return DecisionTruths.of({ ofRuns })
    })
  )
}
