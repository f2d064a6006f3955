import * as PgClient from "@effect/sql-pg/PgClient"
import {
  MAX_COMPARED_MARKS,
  MAX_MARK_PAIRS,
  type MarkAgreementQuery,
  type MarkAgreements,
  type MarkPair
} from "@runplane/api"
import {
  COMMENT,
  type GroupAgreement,
  groupAgreement,
  LEAST_ALPHA_RATERS,
  MarkDefinition,
  type MarkValue,
  type RatedValues,
  raterAgreement
} from "@runplane/domain"
import { inSlices } from "@runplane/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { shareReads } from "../../platform/postgres/SharedRead.ts"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"
import { RunMeaning, runsFound } from "../runs/RunSearch.ts"

/** Targets that got these two values of two raters. */
interface JointRow {
  readonly name: string
  readonly left: string
  readonly right: string
  readonly left_number: number | null
  readonly left_flag: boolean | null
  readonly left_category: string | null
  readonly right_number: number | null
  readonly right_flag: boolean | null
  readonly right_category: string | null
  readonly count: number
}

/** A value of a target that at least two raters rated, and how many of them gave it. */
interface TargetRow {
  readonly name: string
  /** Of all such targets of the name. */
  readonly raters: number
  readonly target: bigint
  readonly number: number | null
  readonly flag: boolean | null
  readonly category: string | null
  readonly count: number
}

/** Agreement of raters about each name (docs/reference/marks.md#agreement). */
export class MarkAgreementReport extends Context.Service<
  MarkAgreementReport,
  {
    readonly report: (query: MarkAgreementQuery) => Effect.Effect<MarkAgreements, SqlError | SearchFailure>
  }
>()("runplane/control-plane/MarkAgreementReport") {
  static readonly layer = Layer.effect(
    MarkAgreementReport,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const meaning = yield* RunMeaning

      /** The latest marks of both sources, at most one more than are compared. */
      const compared = ({ name, q, since, sources }: MarkAgreementQuery) => sql`
        SELECT m.id, m.name, m.run_id, m.target_kind, coalesce(m.target_id, '') AS target_id, m.source, m.number, m.flag,
               m.category, m.created_at,
               CASE WHEN m.source = 'judge' THEN 'judge:' || coalesce(m.judge_name, '')
                    WHEN ${sources[0] === sources[1]}::boolean THEN m.source || ':' || m.author
                    ELSE m.source END AS rater
        FROM marks m
        WHERE m.replaced_by IS NULL AND m.deleted_at IS NULL AND m.source = ANY(${sources}::text[])
          AND m.name <> ${COMMENT} AND ${name === undefined ? sql`true` : sql`m.name = ${name}`}
          AND ${since === undefined ? sql`true` : sql`m.created_at >= ${since}::timestamptz`}
          AND ${runsFound(sql, meaning, q, sql`m.run_id`)}
        ORDER BY m.created_at DESC, m.id DESC LIMIT ${BigInt(MAX_COMPARED_MARKS + 1)}`

      /** Of several marks of one rater on a target, the latest counts. */
      const rated = (query: MarkAgreementQuery) => sql`
        compared AS MATERIALIZED (${compared(query)}), rated AS MATERIALIZED (
          SELECT DISTINCT ON (name, run_id, target_kind, target_id, rater) * FROM compared
          ORDER BY name, run_id, target_kind, target_id, rater, created_at DESC, id DESC
        )`

      const joint = (query: MarkAgreementQuery) => {
        const [left = "", right = ""] = query.sources
        return sql<JointRow & { readonly compared: number }>`
          WITH ${rated(query)}
          SELECT (SELECT count(*)::int FROM compared) AS compared, l.name, l.rater AS left, r.rater AS right,
                 l.number AS left_number, l.flag AS left_flag, l.category AS left_category,
                 r.number AS right_number, r.flag AS right_flag, r.category AS right_category, count(*)::int AS count
          FROM rated l JOIN rated r USING (name, run_id, target_kind, target_id)
          WHERE l.source = ${left} AND r.source = ${right}
            AND ${left === right ? sql`l.rater < r.rater` : sql`true`}
          GROUP BY 2, 3, 4, 5, 6, 7, 8, 9, 10`
      }

      /** The values of the targets that at least two raters rated, target by target. */
      const ofTargets = (query: MarkAgreementQuery, names: ReadonlyArray<string>) => sql<TargetRow>`
        WITH ${rated(query)}, several AS MATERIALIZED (
          SELECT * FROM (
            SELECT *, count(*) OVER (PARTITION BY name, run_id, target_kind, target_id) AS ratings,
                   dense_rank() OVER (ORDER BY name, run_id, target_kind, target_id) AS target
            FROM rated WHERE name = ANY(${names}::text[])
          ) AS counted WHERE ratings > 1
        ), raters AS (SELECT name, count(DISTINCT rater)::int AS raters FROM several GROUP BY name)
        SELECT name, raters, target, number, flag, category, count(*)::int AS count
        FROM several JOIN raters USING (name)
        GROUP BY name, raters, target, number, flag, category ORDER BY target`

      const definitionsOf = (names: ReadonlyArray<string>) =>
        Effect.map(
          sql<{ readonly name: string; readonly definition: string }>`
            SELECT name, definition::text AS definition FROM mark_definitions WHERE name = ANY(${names}::text[])`,
          (rows) => new Map(rows.map(({ definition, name }) => [name, decodeDefinition(definition)]))
        )

      /** The agreement of all raters together, of the names that more than two raters share. */
      const groupsOf = Effect.fnUntraced(function* (
        query: MarkAgreementQuery,
        rows: ReadonlyArray<JointRow>,
        definitions: ReadonlyMap<string, MarkDefinition>
      ) {
        const found = new Map<string, GroupAgreement>()
        const byName = Map.groupBy(rows, ({ name }) => name)
        const names = [...byName].flatMap(([name, pairs]) =>
          new Set(pairs.flatMap(({ left, right }) => [left, right])).size >= LEAST_ALPHA_RATERS ? [name] : []
        )
        if (names.length === 0) return found
        const ratings = yield* budget.inTurn(budget.limited(ofTargets(query, names)))
        for (const [name, own] of Map.groupBy(ratings, (row) => row.name)) {
          const targets = [...Map.groupBy(own, ({ target }) => target).values()].map((target) =>
            target.map(({ category, count, flag, number }) => ({ value: number ?? flag ?? category ?? "", count }))
          )
          const alpha = yield* inSlices(groupAgreement(own[0]?.raters ?? 0, targets, definitions.get(name) ?? { name }))
          if (alpha !== undefined) found.set(name, alpha)
        }
        return found
      })

      const report = Effect.fn("MarkAgreementReport.report")(function* (query: MarkAgreementQuery) {
        const rows = yield* budget.inTurn(budget.limited(joint(query)))
        const names = [...new Set(rows.map(({ name }) => name))]
        const definitions = yield* definitionsOf(names)
        const groups = yield* groupsOf(query, rows, definitions)
        const raters = new Map<string, { name: string; left: string; right: string; rated: Array<RatedValues> }>()
        for (const row of rows) {
          const { count, left, name, right } = row
          const key = JSON.stringify([name, left, right])
          const known = raters.get(key) ?? { name, left, right, rated: [] }
          known.rated.push({ left: ratedValue(row, "left"), right: ratedValue(row, "right"), count })
          raters.set(key, known)
        }
        const pairs = Array.from(raters.values(), ({ left, name, rated, right }) => {
          const pair: MarkPair = { left, right, ...raterAgreement(rated, definitions.get(name) ?? { name }) }
          return { name, pair }
        }).toSorted((one, other) => other.pair.n - one.pair.n)
        const shown = pairs.slice(0, MAX_MARK_PAIRS)
        const data = names.toSorted().flatMap((name) => {
          const own = shown.flatMap((one) => (one.name === name ? [one.pair] : []))
          const alpha = groups.get(name)
          return own.length === 0 ? [] : [{ name, pairs: own, ...(alpha !== undefined && { alpha }) }]
        })
        return { data, truncated: (rows[0]?.compared ?? 0) > MAX_COMPARED_MARKS || shown.length < pairs.length }
      })
      const keyOf = (query: MarkAgreementQuery, client: string) =>
        `${query.q === undefined ? "" : client} ${JSON.stringify(query)}`
      return MarkAgreementReport.of({ report: yield* shareReads(report, keyOf) })
    })
  )
}

const decodeDefinition = Schema.decodeUnknownSync(Schema.fromJsonString(MarkDefinition))

/** A current mark has one of the three. */
const ratedValue = (row: JointRow, side: "left" | "right"): MarkValue =>
  row[`${side}_number`] ?? row[`${side}_flag`] ?? row[`${side}_category`] ?? ""
