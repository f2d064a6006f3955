import * as PgClient from "@effect/sql-pg/PgClient"
import { runQueryFields } from "@runplane/api"
import { parseQuery, type Query } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { Fragment } from "effect/sql/Statement"
import { DURATION, SCENARIO } from "../../event-log/runs/RunColumns.ts"
import {
  type ColumnType,
  conditionOf,
  partOf,
  type QueryColumn,
  type QueryMeaning
} from "../../platform/postgres/search/QueryConditions.ts"
import { meaningOf, type PlainColumns, type SearchField } from "../../platform/postgres/search/SearchFields.ts"
import { labelled } from "./RunLabels.ts"

/** Whether a column contains a text (docs/reference/search.md#folding). */
const contains = (sql: PgClient.PgClient, column: string, text: string): Fragment =>
  sql`fold_text(${sql.literal(column)}) LIKE fold_text(${partOf(text)}::text)`

/**
 * The filter `scenarioRef` for a row of `runs` with the name `r`. Lists of runs: either reference contains it. Events:
 * the source is equal, or the scenario contains it. Dashboard: one of both is equal, the scenario without case.
 */
export const scenarioFilter = (
  sql: PgClient.PgClient,
  scenarioRef: string,
  filterOf: "runs" | "events" | "dashboard"
): Fragment => {
  const isSource = sql`r.source_ref = ${scenarioRef}`
  switch (filterOf) {
    case "runs":
      return sql.or([contains(sql, "r.scenario_ref", scenarioRef), contains(sql, "r.source_ref", scenarioRef)])
    case "events":
      return sql.or([isSource, contains(sql, "r.scenario_ref", scenarioRef)])
    case "dashboard":
      return sql.or([isSource, sql`fold_text(r.scenario_ref) = fold_text(${scenarioRef}::text)`])
  }
}

/** The columns of `runs` that fields stand for one to one. */
const COLUMNS: PlainColumns = {
  id: ["uuid", "r.id"],
  status: ["text", "r.status"],
  runtimeSessionId: ["text", "r.runtime_session_id"],
  traceId: ["text", "r.trace_id"],
  idempotencyKey: ["text", "r.idempotency_key"],
  scenario: ["text", SCENARIO],
  sourceRef: ["text", "r.source_ref"],
  scenarioRef: ["folded", "r.scenario_ref"],
  environment: ["text", "r.environment"],
  policyVersion: ["text", "r.policy_version"],
  errorCode: ["text", "r.error_code"],
  createdAt: ["time", "r.created_at"],
  updatedAt: ["time", "r.updated_at"],
  endedAt: ["time", "r.ended_at"],
  startedAt: ["time", "r.started_at"],
  archivedAt: ["time", "r.archived_at"],
  archived: ["flag", "(r.archived_at IS NOT NULL)"],
  mode: ["text", "r.mode"],
  modeName: ["text", "r.mode_name"],
  runtimeKind: ["text", "r.runtime_kind"],
  runtimeVersion: ["text", "r.runtime_version"],
  sourceKind: ["text", "r.source_kind"]
}

/** Runs of a scenario from which on the rank of one says something. */
const LEAST_RANKED = 10

/** What the fields of `runQueryFields` mean for a row of `runs` with the name `r`, with those that features add. */
export class RunMeaning extends Context.Service<RunMeaning, QueryMeaning>()("runplane/control-plane/RunMeaning") {
  static readonly layer = (added: ReadonlyArray<SearchField>) =>
    Layer.effect(
      RunMeaning,
      Effect.map(PgClient.PgClient, (sql) => runMeaning(sql, added))
    )
}

const runMeaning = (sql: PgClient.PgClient, added: ReadonlyArray<SearchField>): QueryMeaning => {
  const some = (value: Fragment) => sql`${value} > 0`
  const figure = (type: ColumnType, column: string): QueryColumn => ({
    type,
    where: (test) => sql`r.id IN (SELECT f.run_id FROM run_figures f WHERE ${test(sql.literal(column))})`,
    has: some
  })
  const counted = (column: string): QueryColumn => ({
    type: "integer",
    where: (test) => sql`EXISTS (SELECT FROM run_metrics m WHERE m.run_id = r.id AND ${test(sql.literal(column))})`,
    has: some
  })

  /** The rank of a value among those of its scenario: 0 for the least, 1 for the greatest, in thousandths. */
  const ranked = (value: string, figures: string): QueryColumn => {
    const scenario = sql.literal(SCENARIO)
    const of = sql.literal(value)
    return {
      type: "numeric",
      where: (test) => sql`
        r.id IN (
          SELECT k.id FROM (
            SELECT r.id, round(percent_rank() OVER (PARTITION BY ${scenario} ORDER BY ${of})::numeric, 3) AS rank,
                   count(*) OVER (PARTITION BY ${scenario}) AS runs
            FROM runs r ${sql.literal(figures)} WHERE ${scenario} IS NOT NULL AND ${of} > 0
          ) k WHERE k.runs >= ${LEAST_RANKED} AND ${test(sql`k.rank`)})`,
      has: () => sql`true`
    }
  }

  const others: Readonly<Record<string, (path: string) => QueryColumn>> = {
    tags: () => ({ type: "among", where: (test) => test(sql`r.tags`), has: (tags) => sql`cardinality(${tags}) > 0` }),
    participant: () => ({
      type: "text",
      where: (test) => sql`r.id IN (SELECT p.run_id FROM run_participants p WHERE ${test(sql`p.participant_id`)})`
    }),
    metadata: (path) => labelled(sql, path),
    duration: () => ({
      type: "numeric",
      where: (test) => sql`(${sql.literal(DURATION)} >= 0 AND ${test(sql.literal(DURATION))})`
    }),
    cost: () => figure("numeric", "f.cost"),
    costRank: () => ranked("f.cost", "JOIN run_figures f ON f.run_id = r.id"),
    durationRank: () => ranked(DURATION, ""),
    tokens: () => figure("numeric", "f.tokens"),
    events: () => figure("integer", "f.events"),
    signals: () => counted("m.signal_count"),
    decisions: () => counted("m.decision_count"),
    event: () => ({
      type: "text",
      where: (test) => sql`EXISTS (SELECT FROM canonical_events e WHERE e.run_id = r.id AND ${test(sql`e.type`)})`
    })
  }

  return meaningOf(sql, {
    ...{ declared: runQueryFields, plain: COLUMNS, others, added },
    search: (text) => sql`r.search_text LIKE fold_text(${partOf(text)}::text)`
  })
}

/** The condition that a search over runs finds the run of this id; the search was validated, so it parses. */
export const runsFound = (
  sql: PgClient.PgClient,
  meaning: QueryMeaning,
  q: string | undefined,
  id: Fragment
): Fragment =>
  q === undefined
    ? sql`true`
    : sql`${id} IN (SELECT r.id FROM runs r
           WHERE ${conditionOf(sql, Result.getOrThrow(parseQuery(q, runQueryFields)), meaning)})`

/** Whether a query says itself whether archived runs are wanted. */
export const namesArchival = (query: Query): boolean => {
  switch (query.kind) {
    case "and":
    case "or":
      return query.of.some(namesArchival)
    case "not":
      return namesArchival(query.of)
    case "search":
      return false
    default:
      return query.field === "archived" || query.field === "archivedAt"
  }
}
