import * as PgClient from "@effect/sql-pg/PgClient"
import {
  type FacetField,
  facetFields,
  MAX_FACET_VALUES,
  parseIsoDate,
  type RunFacets,
  type RunFacetsQuery,
  type RunListQuery,
  type RunSort,
  type RunSortKey,
  runQueryFields
} from "@runplane/api"
import { isUuid, parseQuery, type Query } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { DURATION, SCENARIO } from "../../event-log/runs/RunColumns.ts"
import { countingColumns, LARGE_LISTED, listColumns, publicRunText, type RunRow } from "../../event-log/runs/RunRow.ts"
import { listPage, type TextPage } from "../../platform/http/JsonAnswer.ts"
import { readBounded } from "../../platform/postgres/BoundedRows.ts"
import { shareReads } from "../../platform/postgres/SharedRead.ts"
import {
  cursorOf,
  isPositionValue,
  type Position,
  positionOf,
  UnknownCursor
} from "../../platform/postgres/search/PageCursor.ts"
import { conditionOf } from "../../platform/postgres/search/QueryConditions.ts"
import { type RunExtra, RunExtras } from "../../platform/postgres/search/RunExtras.ts"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { namesArchival, RunMeaning, scenarioFilter } from "./RunSearch.ts"

/** Lists of runs: filters, search, order and pages (docs/reference/runs.md#list-runs). */
export class RunList extends Context.Service<
  RunList,
  {
    /** A `RunPage` as text, which is read while it is sent. */
    readonly list: (query: RunListQuery) => Effect.Effect<TextPage<SqlError>, SqlError | SearchFailure | UnknownCursor>
    /** Counts the values of fields in all matching runs, so it counts as a search. */
    readonly facets: (query: RunFacetsQuery) => Effect.Effect<RunFacets, SqlError | SearchFailure>
  }
>()("runplane/control-plane/RunList") {
  static readonly layer = Layer.effect(
    RunList,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const meaning = yield* RunMeaning
      const extras = yield* RunExtras

      const matches = (query: RunFilters, search: Query | undefined) =>
        sql.and([
          ...(query.includeArchived || (search !== undefined && namesArchival(search))
            ? []
            : [sql`r.archived_at IS NULL`]),
          ...(query.status === undefined ? [] : [sql`r.status = ${query.status}`]),
          ...(query.tags === undefined || query.tags.length === 0 ? [] : [sql`r.tags @> ${query.tags}::text[]`]),
          ...(query.createdAfter === undefined ? [] : [sql`r.created_at > ${query.createdAfter}::timestamptz`]),
          ...(query.createdBefore === undefined ? [] : [sql`r.created_at < ${query.createdBefore}::timestamptz`]),
          ...(query.environment === undefined ? [] : [sql`r.environment = ${query.environment}`]),
          ...(query.scenarioRef === undefined ? [] : [scenarioFilter(sql, query.scenarioRef, "runs")]),
          ...(query.search === undefined ? [] : [meaning.search(query.search)]),
          ...(search === undefined ? [] : [conditionOf(sql, search, meaning)])
        ])

      const directions = {
        asc: { order: sql`ASC`, beyond: sql`>` },
        desc: { order: sql`DESC`, beyond: sql`<` }
      } as const

      /** The positions of a page: `id` of the run and the `sort_value`, its sort value. */
      const positionsOf = (query: RunListQuery, where: Fragment, after: Position | undefined) => {
        const { beyond, order } = directions[query.sortOrder]
        const key = sortKeyOf(query.sortBy)
        const limit = BigInt(query.limit)
        const offset = BigInt(query.offset)
        const behind = (value: Fragment, id: Fragment) =>
          after === undefined
            ? sql`true`
            : sql`(${value}, ${id}) ${beyond} (${after.value}::${sql.literal(key.type)}, ${after.id}::uuid)`
        const sorted = (value: Fragment, id: Fragment) => sql`ORDER BY ${value} ${order}, ${id} ${order}`
        if (key.column !== undefined) {
          const value = sql.literal(key.column)
          return sql`
            SELECT r.id, ${value} AS sort_value FROM runs r WHERE ${where} AND ${behind(value, sql`r.id`)}
            ${sorted(value, sql`r.id`)} LIMIT ${limit} OFFSET ${offset}`
        }
        const mark = markNameOf(query.sortBy)
        if (mark !== undefined) {
          const value = sql`coalesce(k.sort_value, '-Infinity')`
          return sql`
            SELECT r.id, ${value} AS sort_value FROM runs r LEFT JOIN (${latestMarks(sql, mark)}) k ON k.run_id = r.id
            WHERE ${where} AND ${behind(value, sql`r.id`)}
            ${sorted(value, sql`r.id`)} LIMIT ${limit} OFFSET ${offset}`
        }
        // The first runs of the index of figures, sorted together with all runs whose figures are not in it yet.
        const figure = sql.literal(query.sortBy)
        return sql`
          SELECT id, sort_value FROM (
            (
              SELECT t.run_id AS id, t.${figure} AS sort_value FROM tallied_runs t JOIN runs r ON r.id = t.run_id
              WHERE ${where} AND ${behind(sql`t.${figure}`, sql`t.run_id`)}
                AND NOT EXISTS (SELECT FROM tally_changes c WHERE c.run_id = t.run_id)
              ${sorted(sql`t.${figure}`, sql`t.run_id`)} LIMIT ${limit + offset}
            )
            UNION ALL
            SELECT f.run_id, f.${figure} FROM moving_figures f JOIN runs r ON r.id = f.run_id
            WHERE ${where} AND ${behind(sql`f.${figure}`, sql`f.run_id`)}
          ) AS found ${sorted(sql`sort_value`, sql`id`)} LIMIT ${limit} OFFSET ${offset}`
      }

      const pageOf = (query: RunListQuery, where: Fragment, after: Position | undefined) => {
        const { order } = directions[query.sortOrder]
        return sql<RunPosition>`
          WITH page AS MATERIALIZED (${positionsOf(query, where, after)})
          SELECT page.id::text AS id, ${sql.literal(sortKeyOf(query.sortBy).text)} AS sort_value FROM page
          ORDER BY page.sort_value ${order}, page.id ${order}`
      }

      const recordsWith = (columns: string, extra: RunExtra | undefined) => (positions: ReadonlyArray<RunPosition>) =>
        readBounded<ListedRow>(sql, {
          keys: sql`${positions.map(({ id }) => id)}::text[]::uuid[]`,
          from: sql`
            runs r JOIN run_heads h ON h.run_id = r.id LEFT JOIN run_metrics m ON m.run_id = r.id
            ${sql.literal(extra?.join ?? "")}`,
          isOf: (id) => sql`r.id = ${id}`,
          columns: sql.literal(extra === undefined ? columns : `${columns}, ${extra.column}::text AS extra`),
          large: extra === undefined ? LARGE_LISTED : [...LARGE_LISTED, extra.column]
        })

      const totalOf = (query: RunListQuery, where: Fragment) =>
        isTallied(query)
          ? sql<Total>`SELECT count_runs(${query.status ?? null}::text, ${query.includeArchived})::int AS total`
          : sql<Total>`SELECT count(*)::int AS total FROM runs r WHERE ${where}`

      // The request was validated, so the query parses.
      const searchOf = ({ q }: RunFilters): Effect.Effect<Query | undefined> =>
        q === undefined ? Effect.undefined : Effect.orDie(Effect.fromResult(parseQuery(q, runQueryFields)))

      const facets = Effect.fn("RunList.facets")(function* (query: RunFacetsQuery) {
        const where = matches(query, yield* searchOf(query))
        const fields = facetFields.filter((field) => query.fields?.includes(field) ?? true)
        const [row] = yield* budget.inTurn(budget.limited(countFacets(sql, where, fields)))
        const counts = Map.groupBy(row?.counts ?? [], ({ field }) => field)
        const facets = fields.flatMap((field) => {
          const values = counts.get(field)?.map(({ count, value }) => ({ value, count })) ?? []
          return values.length === 0 ? [] : [{ field, values }]
        })
        return { total: row?.total ?? 0, facets }
      })

      const list = Effect.fn("RunList.list")(function* (query: RunListQuery) {
        const order = `runs ${query.sortBy} ${query.sortOrder}`
        const from = query.cursor === undefined ? undefined : positionOf(order, query.cursor)
        if (query.cursor !== undefined && !isPosition(query.sortBy, from)) return yield* new UnknownCursor()
        const search = yield* searchOf(query)
        const where = matches(query, search)
        const read = Effect.all([pageOf(query, where, from), totalOf(query, where)], {
          concurrency: search === undefined ? 2 : 1
        })
        const isCheap = search === undefined && markNameOf(query.sortBy) === undefined
        const [positions, counts] = yield* isCheap ? read : budget.inTurn(budget.limited(read))
        const last = positions.at(-1)
        const isFull = last !== undefined && positions.length === query.limit
        const cursor = isFull ? `,"nextCursor":"${cursorOf(order, { value: last.sort_value, id: last.id })}"` : ""
        const after = `],"total":${counts[0]?.total ?? 0},"limit":${query.limit},"offset":${query.offset}${cursor}}`
        const included = query.include ?? []
        const extra = extras.find(({ include }) => included.includes(include))
        const records = recordsWith(included.includes("participants") ? countingColumns : listColumns, extra)
        return yield* listPage(positions, records, textWith(extra), after)
      })
      // All callers see the same list, and many poll its first page. A search counts against the budget of its caller.
      const keyOf = (query: RunListQuery, client: string) =>
        `${query.q === undefined ? "" : client} ${JSON.stringify(query)}`
      return RunList.of({ list: yield* shareReads(list, keyOf), facets })
    })
  )
}

/** The filters that a list of runs and its facets share. */
type RunFilters = Omit<RunFacetsQuery, "fields">

interface FacetCounts {
  readonly total: number
  readonly counts: ReadonlyArray<{ readonly field: FacetField; readonly value: string; readonly count: number }> | null
}

/** The values of each field of a run `r` as a list, and none where the run has no value. */
const FACETS: Readonly<Record<FacetField, string>> = {
  status: "ARRAY[r.status]",
  scenario: "ARRAY[r.scenario]",
  sourceRef: "ARRAY[r.source_ref]",
  environment: "ARRAY[r.environment]",
  policyVersion: "ARRAY[r.policy_version]",
  errorCode: "ARRAY[r.error_code]",
  tags: "r.tags"
}

const countFacets = (sql: PgClient.PgClient, where: Fragment, fields: ReadonlyArray<FacetField>) => {
  const values = fields.map((field) => `('${field}', ${FACETS[field]})`).join(", ")
  return sql<FacetCounts>`
    WITH found AS MATERIALIZED (
      SELECT r.status, ${sql.literal(SCENARIO)} AS scenario, r.source_ref, r.environment, r.policy_version, r.error_code,
             r.tags
      FROM runs r WHERE ${where}),
    counted AS (
      SELECT f.field, v.value, count(*)::int AS count
      FROM found r CROSS JOIN LATERAL (VALUES ${sql.literal(values || "(NULL, NULL::text[])")}) AS f (field, members)
           CROSS JOIN LATERAL unnest(f.members) AS v (value)
      WHERE v.value IS NOT NULL GROUP BY 1, 2),
    ranked AS (
      SELECT *, row_number() OVER (PARTITION BY field ORDER BY count DESC, value COLLATE "C") AS position FROM counted)
    SELECT (SELECT count(*)::int FROM found) AS total,
           (SELECT json_agg(json_build_object('field', field, 'value', value, 'count', count) ORDER BY position)
            FROM ranked WHERE position <= ${MAX_FACET_VALUES}) AS counts`
}

interface ListedRow extends RunRow {
  /** JSON. */
  readonly extra?: string | null
}

/** The record of a run, with what a feature adds to it. */
const textWith =
  (of: RunExtra | undefined) =>
  (row: ListedRow): string => {
    const text = publicRunText(row)
    const { extra = null } = row
    return of === undefined || extra === null ? text : `${text.slice(0, -1)},"${of.include}":${extra}}`
  }

interface RunPosition {
  readonly id: string
  readonly sort_value: string
}

interface Total {
  readonly total: number
}

interface SortKey {
  /** The column of runs; undefined for the figures, which have a table of their own. */
  readonly column?: string
  /** Its type in the database. */
  readonly type: string
  /** The value of `page.sort_value` as a cursor has it. */
  readonly text: string
  readonly isValue: (text: string) => boolean
}

const timeKey = (column: string): SortKey => ({
  column,
  type: "timestamptz",
  text: `to_char(page.sort_value AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
  isValue: (text) => isPositionValue.time(text) && parseIsoDate(text) !== undefined
})
const numberKey: SortKey = { type: "numeric", text: "page.sort_value::text", isValue: isPositionValue.number }

const SORT_KEYS: Readonly<Record<RunSortKey, SortKey>> = {
  createdAt: timeKey("r.created_at"),
  updatedAt: timeKey("r.updated_at"),
  duration: { ...numberKey, column: DURATION },
  cost: numberKey,
  tokens: numberKey,
  events: { ...numberKey, type: "int", isValue: isPositionValue.integer }
}

/** Numbers as doubles have an exponent in their text. */
const markKey: SortKey = {
  type: "float8",
  text: "page.sort_value::text",
  isValue: (text) => text === "-Infinity" || Number.isFinite(Number(text || "none"))
}

const markNameOf = (sort: RunSort): string | undefined => (isRunSortKey(sort) ? undefined : sort.slice("mark.".length))

const isRunSortKey = (sort: RunSort): sort is RunSortKey => Object.hasOwn(SORT_KEYS, sort)

const sortKeyOf = (sort: RunSort): SortKey => (isRunSortKey(sort) ? SORT_KEYS[sort] : markKey)

/**
 * The latest current mark of each run as a number: false is 0 and true is 1, a category is its position in the
 * definition, from 1. Other texts have none.
 */
const latestMarks = (sql: PgClient.PgClient, name: string): Fragment => sql`
  SELECT DISTINCT ON (m.run_id) m.run_id, coalesce(
           m.number, m.flag::int,
           (SELECT min(c.position) FROM mark_definitions d,
              json_array_elements_text(d.definition -> 'categories') WITH ORDINALITY AS c (category, position)
            WHERE d.name = m.name AND c.category = m.category))::float8 AS sort_value
  FROM marks m WHERE m.name = ${name} AND m.replaced_by IS NULL AND m.deleted_at IS NULL
  ORDER BY m.run_id, m.created_at DESC, m.id DESC`

const isPosition = (sort: RunSort, position: Position | undefined): boolean =>
  position !== undefined && isUuid(position.id) && sortKeyOf(sort).isValue(position.value)

/**
 * Whether the query filters only by status and archival: those runs are counted already
 * (docs/reference/events.md#tallies).
 */
const isTallied = (query: RunListQuery): boolean =>
  [query.createdAfter, query.createdBefore, query.environment, query.scenarioRef, query.search, query.q].every(
    (filter) => filter === undefined
  ) && (query.tags ?? []).length === 0
