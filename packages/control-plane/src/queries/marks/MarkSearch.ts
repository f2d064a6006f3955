import * as PgClient from "@effect/sql-pg/PgClient"
import { type MarksQuery, markQueryFields } from "@runplane/api"
import { parseQuery } from "@runplane/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { SqlError } from "effect/sql/SqlError"
import { marksOfIds, toMark } from "../../marks/MarkRows.ts"
import type { TextPage } from "../../platform/http/JsonAnswer.ts"
import { pageText, type RowId, readPage } from "../../platform/http/ListPage.ts"
import { shareReads } from "../../platform/postgres/SharedRead.ts"
import { type ColumnType, conditionOf, type QueryMeaning } from "../../platform/postgres/search/QueryConditions.ts"
import { SearchBudget, type SearchFailure } from "../../platform/postgres/search/SearchBudget.ts"

const COLUMNS: Readonly<Record<string, readonly [type: ColumnType, column: string]>> = {
  id: ["uuid", "m.id"],
  run: ["uuid", "m.run_id"],
  kind: ["text", "m.target_kind"],
  target: ["text", "m.target_id"],
  index: ["integer", "m.index"],
  name: ["text", "m.name"],
  source: ["text", "m.source"],
  author: ["text", "m.author"],
  authorName: ["text", "m.author_name"],
  judge: ["text", "m.judge_name"],
  model: ["text", "m.judge_model"],
  promptHash: ["text", "m.judge_prompt_hash"],
  comment: ["text", "m.comment"],
  createdAt: ["time", "m.created_at"]
}

/** What the fields of `markQueryFields` mean for a row of `marks` with the name `m`. */
const markMeaning = (sql: PgClient.PgClient): QueryMeaning => ({
  column: (field) => {
    if (field === "value") return { type: "value", where: (test) => test(sql`m`), has: () => sql`true` }
    const plain = COLUMNS[field]
    if (plain === undefined) throw new Error(`the field ${field} of marks has no column`)
    return { type: plain[0], where: (test) => test(sql.literal(plain[1])) }
  },
  search: (text) => {
    const part = `%${text.replace(/[\\%_]/g, "\\$&")}%`
    const texts = sql`concat_ws(E'\n', m.name, m.category, m.comment, m.author, m.author_name, m.judge_name, m.target_id)`
    return sql`fold_text(${texts}) LIKE fold_text(${part}::text)`
  }
})

/** Current marks of all runs, the newest first (docs/reference/marks.md#reading). */
export class MarkSearch extends Context.Service<
  MarkSearch,
  {
    /** A `MarkPage` as text, which is read while it is sent. */
    readonly list: (query: MarksQuery) => Effect.Effect<TextPage<SqlError>, SqlError | SearchFailure>
  }
>()("runplane/control-plane/MarkSearch") {
  static readonly layer = Layer.effect(
    MarkSearch,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const budget = yield* SearchBudget
      const meaning = markMeaning(sql)

      const list = Effect.fn("MarkSearch.list")(function* ({ limit, offset, q }: MarksQuery) {
        // The request was validated, so the query parses.
        const search =
          q === undefined ? undefined : yield* Effect.orDie(Effect.fromResult(parseQuery(q, markQueryFields)))
        const where = sql.and([
          sql`m.replaced_by IS NULL`,
          sql`m.deleted_at IS NULL`,
          ...(search === undefined ? [] : [conditionOf(sql, search, meaning)])
        ])
        const from = sql`marks m`
        const order = sql`m.created_at DESC, m.id DESC`
        const list = { columns: sql`m.id::text AS id`, from, where, order, limit, offset }
        const page = yield* budget.inTurn(budget.limited(readPage<RowId>(sql, list, 1)))
        return yield* pageText(page, { limit, offset }, marksOfIds(sql), (row) => JSON.stringify(toMark(row)))
      })
      // A search counts against the budget of its caller.
      return MarkSearch.of({ list: yield* shareReads(list, (query, client) => `${client} ${JSON.stringify(query)}`) })
    })
  )
}
