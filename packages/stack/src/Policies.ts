import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { RuntimeClient } from "@runplane/runtime"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** A policy file of the packs is broken, or the runtime does not take it. */
export class PolicyNotRegistered extends Data.TaggedError("PolicyNotRegistered")<{
  readonly file: string
  readonly reason: string
}> {
  override get message() {
    return `policy ${this.file} cannot be registered: ${this.reason.replace(/\s+/g, " ")}`
  }
}

/** Launch-details section 8. */
const PolicyFile = Schema.fromJsonString(
  Schema.Struct({
    policy_id: Schema.NonEmptyString,
    mode: Schema.NonEmptyString,
    schema_version: Schema.Int,
    description: Schema.optionalKey(Schema.String),
    rules: Schema.JsonObject
  })
)

/**
 * Registers every policy of `<packs>/_policies` on the runtime. A policy that is there already counts as registered, so this
 * can run at each start.
 */
export const registerPolicies = Effect.fn("Policies.register")(function* (packsDir: string) {
  const folder = join(packsDir, "_policies")
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : []
  const client = yield* RuntimeClient
  yield* Effect.forEach(names.toSorted(), (file) => registerOne(client, join(folder, file), file), { discard: true })
})

const registerOne = Effect.fnUntraced(function* (client: RuntimeClient["Service"], path: string, file: string) {
  const refused = (reason: string) => new PolicyNotRegistered({ file, reason })
  const policy = yield* Schema.decodeUnknownEffect(PolicyFile)(readFileSync(path, "utf8")).pipe(
    Effect.mapError(({ message }) => refused(message))
  )
  const change = yield* client
    .registerPolicy({
      policyId: policy.policy_id,
      mode: policy.mode,
      description: policy.description ?? "",
      rules: JSON.stringify(policy.rules),
      schemaVersion: policy.schema_version
    })
    .pipe(Effect.mapError(({ message }) => refused(message)))
  if (!change.ok && !/already/i.test(change.error)) return yield* refused(change.error)
})
