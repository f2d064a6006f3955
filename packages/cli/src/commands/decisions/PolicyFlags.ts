import { OtherPolicy } from "@runplane/api"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { usageProblem } from "../../CliFailure.ts"
import { readJson } from "../common/Input.ts"

/** The flags of another policy: a file, or the id of a registered one. */
export const policyFlags = {
  policy: Flag.String("policy").pipe(
    Flag.withDescription("File with another policy as JSON {mode, schemaVersion, rules}; - for standard input"),
    Flag.optional
  ),
  policyVersion: Flag.String("policy-version").pipe(
    Flag.withDescription("Id of another policy, one that is registered"),
    Flag.optional
  )
}

/** The policy of the flags, as the request names it. */
export const readPolicyFlags = Effect.fnUntraced(function* (flags: {
  readonly policy: Option.Option<string>
  readonly policyVersion: Option.Option<string>
}) {
  const { policy, policyVersion } = flags
  if (Option.isSome(policy) && Option.isSome(policyVersion)) {
    return yield* usageProblem("--policy and --policy-version exclude each other")
  }
  if (Option.isSome(policyVersion)) return { policyVersion: policyVersion.value }
  return Option.isNone(policy) ? {} : { policy: yield* readPolicy(policy.value) }
})

/** The policy of a file, or of standard input for `-`. */
export const readPolicy = Effect.fnUntraced(function* (file: string) {
  return yield* Schema.decodeUnknownEffect(OtherPolicy)(yield* readJson(file)).pipe(
    Effect.mapError((error) => usageProblem(`${file} is not a policy: ${error.message}`))
  )
})
