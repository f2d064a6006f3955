import { telemetryOfRun } from "@runplane/api"
import type { SearchFields } from "../../platform/postgres/search/SearchFields.ts"
import { labelled } from "../../queries/runs/RunLabels.ts"

/** The metadata of a run of telemetry that each of its fields searches. */
const METADATA: Readonly<Record<keyof typeof telemetryOfRun, ReadonlyArray<string>>> = {
  source: ["source"],
  conversation: ["conversationId"],
  framework: ["framework"],
  prompt: ["promptName", "promptVersion", "promptHash"]
}

/** What the spans of a run say, as fields of searches. */
export const telemetrySearchFields: SearchFields = {
  runs: Object.values(telemetryOfRun).map((field) => ({
    field,
    column: (sql) => labelled(sql, ...METADATA[field.name])
  }))
}
