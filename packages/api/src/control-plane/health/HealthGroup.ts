import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { operation, tag } from "../../openapi/Describe.ts"
import { livez, metrics, readyzQuery } from "../../service/Probes.ts"

/** Whether the runtime answers. */
export const RuntimeHealth = Schema.Struct({
  ok: Field.flag("Whether the runtime answers"),
  runtimeKind: Field.text("Kind of the runtime", "rust"),
  detail: Schema.optionalKey(Field.text("Where it is, or why it does not answer"))
}).annotate({ identifier: "RuntimeHealth", description: "State of the runtime" })

/** Whether events are stored as they come. */
export const LogHealth = Schema.Struct({
  ok: Field.flag("Whether events are stored as they come"),
  detail: Field.text("What waits, and for what", "")
}).annotate({ identifier: "LogHealth", description: "How long writers wait for the log" })

/** The background loops of the process. */
export const LoopHealth = Schema.Struct({
  ok: Field.flag("Whether every background loop turns in time"),
  detail: Field.text("The loops that are late, and those that fail; empty when there are none", "")
}).annotate({ identifier: "LoopHealth", description: "Whether the background loops of the process turn" })

/** Received telemetry that no run has yet. */
export const IngestHealth = Schema.Struct({
  waiting: Field.integer("Spans and log records that wait for their runs, of all processes"),
  waitingBytes: Field.integer("Bytes of these; beyond `OTLP_INBOX_BYTES` exporters get 503"),
  limitBytes: Field.integer("`OTLP_INBOX_BYTES`", 67_108_864),
  lagSeconds: Field.number("How long the oldest of these has waited"),
  grpc: Schema.optionalKey(Field.text("Where exports are received by gRPC, or why they are not", "127.0.0.1:4317")),
  received: Field.integer("Spans and log records that this process has received since it started"),
  rejected: Field.integer("Those that it has rejected"),
  duplicates: Field.integer("Those that the span inbox had already")
}).annotate({ identifier: "IngestHealth", description: "Telemetry that waits for its runs" })
export type IngestHealth = typeof IngestHealth.Type

/** The archive of the database. */
export const ArchiveHealth = Schema.Struct({
  ok: Field.flag("Whether files are written"),
  detail: Field.text("Why not, and since when; empty when they are", ""),
  lagSeconds: Field.number("How long the oldest event has waited for its file")
}).annotate({ identifier: "ArchiveHealth", description: "State of the archive; absent without `ARCHIVE_URL`" })
export type ArchiveHealth = typeof ArchiveHealth.Type

const checks = {
  database: Schema.Literals(["ok", "unhealthy"]).annotate({ description: "Whether the database answers" }),
  log: LogHealth,
  runtime: RuntimeHealth,
  streamConsumer: Schema.Literals(["ok", "unhealthy"]).annotate({
    description: "unhealthy while a run's stream is neither connected nor about to be"
  }),
  circuitBreaker: Schema.Literals(["CLOSED", "OPEN", "HALF_OPEN"]).annotate({
    description: "State of the breaker in front of the runtime"
  }),
  loops: Schema.optionalKey(LoopHealth),
  recovery: Schema.optionalKey(
    Field.text("Progress of the adoption of unfinished runs, while it goes on", "adopting 120 of 2000")
  )
}

/**
 * The answer of `GET /readyz`: the checks, and the same values flat for older readers
 * (docs/reference/admin.md#readiness).
 */
const readiness = {
  status: Schema.Literals(["ok", "degraded"]).annotate({ description: "degraded when a check fails" }),
  checks: Schema.Struct(checks).annotate({ description: "The single checks" }),
  ok: Field.flag("Whether status is ok; this and the following repeat the checks for older readers"),
  ...checks,
  ingest: Schema.optionalKey(IngestHealth),
  archive: Schema.optionalKey(ArchiveHealth),
  stopping: Schema.optionalKey(Field.flag("true once the service has begun to stop"))
}

/** Whether everything the service depends on works. */
export const Readiness = Schema.Struct(readiness).annotate({
  identifier: "Readiness",
  description: "Whether everything the service depends on works"
})
export type Readiness = typeof Readiness.Type

/** The same answer to a strict probe of a service that is degraded or stopping. */
const NotReady = Schema.Struct(readiness)
  .annotate({ identifier: "NotReady", description: "Answered to a strict probe" })
  .pipe(HttpApiSchema.status(503))

/** Probes and metrics: public and never throttled. */
export class HealthGroup extends HttpApiGroup.make("health")
  .add(
    HttpApiEndpoint.get("healthz", "/healthz", {
      success: Schema.Struct({ status: Schema.Literal("ok").annotate({ description: "Always ok" }) }).annotate({
        identifier: "Health",
        description: "The process answers"
      })
    }).annotateMerge(
      operation({
        id: "getHealth",
        access: "public",
        summary: "Check that the process answers",
        description: "A liveness probe: checks nothing else."
      })
    ),
    livez,
    HttpApiEndpoint.get("readyz", "/readyz", { query: readyzQuery, success: [Readiness, NotReady] }).annotateMerge(
      operation({
        id: "getReadiness",
        access: "public",
        summary: "Check that the dependencies work",
        description:
          "200 also when degraded, unless strict is true: `status` is `ok` or `degraded`, and `checks` says why."
      })
    ),
    metrics
  )
  .annotateMerge(tag("Health", "Probes and metrics: public, and never throttled")) {}
