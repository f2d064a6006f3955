import { about } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { operation } from "../openapi/Describe.ts"

/** `text/plain` in the Prometheus exposition format 0.0.4. */
export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

/** `GET /livez` of both services (docs/reference/admin.md#readiness). */
export const livez = HttpApiEndpoint.get("livez", "/livez", {
  success: Schema.Struct({ status: Schema.Literal("ok").annotate({ description: "Always ok" }) }).annotate({
    identifier: "Liveness",
    description: "The process answers"
  })
}).annotateMerge(
  operation({
    id: "getLiveness",
    access: "public",
    summary: "Check that the process lives",
    description: "Checks nothing else, needs no key. A platform restarts a process that does not answer."
  })
)

/** The query of `GET /readyz`: a value other than `true` is not strict, so no probe fails because of its spelling. */
export const readyzQuery = {
  strict: Schema.optionalKey(
    Schema.Union([Schema.String, Schema.Array(Schema.String)]).annotate(
      about("true answers 503 instead of 200 when degraded or stopping", "true")
    )
  )
}

/** `GET /metrics` of both services (docs/reference/admin.md#metrics-endpoint). */
export const metrics = HttpApiEndpoint.get("metrics", "/metrics", {
  success: Schema.String.pipe(HttpApiSchema.asText({ contentType: METRICS_CONTENT_TYPE }))
}).annotateMerge(
  operation({
    id: "getMetrics",
    access: "public",
    summary: "Read the metrics of the process",
    description: "In the Prometheus text format 0.0.4."
  })
)
