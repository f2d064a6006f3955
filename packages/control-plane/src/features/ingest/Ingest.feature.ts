import type { Feature } from "../../Feature.ts"
import * as Ingest from "./Ingest.ts"
import { makeSpanDeletion } from "./SpanDeletion.ts"
import { telemetrySearchFields } from "./TelemetrySearchFields.ts"

/** Spans and log records of OpenTelemetry become runs (docs/reference/ingest.md). */
export const ingest = {
  name: "ingest",
  tables: ["deleted_traces", "otlp_calls", "otlp_inbox", "otlp_seen", "otlp_traces", "telemetry_token_key"],
  onRunsDeleted: makeSpanDeletion,
  searchFields: telemetrySearchFields,
  layer: Ingest.layer
} satisfies Feature
