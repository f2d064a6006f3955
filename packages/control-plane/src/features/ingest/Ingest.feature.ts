import * as Layer from "effect/Layer"
import type { Feature } from "../../Feature.ts"
import { layerGrpcReceiver } from "./GrpcReceiver.ts"
import * as Ingest from "./Ingest.ts"
import { IngestHttp, layerExportErrors } from "./IngestHttp.ts"
import { makeIngestReady } from "./IngestReady.ts"
import { makeSpanDeletion } from "./SpanDeletion.ts"
import { makeSpanErasure } from "./SpanErasure.ts"
import { telemetrySearchFields } from "./TelemetrySearchFields.ts"

/** Spans and log records of OpenTelemetry become runs (docs/reference/ingest.md). */
export const ingest = {
  name: "ingest",
  tables: ["deleted_traces", "otlp_calls", "otlp_inbox", "otlp_seen", "otlp_traces", "telemetry_token_key"],
  onRunsDeleted: makeSpanDeletion,
  onErasure: makeSpanErasure,
  searchFields: telemetrySearchFields,
  layer: Ingest.layer,
  ready: makeIngestReady,
  routes: Layer.merge(IngestHttp, layerExportErrors),
  rawRoutes: layerGrpcReceiver
} satisfies Feature
