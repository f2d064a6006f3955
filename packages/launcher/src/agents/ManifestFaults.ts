import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { A2A } from "../common/Frameworks.ts"
import { lineOfPath } from "../common/LineOfPath.ts"
import { type RemoteRules, readRemoteManifest } from "../remote/RemoteManifest.ts"
import { agentCommand, type CommandSettings } from "./AgentCommand.ts"
import { isHosted, parseManifest, readManifestText } from "./AgentManifest.ts"

/** What of a profile decides how its agent is started. */
export interface StartedAgent {
  readonly agentRef: string
  readonly bootstrapMode: string
  readonly bootstrapStrategy: string
  readonly entrypoint: string
  readonly framework: string
}

/** A reason why an agent could not be started; `file` is relative to the agents' folder. */
export interface ManifestFault {
  readonly level: "error" | "warning"
  readonly file: string
  /** From 1; absent where it is the whole file. */
  readonly line?: number
  /** With what to do about it. */
  readonly message: string
}

/**
 * Whether the agents that a launch would start can be started at all (docs/internals/launch.md#faults): a missing
 * manifest would be its INVALID_CONFIG, a wrong one, or a missing script, interpreter or working directory its
 * AGENT_ATTACH_FAILED.
 */
export const manifestFaults = Effect.fn("ManifestFaults.of")(function* (
  settings: StartSettings,
  agents: ReadonlyArray<StartedAgent>
) {
  const faults = yield* Effect.forEach(
    agents.filter(({ bootstrapMode }) => bootstrapMode === "attached"),
    (agent) => faultsOf(settings, agent)
  )
  const remotes = yield* Effect.forEach(
    agents.filter(({ framework }) => framework === A2A),
    (agent) => remoteFaults(settings, agent)
  )
  return [...faults, ...remotes].flat()
})

/** What is wrong with the manifest of an agent that speaks A2A. Its card is read at a launch. */
const remoteFaults = Effect.fnUntraced(function* (settings: StartSettings, { agentRef, entrypoint }: StartedAgent) {
  const path = yield* Path.Path
  const file = path.join("manifests", `${agentRef}.json`)
  const manifest = yield* Effect.result(readRemoteManifest(settings.agentsDir, agentRef, settings))
  if (Result.isFailure(manifest)) return manifest.failure.map((problem) => faultIn(file, problem))
  if (entrypoint === manifest.success.entrypoint) return []
  const message = `the entrypoint is "${entrypoint}", but the manifest, which counts, has another: make them the same`
  return [{ level: "warning", file: path.join("profiles", `${agentRef}.json`), message } satisfies ManifestFault]
})

type StartSettings = CommandSettings & RemoteRules

const faultsOf = Effect.fnUntraced(function* (settings: CommandSettings, agent: StartedAgent) {
  const { agentRef, bootstrapStrategy, entrypoint, framework } = agent
  const path = yield* Path.Path
  const fileOf = (folder: string) => path.join(folder, `${agentRef}.json`)
  if (!isHosted(framework)) {
    return [faultIn(fileOf("profiles"), `no host adapter starts agents of the framework "${framework}"`)]
  }
  const file = fileOf("manifests")
  const text = yield* Effect.result(readManifestText(settings.agentsDir, agentRef))
  if (Result.isFailure(text)) return [faultIn(file, `cannot be read: ${text.failure.reason._tag}`)]
  if (text.success === undefined) {
    return [faultIn(file, `there is none, but ${agentRef} is attached by starting it`)]
  }
  const written = text.success
  const manifest = parseManifest(written)
  if (Result.isFailure(manifest)) return manifest.failure.map((problem) => faultIn(file, problem))
  const faults: Array<ManifestFault> = []
  const say = (level: ManifestFault["level"], at: ReadonlyArray<string>, message: string) => {
    const line = lineOfPath(written, at)
    faults.push({ level, file, message, ...(line !== undefined && { line }) })
  }
  const { entrypoint: started, id } = manifest.success
  if (id !== agentRef)
    say("warning", ["id"], `the id is "${id}", but the file, which counts, is "${agentRef}": make them the same`)
  const command = yield* Effect.result(agentCommand(manifest.success, settings))
  if (Result.isFailure(command)) {
    const { at = ["entrypoint"], reason, remedy } = command.failure
    const what = reason.replace(/^spawn error: /, "")
    say("error", at, remedy === undefined ? what : `${what}: ${remedy}`)
    return faults
  }
  const shown = (message: string) => {
    faults.push({ level: "warning", file: fileOf("profiles"), message })
  }
  if (entrypoint !== started.value) {
    shown(
      `the entrypoint is "${entrypoint}", but the manifest, which counts, starts "${started.value}": make them the same`
    )
  }
  if (bootstrapStrategy !== "external") {
    shown(`the bootstrapStrategy is "${bootstrapStrategy}", but the manifest starts a program: write "external"`)
  }
  return faults
})

const faultIn = (file: string, message: string): ManifestFault => ({ level: "error", file, message })
