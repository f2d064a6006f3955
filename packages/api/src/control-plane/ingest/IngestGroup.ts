import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"

/** The media type of OTLP in protobuf; the other one is JSON. */
export const PROTOBUF_TYPE = "application/x-protobuf"

/** The paths that exporters of OpenTelemetry send to. */
export const EXPORT_PATHS: ReadonlySet<string> = new Set(["/v1/traces", "/v1/logs", "/v1/metrics"])

const protobuf = (description: string) =>
  Schema.Uint8Array.annotate({ description }).pipe(HttpApiSchema.asUint8Array({ contentType: PROTOBUF_TYPE }))

/** Exporters count what was rejected under a name of the signal. */
const partialSuccess = Schema.Struct({
  rejectedSpans: Schema.optionalKey(Schema.String.annotate({ description: "Number of rejected spans" })),
  rejectedLogRecords: Schema.optionalKey(Schema.String.annotate({ description: "Number of rejected log records" })),
  rejectedDataPoints: Schema.optionalKey(Schema.String.annotate({ description: "Number of rejected data points" })),
  errorMessage: Schema.optionalKey(Field.text("Why they were rejected", "1 span has a trace id of zeros"))
}).annotate({ description: "The part of the request that was rejected" })

/** The answer of an export; empty when everything was received. */
export const ExportAnswer = Schema.Struct({ partialSuccess: Schema.optionalKey(partialSuccess) }).annotate({
  identifier: "ExportAnswer",
  description: "The response message of OTLP in JSON"
})

const exportOf = (signal: "traces" | "logs" | "metrics", id: string, summary: string, description: string) =>
  HttpApiEndpoint.post(signal, `/v1/${signal}`, {
    payload: [
      protobuf("The request message of OTLP"),
      Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "The same message in the JSON of OTLP" })
    ],
    success: [protobuf("The response message of OTLP"), ExportAnswer],
    error: [
      Failure.UnreadableBody,
      Failure.IngestDisabled,
      Failure.PayloadTooLarge,
      Failure.UnsupportedMediaType,
      Failure.SpanInboxFull
    ]
  }).annotateMerge(operation({ id, access: "ingest", summary, description }))

/**
 * Spans and logs of applications that do not speak the protocol (docs/reference/ingest.md#endpoint). Bodies are read by
 * the handlers, because they may be compressed and are larger than others.
 */
export class IngestGroup extends HttpApiGroup.make("ingest")
  .add(
    exportOf(
      "traces",
      "exportTraces",
      "Send spans",
      "The OTLP/HTTP endpoint of spans, in protobuf or JSON, also compressed by gzip, deflate or zstd. 200 follows the commit; " +
        "a repeated span changes nothing. Errors of protobuf requests are a `Status` message in protobuf."
    ),
    exportOf(
      "logs",
      "exportLogs",
      "Send log records",
      "The OTLP/HTTP endpoint of log records, as of spans. A log record without a span belongs to the run of the session " +
        "that it names; one without both is rejected, in the partial success."
    ),
    exportOf(
      "metrics",
      "exportMetrics",
      "Send metrics",
      "Exporters with one base address also send metrics. They are not stored, and the first answer to a source says so."
    )
  )
  .annotateMerge(tag("Ingest", "OpenTelemetry: spans and log records become runs")) {}
