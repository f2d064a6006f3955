import * as PgClient from "@effect/sql-pg/PgClient"
import { CORRECT, type MarkSource, type RunId, type TruthMark } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { outputsOfRun } from "../../marks/DecisionNames.ts"

interface Row {
  readonly run_id: string
  readonly index: number | null
  readonly flag: boolean | null
  readonly category: string | null
  readonly source: MarkSource
  readonly created_at: Date
  readonly outputs: ReadonlyArray<string> | null
}

/** Texts of `correct` on one decision that are read: a text of an earlier version may name nothing. */
const MAX_TEXTS = 20

/** The marks `correct` on decisions (docs/reference/marks.md#truth). */
export class DecisionTruths extends Context.Service<
  DecisionTruths,
  {
    /** Of each decision the latest current flag and texts of judges, and those of all others; by run, latest first. */
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
            SELECT m.run_id::text AS run_id, m.index, m.flag, m.category, m.source, m.created_at,
                   CASE WHEN m.category IS NOT NULL THEN ${outputsOfRun(sql)} END AS outputs
            FROM (
              SELECT *, row_number() OVER (PARTITION BY run_id, index, source = 'judge', category IS NULL
                                           ORDER BY created_at DESC, id DESC) AS latest
              FROM marks
              WHERE name = ${CORRECT} AND target_kind = 'decision' AND run_id = ANY(${runIds}::text[]::uuid[])
                AND replaced_by IS NULL AND deleted_at IS NULL AND number IS NULL
            ) AS m
            JOIN runs r ON r.id = m.run_id
            WHERE m.latest <= CASE WHEN m.category IS NULL THEN 1 ELSE ${MAX_TEXTS}::int END
            ORDER BY m.created_at DESC, m.id DESC`,
          (rows) =>
            Map.groupBy(
              rows.map(({ category, created_at, flag, index, outputs, run_id, source }) => ({
                runId: run_id,
                index: index ?? undefined,
                value: flag ?? category ?? false,
                source,
                createdAt: created_at.toISOString(),
                ...(outputs !== null && { outputs })
              })),
              ({ runId }) => runId
            )
        )
      )
      return DecisionTruths.of({ ofRuns })
    })
  )
}
