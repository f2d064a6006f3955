import {
  ANY_MODE,
  about,
  DEFAULT_POLICY_ID,
  Field,
  isOneLine,
  MAX_NAME_LENGTH,
  PolicySchemaVersion
} from "@runplane/domain"
import * as Schema from "effect/Schema"
import { withDefault } from "../../validation/Fields.ts"
import { querySchema, REFUSES_NULL } from "../../validation/RequestSchema.ts"

export const DEFAULT_POLICY_SCHEMA_VERSION = 3

const required = { message: "policyId is required" }

/**
 * The body of `POST /runtime/policies`. The closed set of rule keys of each mode is checked by the policies capability,
 * with the error code INVALID_POLICY_DEFINITION.
 */
export const PolicyRegistration = Schema.Struct({
  policyId: Schema.String.annotate({
    ...required,
    ...about(`Id of the policy; ${DEFAULT_POLICY_ID} is reserved`, "policy.incident.strict")
  }).check(Schema.isMinLength(1, required), Schema.isMaxLength(MAX_NAME_LENGTH), isOneLine),
  mode: withDefault(
    Field.text(`Session mode it applies to; ${ANY_MODE} for every mode`, "macp.mode.decision.v1").check(isOneLine),
    ANY_MODE
  ),
  description: withDefault(Field.text("What it is for"), ""),
  rules: Field.object(
    "The rules, passed on to the runtime unchanged. Each mode has a closed set of keys; keys that begin with _ or $ are notes",
    { voting: { algorithm: "majority" }, commitment: { authority: "initiator_only" } }
  ).annotate({ message: "rules must be a JSON object" }),
  schemaVersion: withDefault(
    PolicySchemaVersion.annotate({
      [REFUSES_NULL]: true,
      message: `schemaVersion must be one of ${PolicySchemaVersion.literals.join(", ")}`,
      ...about(
        "Version of the form of the rules; 3 refuses a decision on an empty tally, 1 and 2 let it pass",
        DEFAULT_POLICY_SCHEMA_VERSION
      )
    }).check(Schema.isInt()),
    DEFAULT_POLICY_SCHEMA_VERSION
  )
}).annotate({ identifier: "PolicyRegistration", description: "A policy; unknown keys are dropped" })

export const policiesQuery = querySchema({
  mode: Schema.optionalKey(Field.text("Only policies of this mode", "macp.mode.decision.v1"))
})
