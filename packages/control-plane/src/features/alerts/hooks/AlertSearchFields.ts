import { alertOfRun } from "@runplane/api"
import type { SearchFields } from "../../../platform/postgres/search/SearchFields.ts"

/** `alert:` in searches: the runs that a rule has fired for, by the id of the rule or its present name. */
export const alertSearchFields: SearchFields = {
  runs: [
    {
      field: alertOfRun,
      column: (sql) => ({
        type: "text",
        where: (test) => sql`
          r.id IN (SELECT f.run_id FROM alert_firings f WHERE f.run_id IS NOT NULL AND ${test(sql`f.rule_id`)}
                   UNION ALL
                   SELECT f.run_id FROM alert_rules u JOIN alert_firings f ON f.rule_id = u.id
                   WHERE f.run_id IS NOT NULL AND ${test(sql`(u.rule ->> 'name')`)})`
      })
    }
  ]
}
