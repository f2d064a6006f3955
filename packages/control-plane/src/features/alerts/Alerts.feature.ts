import type { Feature } from "../../Feature.ts"
import * as AlertLoop from "./AlertLoop.ts"
import { makeBudgetAdmission } from "./budgets/BudgetAdmission.ts"
import { makeFiringExpiry } from "./FiringExpiry.ts"

/** Rules over the log, their firings and commands (docs/reference/alerts.md). */
export const alerts = {
  name: "alerts",
  tables: [
    "alert_amounts",
    "alert_claimed_runs",
    "alert_commands",
    "alert_counters",
    "alert_cursor",
    "alert_deadlines",
    "alert_deleted_runs",
    "alert_firings",
    "alert_marks",
    "alert_memories",
    "alert_paces",
    "alert_reservations",
    "alert_rules",
    "alert_silences"
  ],
  admission: makeBudgetAdmission,
  expiry: makeFiringExpiry,
  layer: AlertLoop.layer
} satisfies Feature
