import * as PgClient from "@effect/sql-pg/PgClient"
import { type DecisionNames, decisionNames, decodeEventText, deliberationReader, type RunId } from "@runplane/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readBounded } from "../platform/postgres/BoundedRows.ts"

/** Events of a run that its names are read from: proposals and decisions, the latest ones. */
const MAX_NAMING_EVENTS = 1_000
/** Outputs of a scenario that count, the first ones. */
const MAX_OUTPUTS = 100

/** The outputs that the scenario of a run `r` declares: a text array or NULL (docs/internals/launch.md#submission). */
export const outputsOfRun = (sql: PgClient.PgClient) => sql`(
  SELECT array_agg(output) FROM (
    SELECT output
    FROM (SELECT coalesce(r.metadata #> '{launch,expectedDecisionKinds}',
                          r.metadata -> 'expectedDecisionKinds') AS kinds) AS stated
    CROSS JOIN LATERAL json_array_elements_text(
      CASE WHEN json_typeof(kinds) = 'array' THEN kinds ELSE '[]'::json END) AS output
    LIMIT ${sql.literal(String(MAX_OUTPUTS))}
  ) AS outputs)`

/** Reads the names by which a text of `correct` can judge the decision at an index of a run. */
export const makeDecisionNames = Effect.map(PgClient.PgClient, (sql) =>
  Effect.fnUntraced(function* (runId: RunId, index: number) {
    const found = yield* sql<{ readonly seq: bigint }>`
      SELECT seq FROM canonical_events
      WHERE run_id = ${runId}::uuid AND type IN ('proposal.created', 'decision.finalized') AND index <= ${index}
      ORDER BY seq DESC LIMIT ${MAX_NAMING_EVENTS}`
    const reader = deliberationReader()
    let keys = found.toReversed().map(({ seq }) => String(seq))
    while (keys.length > 0) {
      const { rows, taken } = yield* readBounded<{ readonly json: string }>(sql, {
        keys: sql`${keys}::text[]::bigint[]`,
        from: sql`canonical_events`,
        isOf: (seq) => sql`seq = ${seq}`,
        columns: sql`event::text AS json`,
        large: ["event"]
      })
      for (const { json } of rows) reader.take(Result.getOrThrow(decodeEventText(json)))
      keys = taken === 0 ? [] : keys.slice(taken)
    }
    const run = reader.read()
    const [row] = yield* sql<{ readonly outputs: ReadonlyArray<string> | null }>`
      SELECT ${outputsOfRun(sql)} AS outputs FROM runs r WHERE r.id = ${runId}::uuid`
    const names: DecisionNames | undefined =
      run.commitment && decisionNames(run, run.commitment, row?.outputs ?? undefined)
    return names
  })
)
