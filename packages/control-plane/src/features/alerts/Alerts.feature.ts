import type { Feature } from "../../Feature.ts"
import * as AlertLoop from "./AlertLoop.ts"
import { AlertsHttp } from "./Alerts.ts"
import { makeBudgetAdmission } from "./budgets/BudgetAdmission.ts"
import { makeFiringExpiry } from "./FiringExpiry.ts"
import { makeAlertDeletion } from "./hooks/AlertDeletion.ts"
import { makeAlertErasure } from "./hooks/AlertErasure.ts"
import { makeAlertEvidence } from "./hooks/AlertEvidence.ts"
import { alertSearchFields } from "./hooks/AlertSearchFields.ts"
import { makeClaimNotes } from "./hooks/ClaimNotes.ts"
import { makeMarkValues } from "./hooks/MarkValues.ts"

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
  onRunsDeleted: makeAlertDeletion,
  onErasure: makeAlertErasure,
  onClaim: makeClaimNotes,
  onMark: makeMarkValues,
  admission: makeBudgetAdmission,
  expiry: makeFiringExpiry,
  searchFields: alertSearchFields,
  evidence: makeAlertEvidence,
  layer: AlertLoop.layer,
  routes: AlertsHttp
} satisfies Feature
