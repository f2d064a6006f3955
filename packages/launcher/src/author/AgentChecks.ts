import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { isHosted, parseManifest, readManifestText } from "../agents/AgentManifest.ts"
import type { AgentProfile } from "../catalog/AgentCatalog.ts"
import { errorIn, type Finding } from "./Finding.ts"

/**
 * Whether the agents that a launch would start can be started at all: a missing manifest would be its INVALID_CONFIG, a
 * wrong one its AGENT_ATTACH_FAILED. Files are named relative to the packs directory.
 */
export const checkManifests = Effect.fn("AgentChecks.manifests")(function* (
  packsDir: string,
  agentsDir: string,
  profiles: ReadonlyArray<AgentProfile>
) {
  const path = yield* Path.Path
  const findings: Array<Finding> = []
  for (const { agentRef, bootstrapMode, framework } of profiles) {
    if (bootstrapMode !== "attached") continue
    const name = (kind: string) => path.join(path.relative(packsDir, agentsDir), kind, `${agentRef}.json`)
    if (!isHosted(framework)) {
      findings.push(errorIn(name("profiles"), `no host adapter starts agents of the framework "${framework}"`))
      continue
    }
    const text = yield* Effect.result(readManifestText(agentsDir, agentRef))
    const problems = Result.isFailure(text)
      ? [`cannot be read: ${text.failure.reason._tag}`]
      : text.success === undefined
        ? [`there is none, but ${agentRef} is attached by starting it`]
        : Result.match(parseManifest(text.success), { onFailure: (all) => all, onSuccess: () => [] })
    findings.push(...problems.map((problem) => errorIn(name("manifests"), problem)))
  }
  return findings
})
