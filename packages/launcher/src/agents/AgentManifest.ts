import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isJsonObject, type Json, type JsonObject } from "../common/Json.ts"
import { jsonFaultInFile } from "../common/LineOfPath.ts"

/** `manifests/<agentRef>.json`: how an agent is started. */
export interface AgentManifest {
  readonly id: string
  readonly name: string
  readonly framework: HostedFramework
  readonly entrypoint: { readonly type: EntrypointType; readonly value: string }
  readonly host: HostBlock
}

export type HostedFramework = "langgraph" | "langchain" | "crewai" | "custom"
/**
 * `command`, an addition of ours, is any executable: the value is its path or name, without an interpreter before it.
 */
export type EntrypointType = "python_module" | "python_file" | "node_file" | "command" | "container"

/** Longest time that a manifest may give its agent to get ready, ms. */
const MAX_STARTUP_TIMEOUT_MS = 600_000

const HostBlock = Schema.Struct({
  /** Interpreters; when absent the service's settings decide. */
  python: Schema.optionalKey(Schema.NonEmptyString),
  node: Schema.optionalKey(Schema.NonEmptyString),
  env: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Relative paths start at the service's root. */
  cwd: Schema.optionalKey(Schema.String),
  /** How long the agent may take to print `readyText`, ms; see `startupTimeoutMs`. */
  startupTimeoutMs: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MAX_STARTUP_TIMEOUT_MS }))
  ),
  /**
   * An addition of ours for agents that are slow to start: a text in a line of their standard output that says that
   * they are attached. Without it an agent counts as attached when it has lived for the confirmation time.
   */
  readyText: Schema.optionalKey(Schema.NonEmptyString)
})
export type HostBlock = typeof HostBlock.Type

/** The framework adapters of this service, each with the `frameworkConfig` keys that it requires. */
const REQUIRED_CONFIG: Readonly<Record<HostedFramework, ReadonlyArray<string>>> = {
  langgraph: ["graphFactory", "inputMapper", "outputMapper"],
  langchain: ["factory", "inputMapper", "outputMapper"],
  crewai: ["crewFactory", "inputMapper", "outputMapper"],
  custom: []
}

/** Default of `host.startupTimeoutMs`. */
const STARTUP_TIMEOUT_MS: Readonly<Record<HostedFramework, number>> = {
  langgraph: 30_000,
  langchain: 30_000,
  crewai: 45_000,
  custom: 15_000
}

const ENTRYPOINT_TYPES: ReadonlyArray<EntrypointType> = [
  "python_module",
  "python_file",
  "node_file",
  "command",
  "container"
]

/** How long an agent that announces itself may take to do so, ms. */
export const startupTimeoutMs = ({ framework, host }: AgentManifest): number =>
  host.startupTimeoutMs ?? STARTUP_TIMEOUT_MS[framework]

/** Whether agents of a framework can be started here at all. */
export const isHosted = (framework: string): framework is HostedFramework => Object.hasOwn(REQUIRED_CONFIG, framework)

/** The text of an agent's manifest; `undefined` when there is none. */
export const readManifestText = Effect.fn("AgentManifest.read")(function* (agentsDir: string, agentRef: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(agentsDir, "manifests", `${agentRef}.json`)
  return (yield* fs.exists(file)) ? yield* fs.readFileString(file) : undefined
})

/** Reads a manifest; on failure every complaint, as the answer AGENT_ATTACH_FAILED shows them. */
export const parseManifest = (text: string): Result.Result<AgentManifest, ReadonlyArray<string>> =>
  Result.flatMap(Result.try({ try: (): Json => JSON.parse(text), catch: () => ["manifest is not JSON"] }), (json) => {
    const fault = jsonFaultInFile(text)
    if (fault !== undefined) return Result.fail([`manifest: ${fault}`])
    return isJsonObject(json) ? checkManifest(json) : Result.fail(["manifest is not an object"])
  })

const checkManifest = (json: JsonObject): Result.Result<AgentManifest, ReadonlyArray<string>> => {
  const problems: Array<string> = []
  const required = (value: Json | undefined, name: string) => {
    if (typeof value === "string" && value !== "") return value
    problems.push(`manifest.${name} is required`)
    return ""
  }
  const id = required(json["id"], "id")
  const name = required(json["name"], "name")
  const framework = required(json["framework"], "framework")
  const entrypoint = isJsonObject(json["entrypoint"]) ? json["entrypoint"] : undefined
  if (entrypoint === undefined) problems.push("manifest.entrypoint is required")
  const type = entrypoint === undefined ? "" : required(entrypoint["type"], "entrypoint.type")
  const value = entrypoint === undefined ? "" : required(entrypoint["value"], "entrypoint.value")

  const knownType = ENTRYPOINT_TYPES.find((candidate) => candidate === type)
  if (type !== "" && knownType === undefined) problems.push(`unsupported entrypoint type: ${type}`)
  if (framework !== "" && !isHosted(framework)) problems.push(`unsupported framework: ${framework}`)
  if (isHosted(framework)) problems.push(...frameworkProblems(framework, knownType, json["frameworkConfig"]))

  const host = Schema.decodeUnknownResult(HostBlock)(json["host"] ?? {})
  if (Result.isFailure(host)) problems.push(`manifest.host is malformed: ${host.failure.message}`)
  return problems.length === 0 && isHosted(framework) && knownType !== undefined && Result.isSuccess(host)
    ? Result.succeed({ id, name, framework, entrypoint: { type: knownType, value }, host: host.success })
    : Result.fail(problems)
}

const frameworkProblems = (
  framework: HostedFramework,
  type: EntrypointType | undefined,
  config: Json | undefined
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  if (framework !== "custom" && type !== undefined && !type.startsWith("python_")) {
    problems.push(`${framework} entrypoint type must be python_module or python_file, got "${type}"`)
  }
  if (config !== undefined) {
    const given = isJsonObject(config) ? config : {}
    for (const key of REQUIRED_CONFIG[framework]) {
      if (typeof given[key] !== "string") problems.push(`frameworkConfig.${key} is required and must be a string`)
    }
  }
  return problems
}
