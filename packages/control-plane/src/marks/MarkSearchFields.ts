import { markOfEvent, markOfRun } from "@runplane/api"
import type { SearchFields } from "../platform/postgres/search/SearchFields.ts"
import { isCurrentMark } from "./CurrentMark.ts"

/** `mark.<name>` in searches: the value of a current mark, or any mark for `has:mark`. */
export const markSearchFields: SearchFields = {
  runs: [
    {
      field: markOfRun,
      column: (sql, name) => ({
        type: "value",
        where: (test) => sql`
          r.id IN (SELECT m.run_id FROM marks m WHERE ${isCurrentMark(sql, name)} AND ${test(sql`m`)})`,
        has: () => sql`true`
      })
    }
  ],
  events: [
    {
      field: markOfEvent,
      column: (sql, name) => ({
        type: "value",
        where: (test) => sql`
          (e.run_id, e.index) IN (SELECT m.run_id, m.index FROM marks m
                                  WHERE ${isCurrentMark(sql, name)} AND m.index IS NOT NULL AND ${test(sql`m`)})`,
        has: () => sql`true`
      })
    }
  ]
}
