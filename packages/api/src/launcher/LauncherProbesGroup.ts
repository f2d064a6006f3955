import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { operation, tag } from "../openapi/Describe.ts"
import { livez, metrics, readyzQuery } from "../service/Probes.ts"

const Check = Schema.Struct({
  ok: Field.flag("Whether it works"),
  detail: Field.text("What it is, or why it does not work")
}).annotate({ identifier: "LauncherCheck", description: "One thing that the launch service depends on" })

const readiness = {
  status: Schema.Literals(["ok", "degraded"]).annotate({ description: "degraded when a check fails" }),
  ok: Field.flag("Whether status is ok"),
  stopping: Schema.optionalKey(Field.flag("true once the service has begun to stop")),
  checks: Schema.Struct({
    catalog: Check,
    loops: Schema.optionalKey(Check),
    controlPlane: Schema.optionalKey(Check),
    database: Schema.optionalKey(Check),
    launchedRuns: Schema.optionalKey(Check)
  }).annotate({
    description:
      "Of the scenario packs, of the background loops, of the control plane and of the database of the seats when they are configured, and of launched runs while the control plane does not have them"
  })
}

/** Whether the launch service can launch. */
export const LauncherReadiness = Schema.Struct(readiness).annotate({
  identifier: "LauncherReadiness",
  description: "Whether everything the service depends on works"
})
export type LauncherReadiness = typeof LauncherReadiness.Type

const LauncherNotReady = Schema.Struct(readiness)
  .annotate({ identifier: "LauncherNotReady", description: "Answered to a strict probe" })
  .pipe(HttpApiSchema.status(503))

/** The probes of a platform: without key, never throttled. */
export class LauncherProbesGroup extends HttpApiGroup.make("probes")
  .add(
    livez,
    HttpApiEndpoint.get("readyz", "/readyz", {
      query: readyzQuery,
      success: [LauncherReadiness, LauncherNotReady]
    }).annotateMerge(
      operation({
        id: "getReadiness",
        access: "public",
        summary: "Check that the service can launch",
        description: "200 also when degraded, unless strict is true. Needs no key."
      })
    ),
    metrics
  )
  .annotateMerge(tag("Health")) {}
