import { type DescribedField, fast } from "../query/DescribedField.ts"

/** The alerts of a run, as a field of its searches (docs/reference/alerts.md). */
export const alertOfRun = {
  ...{ name: "alert", type: "keyword", ...fast },
  description: "Id or name of an alert rule that fired for it"
} as const satisfies DescribedField
