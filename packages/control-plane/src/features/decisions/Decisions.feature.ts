import type { Feature } from "../../Feature.ts"
import { makeDecisionDeletion } from "./DecisionDeletion.ts"
import { makeDecisionErasure } from "./DecisionErasure.ts"
import * as DecisionLoop from "./DecisionLoop.ts"
import { decisionSearchFields } from "./DecisionSearchFields.ts"
import { listedDecisions } from "./ListedDecisions.ts"

/** The decision of each run, for lists and searches (docs/reference/runs.md#decision). */
export const decisions = {
  name: "decisions",
  tables: ["run_decision_changes", "run_decision_cursor", "run_decisions", "run_models"],
  onRunsDeleted: makeDecisionDeletion,
  onErasure: makeDecisionErasure,
  runExtras: listedDecisions,
  searchFields: decisionSearchFields,
  layer: DecisionLoop.layer
} satisfies Feature
