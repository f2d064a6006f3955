import { RunMetrics, RunState } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { BadRequest, Conflict, NotFound, runtimeErrors } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription, summary } from "../openapi/Describe.ts"
import { RunReference } from "../validation/Params.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { Run, RunAccepted, RunPage, RunValidation } from "./Run.ts"
import { Artifact, OutboundMessage } from "./RunRecords.ts"
import { reasonRule, runDescriptorRule, runListQuery } from "./RunRequests.ts"

const id = { id: RunReference }
const created = HttpApiSchema.status(201)

const lifecycle = <const Name extends "cancel" | "suspend" | "resume">(name: Name, text: string) =>
  HttpApiEndpoint.post(name, `/runs/:id/${name}`, {
    params: id,
    payload: bodySchema(reasonRule),
    success: Run.pipe(created),
    error: [BadRequest, NotFound, Conflict, ...runtimeErrors]
  }).annotateMerge(requestDescription({ summary: text, body: { name: "Reason", rule: reasonRule } }))

/** Runs: creation, reading and life-cycle (run-control-plane "Endpoints", "Runs"). */
export class RunsGroup extends HttpApiGroup.make("runs")
  .add(
    HttpApiEndpoint.post("create", "/runs", {
      payload: bodySchema(runDescriptorRule),
      success: RunAccepted.pipe(HttpApiSchema.status(202)),
      error: [BadRequest, Conflict]
    }).annotateMerge(
      requestDescription({
        summary: "Create a run and start watching its session",
        body: { name: "RunDescriptor", rule: runDescriptorRule }
      })
    ),
    HttpApiEndpoint.post("validate", "/runs/validate", {
      payload: bodySchema(runDescriptorRule),
      success: RunValidation.pipe(created)
    }).annotateMerge(
      requestDescription({
        summary: "Check a descriptor without creating anything",
        body: { name: "RunDescriptor", rule: runDescriptorRule }
      })
    ),
    HttpApiEndpoint.get("list", "/runs", { query: runListQuery.schema, success: RunPage }).annotateMerge(
      requestDescription({ summary: "List runs", query: runListQuery.rule })
    ),
    HttpApiEndpoint.get("get", "/runs/:id", { params: id, success: Run, error: NotFound }).annotateMerge(
      summary("Read one run")
    ),
    HttpApiEndpoint.get("state", "/runs/:id/state", { params: id, success: RunState, error: NotFound }).annotateMerge(
      summary("Read the projected state of a run")
    ),
    HttpApiEndpoint.get("metrics", "/runs/:id/metrics", {
      params: id,
      success: RunMetrics,
      error: NotFound
    }).annotateMerge(summary("Read the counters of a run")),
    HttpApiEndpoint.get("artifacts", "/runs/:id/artifacts", {
      params: id,
      success: Schema.Array(Artifact),
      error: NotFound
    }).annotateMerge(summary("List the artifacts of a run")),
    HttpApiEndpoint.get("messages", "/runs/:id/messages", {
      params: id,
      success: Schema.Array(OutboundMessage),
      error: NotFound
    }).annotateMerge(summary("List the messages captured from the runtime stream")),
    lifecycle("cancel", "Cancel a run"),
    lifecycle("suspend", "Suspend a running run"),
    lifecycle("resume", "Resume a suspended run")
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
