import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { isReleaseFrom, RELEASES, type Release } from "./Release.ts"
import { ruleConditions } from "./RuleConditions.ts"
import { unknownRuleKeys } from "./RuleFaults.ts"
import { PolicyRules } from "./RuleSchemas.ts"

/** The policy that every runtime has by itself; it cannot be replaced. */
export const DEFAULT_POLICY_ID = "policy.default"

/** What the rules mean: 2 adds rules to 1; under 3 a voting algorithm refuses a decision without votes. */
export const PolicySchemaVersion = Schema.Literals([1, 2, 3])
export type PolicySchemaVersion = typeof PolicySchemaVersion.Type

/** A policy as a session binds it at its start: read once, never again. */
export interface BoundPolicy {
  readonly policyId: string
  readonly schemaVersion: number
  readonly rules: PolicyRules
}

/** A policy with the mode that it is for: a mode id, or `*`. */
export interface Policy extends BoundPolicy {
  readonly mode: string
}

/** What a session without a policy binds: no constraint, and the initiator commits. */
export const DEFAULT_POLICY: BoundPolicy = {
  policyId: DEFAULT_POLICY_ID,
  schemaVersion: 1,
  rules: Schema.decodeUnknownSync(PolicyRules)({})
}

/** A policy as it is registered: `rules` is the text of a JSON object. */
export interface PolicyText {
  readonly policyId: string
  readonly mode: string
  readonly schemaVersion: number
  readonly rules: string
}

/**
 * Reads a policy as the runtime of a release does; the failure is the text of its refusal. From 0.13.0 on rules are
 * closed: keys that the mode does not have are refused.
 */
export const readPolicy = (
  { mode, policyId, rules, schemaVersion }: PolicyText,
  release: Release
): Result.Result<Policy, string> =>
  Result.flatMap(parsePolicyRules(rules, schemaVersion, release), (parsed) => {
    const unknown = isReleaseFrom(release, "0.13.0") ? unknownRuleKeys(rules, mode) : []
    return unknown.length === 0
      ? Result.succeed({ policyId, mode, schemaVersion, rules: parsed })
      : Result.fail(`unknown rules: ${unknown.join(", ")}`)
  })

/** Policies that a `policyReader` keeps, the first ones. */
const MAX_KEPT = 100

/** `readPolicy` for an evaluation of many runs: it reads each policy once, because runs share few policies. */
export const policyReader = (): typeof readPolicy => {
  const kept = new Map<string, ReturnType<typeof readPolicy>>()
  return (policy, release) => {
    const { mode, policyId, rules, schemaVersion } = policy
    const key = JSON.stringify([release, policyId, mode, schemaVersion, rules])
    const read = kept.get(key) ?? readPolicy(policy, release)
    if (kept.size < MAX_KEPT) kept.set(key, read)
    return read
  }
}

/** Reads and checks a rules text. Keys that no mode knows are ignored. */
export const parsePolicyRules = (
  text: string,
  schemaVersion: number,
  release: Release
): Result.Result<PolicyRules, string> => {
  if (!isSchemaVersion(schemaVersion)) return Result.fail(`schema_version must be 1 to 3, got ${schemaVersion}`)
  return Result.mapError(decodeRules(text), describe).pipe(
    Result.flatMap((rules) =>
      Result.flatMap(Result.mapError(decodeSections(text), describe), (written) => {
        const broken = ruleConditions.find(
          ({ isBroken, section, since = RELEASES[0] }) =>
            isReleaseFrom(release, since) && isBroken(written[section] ?? {})
        )
        return broken === undefined ? Result.succeed(rules) : Result.fail(broken.refusal)
      })
    )
  )
}

const isSchemaVersion = Schema.is(PolicySchemaVersion)

const decodeRules = Schema.decodeUnknownResult(Schema.fromJsonString(PolicyRules), { errors: "all" })
const decodeSections = Schema.decodeUnknownResult(
  Schema.fromJsonString(
    Schema.Struct({
      voting: Schema.optional(Schema.JsonObject),
      threshold: Schema.optional(Schema.JsonObject),
      commitment: Schema.optional(Schema.JsonObject)
    })
  )
)

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const describe = ({ issue }: Schema.SchemaError): string =>
  format(issue)
    .issues.map(({ message, path }) => (path === undefined ? message : `rules.${path.join(".")}: ${message}`))
    .join("; ")

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
