import { Field } from "@runplane/domain"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as Failure from "../../errors/ControlPlaneFailures.ts"
import { operation, tag } from "../../openapi/Describe.ts"
import { textParam } from "../../validation/Params.ts"
import { bodySchema } from "../../validation/RequestSchema.ts"
import { PolicyRegistration, policiesQuery } from "./PolicyRequests.ts"

/** A governance policy as the runtime's registry holds it. */
export const PolicyDescriptor = Schema.Struct({
  policyId: Field.text("Id of the policy", "policy.default"),
  mode: Field.text("Session mode it applies to; * for every mode", "macp.mode.decision.v1"),
  description: Field.text("What it is for; may be empty"),
  rules: Field.object("The rules; their keys depend on the mode"),
  schemaVersion: Field.integer("Version of the form of the rules: 1, 2 or 3", 3),
  registeredAtUnixMs: Schema.optionalKey(Field.integer("When it was registered, milliseconds since 1970"))
}).annotate({ identifier: "PolicyDescriptor", description: "A governance policy of the runtime's registry" })
export type PolicyDescriptor = typeof PolicyDescriptor.Type

export const PolicyRegistered = Schema.Struct({
  ok: Field.flag("Whether the runtime took the policy"),
  error: Schema.optionalKey(Field.text("Why it did not, in the runtime's words"))
}).annotate({ identifier: "PolicyRegistered", description: "Whether the runtime took the policy, and why not" })
export type PolicyRegistered = typeof PolicyRegistered.Type

const policyId = { policyId: textParam("Id of the policy", "policy.default") }

/** Governance policies, passed through to the runtime (docs/reference/admin.md#policy-registration). */
export class PoliciesGroup extends HttpApiGroup.make("policies")
  .add(
    HttpApiEndpoint.post("register", "/runtime/policies", {
      payload: bodySchema(PolicyRegistration, { unknownKeys: "drop" }),
      success: PolicyRegistered.pipe(HttpApiSchema.status(201)),
      error: [Failure.InvalidPolicyDefinition, Failure.ReservedPolicy, Failure.RegistryReadOnly, ...Failure.runtime]
    }).annotateMerge(
      operation({
        id: "registerPolicy",
        access: "admin",
        summary: "Register a policy",
        description:
          "The form and the rules are checked here, against the closed set of keys of the mode, before the runtime is asked. " +
          "What the runtime then refuses for another reason is answered with `ok: false`."
      })
    ),
    HttpApiEndpoint.get("list", "/runtime/policies", {
      query: policiesQuery,
      success: Schema.Array(PolicyDescriptor),
      error: Failure.runtime
    }).annotateMerge(
      operation({
        id: "listPolicies",
        access: "viewer",
        summary: "List policies",
        description: "All policies of the runtime's registry, with their rules as objects."
      })
    ),
    HttpApiEndpoint.get("get", "/runtime/policies/:policyId", {
      params: policyId,
      success: PolicyDescriptor,
      error: Failure.runtime
    }).annotateMerge(
      operation({
        id: "getPolicy",
        access: "viewer",
        summary: "Read one policy",
        description: "A policy of the runtime's registry."
      })
    ),
    HttpApiEndpoint.delete("unregister", "/runtime/policies/:policyId", {
      params: policyId,
      success: Schema.Struct({
        ok: Schema.Literal(true).annotate({ description: "Always true: failures are errors" })
      }).annotate({
        identifier: "PolicyUnregistered",
        description: "The policy is gone"
      }),
      error: [Failure.RegistryReadOnly, ...Failure.runtime]
    }).annotateMerge(
      operation({
        id: "unregisterPolicy",
        access: "admin",
        summary: "Remove a policy",
        description: "Removes it from the runtime's registry. Sessions that run under it keep it."
      })
    )
  )
  .annotateMerge(
    tag(
      "Policies",
      "Governance policies of the runtime's registry, passed through. Writing needs an identity that the runtime lets manage it"
    )
  ) {}
