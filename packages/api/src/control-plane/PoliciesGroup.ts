import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { BadRequest, Conflict, NotFound, runtimeErrors } from "../errors/ControlPlaneErrors.ts"
import { Authorization } from "../middleware/Authorization.ts"
import { RateLimit } from "../middleware/RateLimit.ts"
import { RequestValidation } from "../middleware/RequestValidation.ts"
import { requestDescription, summary } from "../openapi/Describe.ts"
import { TextParam } from "../validation/Params.ts"
import { bodySchema } from "../validation/RequestSchema.ts"
import { policiesQuery, policyRegistrationRule } from "./PolicyRequests.ts"

/** A governance policy as the runtime's registry holds it (http-details section 11). */
export const PolicyDescriptor = Schema.Struct({
  policyId: Schema.String,
  mode: Schema.String,
  description: Schema.String,
  rules: Schema.JsonObject,
  schemaVersion: Schema.Int,
  registeredAtUnixMs: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "PolicyDescriptor", description: "A governance policy of the runtime's registry" })
export type PolicyDescriptor = typeof PolicyDescriptor.Type

export const PolicyRegistered = Schema.Struct({
  ok: Schema.Boolean,
  error: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "PolicyRegistered", description: "Whether the runtime took the policy, and why not" })
export type PolicyRegistered = typeof PolicyRegistered.Type

const failures = [BadRequest, NotFound, Conflict, ...runtimeErrors] as const

/** Governance policies, passed through to the runtime (run-control-plane "Runtime and policies"). */
export class PoliciesGroup extends HttpApiGroup.make("policies")
  .add(
    HttpApiEndpoint.post("register", "/runtime/policies", {
      payload: bodySchema(policyRegistrationRule),
      success: PolicyRegistered.pipe(HttpApiSchema.status(201)),
      error: failures
    }).annotateMerge(
      requestDescription({
        summary: "Register a policy",
        body: { name: "PolicyRegistration", rule: policyRegistrationRule }
      })
    ),
    HttpApiEndpoint.get("list", "/runtime/policies", {
      query: policiesQuery.schema,
      success: Schema.Array(PolicyDescriptor),
      error: failures
    }).annotateMerge(requestDescription({ summary: "List policies", query: policiesQuery.rule })),
    HttpApiEndpoint.get("get", "/runtime/policies/:policyId", {
      params: { policyId: TextParam },
      success: PolicyDescriptor,
      error: failures
    }).annotateMerge(summary("Read one policy")),
    HttpApiEndpoint.delete("unregister", "/runtime/policies/:policyId", {
      params: { policyId: TextParam },
      success: Schema.Struct({ ok: Schema.Literal(true) }).annotate({ identifier: "PolicyUnregistered" }),
      error: failures
    }).annotateMerge(summary("Remove a policy"))
  )
  .middleware(RequestValidation)
  .middleware(RateLimit)
  .middleware(Authorization) {}
