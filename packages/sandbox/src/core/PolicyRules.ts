import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { domainProblem } from "./PolicyDomains.ts"
import type { Release } from "./Release.ts"

/** The newest `schema_version` whose meaning this runtime knows (runtime-wire section 9.2). */
export const NEWEST_SCHEMA_VERSION = 3

const flag = Schema.Boolean.pipe(Schema.withDecodingDefault(Effect.succeed(false)))
const fraction = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const natural = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).pipe(Schema.withDecodingDefault(Effect.succeed(0)))
const notNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

const Commitment = Schema.Struct({
  authority: Schema.Literals(["initiator_only", "any_participant", "designated_role"]).pipe(
    Schema.withDecodingDefault(Effect.succeed("initiator_only" as const))
  ),
  designated_roles: Schema.Array(Schema.String).pipe(Schema.withDecodingDefault(Effect.succeed([]))),
  require_vote_quorum: flag,
  allow_decline_over_approval: flag
})

const Quorum = Schema.Struct({
  type: Schema.Literals(["count", "percentage"]).pipe(Schema.withDecodingDefault(Effect.succeed("count" as const))),
  value: notNegative.pipe(Schema.withDecodingDefault(Effect.succeed(0)))
})

const Voting = Schema.Struct({
  algorithm: Schema.Literals(["none", "majority", "supermajority", "unanimous", "weighted", "plurality"]).pipe(
    Schema.withDecodingDefault(Effect.succeed("none" as const))
  ),
  // Absent and 0.5 differ for a supermajority, so the default is applied at evaluation.
  threshold: Schema.optional(fraction),
  quorum: Quorum.pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  weights: Schema.Record(Schema.String, notNegative).pipe(Schema.withDecodingDefault(Effect.succeed({})))
})

const ObjectionHandling = Schema.Struct({
  critical_severity_vetoes: flag,
  veto_threshold: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).pipe(
    Schema.withDecodingDefault(Effect.succeed(1))
  ),
  critical_objection_action: Schema.Literals(["deny", "finalize_decline", "hold"]).pipe(
    Schema.withDecodingDefault(Effect.succeed("deny" as const))
  )
})

const Evaluation = Schema.Struct({
  minimum_confidence: fraction.pipe(Schema.withDecodingDefault(Effect.succeed(0))),
  required_before_voting: flag
})

/**
 * The rules of a policy with every default applied (runtime-wire section 9.3). One schema holds the sections of all
 * modes: each mode reads its own. Unknown keys are ignored; `unknownRuleKeys` finds them for releases that refuse them.
 */
export const PolicyRules = Schema.Struct({
  commitment: Commitment.pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  voting: Voting.pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  objection_handling: ObjectionHandling.pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  evaluation: Evaluation.pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  acceptance: Schema.Struct({
    criterion: Schema.Literals(["all_parties", "counterparty", "initiator"]).pipe(
      Schema.withDecodingDefault(Effect.succeed("all_parties" as const))
    ),
    implicit_accept_timeout_ms: natural
  }).pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  counter_proposal: Schema.Struct({ max_rounds: natural }).pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  rejection: Schema.Struct({ terminal_on_any_reject: flag }).pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  assignment: Schema.Struct({ allow_reassignment_on_reject: flag }).pipe(
    Schema.withDecodingDefault(Effect.succeed({}))
  ),
  completion: Schema.Struct({ require_output: flag }).pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  threshold: Schema.Struct({
    type: Schema.Literals(["n_of_m", "percentage", "count"]).pipe(
      Schema.withDecodingDefault(Effect.succeed("n_of_m" as const))
    ),
    value: natural
  }).pipe(Schema.withDecodingDefault(Effect.succeed({}))),
  abstention: Schema.Struct({
    counts_toward_quorum: flag,
    interpretation: Schema.Literals(["neutral", "implicit_reject", "ignored"]).pipe(
      Schema.withDecodingDefault(Effect.succeed("neutral" as const))
    )
  }).pipe(Schema.withDecodingDefault(Effect.succeed({})))
})

export type PolicyRules = typeof PolicyRules.Type

/** A policy as a session binds it: decoded once at registration, never looked up again (runtime-wire section 9.1). */
export interface BoundPolicy {
  readonly policyId: string
  readonly schemaVersion: number
  readonly rules: PolicyRules
}

/**
 * Reads and checks the `rules` text of a descriptor (runtime-wire sections 9.1 to 9.3). The failure is the text that
 * goes into the registration's answer.
 */
export const parsePolicyRules = (
  text: string,
  schemaVersion: number,
  release: Release
): Result.Result<PolicyRules, string> => {
  if (schemaVersion < 1 || schemaVersion > NEWEST_SCHEMA_VERSION) {
    return Result.fail(`schema_version must be 1 to ${NEWEST_SCHEMA_VERSION}, got ${schemaVersion}`)
  }
  const decoded = decodeRules(text)
  if (Result.isFailure(decoded)) return Result.fail(describe(decoded.failure.issue))
  const problem = domainProblem(decoded.success, text, release)
  return problem === undefined ? Result.succeed(decoded.success) : Result.fail(problem)
}

const decodeRules = Schema.decodeUnknownResult(Schema.fromJsonString(PolicyRules), { errors: "all" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

const describe = (issue: SchemaIssue.Issue): string =>
  format(issue)
    .issues.map(({ message, path }) => (path === undefined ? message : `rules.${path.join(".")}: ${message}`))
    .join("; ")

const noRules = Schema.decodeUnknownSync(PolicyRules)({})

/** What a session without a policy binds: mode `*`, schema version 1, no constraint. */
export const DEFAULT_POLICY: BoundPolicy = { policyId: "policy.default", schemaVersion: 1, rules: noRules }
