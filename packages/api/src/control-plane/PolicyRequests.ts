import { MAX_NAME_LENGTH } from "@runplane/domain"
import type * as Schema from "effect/Schema"
import { jsonObject, string } from "../validation/BodyRules.ts"
import { object } from "../validation/ObjectRule.ts"
import { queryString } from "../validation/QueryRules.ts"
import { querySchema } from "../validation/RequestSchema.ts"
import { described, optional, type Rule, valid, withDefault } from "../validation/Rule.ts"

export const DEFAULT_POLICY_SCHEMA_VERSION = 3

const schemaVersion: Rule<1 | 2 | 3> = {
  optional: false,
  jsonSchema: { type: "integer", enum: [1, 2, 3] },
  check: (value, _place, report) => {
    if (value === 1 || value === 2 || value === 3) return valid(value)
    report("schemaVersion must be one of 1, 2, 3")
    return undefined
  }
}

const policyId: Rule<string> = {
  optional: false,
  jsonSchema: { type: "string", minLength: 1, maxLength: MAX_NAME_LENGTH },
  check: (value, place, report) => {
    if (typeof value === "string" && value !== "") {
      return string({ maxLength: MAX_NAME_LENGTH }).check(value, place, report)
    }
    report("policyId is required")
    return undefined
  }
}

const rules: Rule<Schema.JsonObject> = {
  ...jsonObject(),
  check: (value, place, report) => jsonObject().check(value, place, () => report("rules must be a JSON object"))
}

/**
 * The body of `POST /runtime/policies`; unknown keys are dropped (http-details sections 3.3 and 11). The closed set of
 * rule keys of each mode is checked by the policies capability, with the error code INVALID_POLICY_DEFINITION.
 */
export const policyRegistrationRule = object(
  {
    policyId: described(policyId, "Id of the policy; policy.default is reserved", "policy.incident.strict"),
    mode: described(
      withDefault(string(), "*"),
      "Session mode it applies to; * for every mode",
      "macp.mode.decision.v1"
    ),
    description: described(withDefault(string(), ""), "What it is for"),
    rules: described(
      rules,
      "The rules, passed on to the runtime unchanged. Each mode has a closed set of keys; keys that begin with _ or $ are notes",
      { voting: { algorithm: "majority" }, commitment: { authority: "initiator_only" } }
    ),
    schemaVersion: described(
      withDefault(schemaVersion, DEFAULT_POLICY_SCHEMA_VERSION),
      "Version of the form of the rules; 3 refuses a decision on an empty tally, 1 and 2 let it pass",
      DEFAULT_POLICY_SCHEMA_VERSION
    )
  },
  { unknownKeys: "drop" }
)

export const policiesQuery = querySchema({
  mode: described(optional(queryString()), "Only policies of this mode", "macp.mode.decision.v1")
})
