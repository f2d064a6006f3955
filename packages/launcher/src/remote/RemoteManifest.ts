import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import { A2A } from "../common/Frameworks.ts"
import { isJsonObject, type Json } from "../common/Json.ts"
import { jsonFaultInFile } from "../common/LineOfPath.ts"

/** `manifests/<agentRef>.json` of an agent that speaks A2A. */
export interface RemoteManifest {
  readonly entrypoint: string
  /** The name of the variable after `env:`. */
  readonly auth: string | undefined
}

const AUTH = /^env:([A-Za-z_][A-Za-z0-9_]*)$/

/** What decides whether a manifest can be used. */
export interface RemoteRules {
  readonly allowPrivateAgents: boolean
  readonly hostEnvAllow: ReadonlyArray<string>
}

/** Reads a manifest; on failure every complaint with its field. */
export const parseRemoteManifest = (
  text: string,
  { allowPrivateAgents, hostEnvAllow }: RemoteRules
): Result.Result<RemoteManifest, ReadonlyArray<string>> =>
  Result.flatMap(Result.try({ try: (): Json => JSON.parse(text), catch: () => ["manifest is not JSON"] }), (json) => {
    const fault = jsonFaultInFile(text)
    if (fault !== undefined) return Result.fail([`manifest: ${fault}`])
    if (!isJsonObject(json)) return Result.fail(["manifest is not an object"])
    const problems: Array<string> = []
    const { auth, entrypoint, framework } = json
    if (framework !== A2A) problems.push(`manifest.framework is ${JSON.stringify(framework)}: write "a2a"`)
    const address = typeof entrypoint === "string" ? entrypoint : ""
    const why = addressFault(address, allowPrivateAgents)
    if (why !== undefined) problems.push(`manifest.entrypoint ${why}`)
    const name = typeof auth === "string" ? AUTH.exec(auth)?.[1] : undefined
    if (auth !== undefined && name === undefined) {
      problems.push('manifest.auth must be "env:NAME", the name of a variable of the service')
    } else if (name !== undefined && !hostEnvAllow.includes(name)) {
      problems.push(`manifest.auth names ${name}, which HOST_ENV_ALLOW does not have: add it there`)
    }
    return problems.length === 0 ? Result.succeed({ entrypoint: address, auth: name }) : Result.fail(problems)
  })

const addressFault = (address: string, allowPrivateAgents: boolean): string | undefined => {
  if (!URL.canParse(address)) return "must be the https address of an agent card"
  const { hash, password, protocol, username } = new URL(address)
  if (username !== "" || password !== "") return "has credentials in it: use auth"
  if (hash !== "") return "has a fragment"
  if (protocol === "https:" || (protocol === "http:" && allowPrivateAgents)) return undefined
  return "must be an https address; http is for A2A_ALLOW_PRIVATE alone"
}

/** The manifest of an agent. */
export const readRemoteManifest = Effect.fnUntraced(function* (
  agentsDir: string,
  agentRef: string,
  rules: RemoteRules
): Effect.fn.Return<RemoteManifest, ReadonlyArray<string>, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(agentsDir, "manifests", `${agentRef}.json`)
  const text = yield* Effect.mapError(fs.readFileString(file), ({ reason }) => [
    reason._tag === "NotFound" ? "agent manifest missing" : `manifest cannot be read: ${reason._tag}`
  ])
  return yield* Effect.fromResult(parseRemoteManifest(text, rules))
})
