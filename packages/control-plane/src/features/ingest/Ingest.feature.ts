import type { Feature } from "../../Feature.ts"
import * as Ingest from "./Ingest.ts"

/** Spans and log records of OpenTelemetry become runs (docs/reference/ingest.md). */
export const ingest = {
  name: "ingest",
  tables: ["otlp_calls", "otlp_inbox", "otlp_seen", "otlp_traces", "telemetry_token_key"],
  layer: Ingest.layer
} satisfies Feature
