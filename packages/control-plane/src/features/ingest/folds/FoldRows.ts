import * as PgClient from "@effect/sql-pg/PgClient"
import type { RunFacts, RunId, TraceFoldStep } from "@runplane/domain"
import * as Effect from "effect/Effect"
import { searchTextOf } from "../../../event-log/runs/NewRun.ts"
import { callsKeptMs } from "../../../platform/CallsKept.ts"
import { batchedWrites } from "../../../platform/postgres/Batched.ts"
import { unnestRows } from "../../../platform/postgres/UnnestRows.ts"
import { countedCalls, makeCountedCalls } from "../CountedCalls.ts"
import { removal, type SpanInboxRow } from "../SpanInbox.ts"
import type { OpenTraceFold } from "./OpenFold.ts"

/** The rows that a step of a fold changes, in the transaction of its events. */
export const makeFoldRows = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const keptMs = yield* callsKeptMs
  const calls = yield* makeCountedCalls

  /** Rows of the span inbox become rows of the fold. A position that is taken fails the transaction. */
  const consume = batchedWrites(sql, (taken: ReadonlyArray<Taken>) => {
    const seen = taken.flatMap(({ step: { consumed }, fold: { positions, runId } }) =>
      consumed
        .flatMap(({ key, node }) => (node === undefined ? [] : [{ key, node: JSON.stringify(node) }]))
        .map((one, index) => ({ ...one, run_id: runId, position: positions + index }))
    )
    return Effect.as(
      sql`
        WITH removed AS (
          ${removal(
            sql,
            taken.flatMap(({ rows }) => rows)
          )}
        ), claimed AS (
          ${calls.claim(
            taken.flatMap(({ step, fold: { runId, source } }) =>
              countedCalls(source, step).map(({ call }) => ({ call, run_id: runId }))
            )
          )}
        ), counted AS (
          UPDATE otlp_traces t SET bytes = t.bytes + r.bytes
          FROM (SELECT source, trace_id, sum(bytes)::bigint AS bytes FROM removed GROUP BY source, trace_id) AS r
          WHERE t.source = r.source AND t.trace_id = r.trace_id
        )
        INSERT INTO otlp_seen (run_id, position, key, node)
        SELECT run_id, position, key, node FROM ${unnestRows(sql, seen, SEEN_COLUMNS)} AS s
        ORDER BY run_id, position`,
      taken.map(() => true)
    )
  })

  const update = (fold: OpenTraceFold, facts: RunFacts, at: string) => {
    const { environment, metadata, policyVersion, scenarioRef, searchText, sourceRef, tags } = columnsOf(fold, facts)
    return sql`
      UPDATE runs SET source_ref = ${sourceRef ?? null}, scenario_ref = ${scenarioRef ?? null},
                      environment = ${environment ?? null}, policy_version = ${policyVersion ?? null},
                      tags = ${tags}::text[],
                      metadata = (metadata::jsonb || ${JSON.stringify(metadata)}::text::jsonb)::json,
                      search_text = fold_text(${searchText}::text),
                      updated_at = greatest(updated_at, ${at}::timestamptz)
      WHERE id = ${fold.runId}::uuid`
  }

  /** Sums count the run at its first span, like its calls (docs/reference/alerts.md#late). */
  const count = (runId: RunId, firstSpanAt: string) => sql`
    UPDATE runs SET counted_at = ${firstSpanAt}::timestamptz
    WHERE id = ${runId}::uuid AND counted_at IS DISTINCT FROM ${firstSpanAt}::timestamptz
      AND ${firstSpanAt}::timestamptz < created_at
      AND ${firstSpanAt}::timestamptz > created_at - make_interval(secs => ${keptMs / 1_000}::float8)`

  return { consume, update, count, calls } as const
})

/** Rows of the span inbox that a step of a fold takes. */
interface Taken {
  readonly fold: OpenTraceFold
  readonly step: TraceFoldStep
  readonly rows: ReadonlyArray<SpanInboxRow>
}

const SEEN_COLUMNS = { run_id: "uuid", position: "int", key: "text", node: "json" } as const

/** How many spans no event of the run says anything of, and the scopes of their instrumentations. */
const unreadOf = (unread: NonNullable<RunFacts["unread"]>) => ({
  count: Object.values(unread).reduce((sum, spans) => sum + spans, 0),
  scopes: unread
})

/** The values of a run's row that follow from its spans. */
export const columnsOf = ({ linkedSession, runId, source }: OpenTraceFold, facts: RunFacts) => {
  const columns = {
    scenarioRef: facts.name,
    sourceRef: facts.sourceRef,
    environment: facts.environment,
    policyVersion: facts.policy,
    tags: facts.tags
  }
  const metadata = {
    ...facts.metadata,
    source,
    ...(linkedSession !== undefined && { linkedSession }),
    ...(facts.startedAt !== undefined && { firstSpanAt: facts.startedAt }),
    ...(facts.name !== undefined && { scenarioRef: facts.name }),
    ...(facts.sourceRef !== undefined && { sourceRef: facts.sourceRef }),
    ...(facts.models.length > 0 && { models: facts.models }),
    ...(facts.unread !== undefined && { unreadSpans: unreadOf(facts.unread) })
  }
  return { ...columns, metadata, searchText: searchTextOf({ id: runId, ...columns }) }
}
