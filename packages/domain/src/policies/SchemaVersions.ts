import * as Result from "effect/Result"
import * as SemVer from "effect/SemVer"
import type { PolicySchemaVersion } from "./Policy.ts"

/** The reference runtime, and the sandbox, which has the version of the release that it follows. */
const KNOWN_RUNTIMES: ReadonlySet<string> = new Set(["macp-runtime", "runplane-sandbox"])

/** The first version that evaluates schema version 3 (docs/internals/runtime.md#schema-versions). */
const EVALUATES_3 = Result.getOrThrow(SemVer.parse("0.7.6"))

/**
 * The highest schema version whose policies a runtime evaluates. Under a higher one it accepts the policy and then
 * refuses every Commitment. Undefined when unknown: another runtime, or an invalid version.
 */
export const highestSchemaVersion = (runtime: {
  readonly name: string
  readonly version: string
}): PolicySchemaVersion | undefined => {
  const version = SemVer.parse(runtime.version)
  if (!KNOWN_RUNTIMES.has(runtime.name) || Result.isFailure(version)) return undefined
  return SemVer.Order(version.success, EVALUATES_3) < 0 ? 2 : 3
}
