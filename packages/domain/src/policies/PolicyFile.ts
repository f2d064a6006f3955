import * as Schema from "effect/Schema"
import { PolicySchemaVersion } from "./Policy.ts"

/** The text of a policy file of a pack. `POST /runtime/policies` has other names for the same. */
export const PolicyFile = Schema.fromJsonString(
  Schema.Struct({
    policy_id: Schema.NonEmptyString,
    mode: Schema.NonEmptyString,
    schema_version: PolicySchemaVersion,
    description: Schema.optionalKey(Schema.String),
    rules: Schema.JsonObject
  })
)
