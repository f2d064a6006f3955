import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { summary } from "../openapi/Describe.ts"

/** Whether the runtime answers (http-details sections 10 and 13.4). */
export const RuntimeHealth = Schema.Struct({
  ok: Schema.Boolean,
  runtimeKind: Schema.String,
  detail: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "RuntimeHealth" })

const checks = {
  database: Schema.Literals(["ok", "unhealthy"]),
  runtime: RuntimeHealth,
  streamConsumer: Schema.Literals(["ok", "unhealthy"]),
  circuitBreaker: Schema.Literals(["CLOSED", "OPEN", "HALF_OPEN"])
}

/** The answer of `GET /readyz`: the checks, and the same values flat for older readers (http-details section 13.4). */
export const Readiness = Schema.Struct({
  status: Schema.Literals(["ok", "degraded"]),
  checks: Schema.Struct(checks),
  ok: Schema.Boolean,
  ...checks
}).annotate({ identifier: "Readiness", description: "Whether everything the service depends on works" })
export type Readiness = typeof Readiness.Type

/** `text/plain` in the Prometheus exposition format 0.0.4. */
export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** Probes and metrics: public and never throttled. */
export class HealthGroup extends HttpApiGroup.make("health").add(
  HttpApiEndpoint.get("healthz", "/healthz", {
    success: Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Health" })
  }).annotateMerge(summary("Whether the process answers")),
  HttpApiEndpoint.get("readyz", "/readyz", { success: Readiness }).annotateMerge(
    summary("Whether the dependencies work; always 200")
  ),
  HttpApiEndpoint.get("metrics", "/metrics", {
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: METRICS_CONTENT_TYPE }))
  }).annotateMerge(summary("Metrics of the process"))
) {}
