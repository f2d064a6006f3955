import type { LaunchRejected } from "@runplane/api"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { isJsonObject, type Json } from "../common/Json.ts"
import { compilationFailed } from "../common/LaunchErrors.ts"

/** Session extensions: texts by name, in base64 where an agent is to send them. */
export type Extensions = { readonly [name: string]: string }

/** `launch.extensions` must be a map of texts or absent (docs/internals/launch.md#extensions). */
export const checkExtensions = (value: Json | undefined): Result.Result<Extensions | undefined, LaunchRejected> => {
  if (value === undefined || value === null) return Result.succeed(undefined)
  if (!isJsonObject(value)) {
    const shape = Array.isArray(value) ? "array" : JSON.stringify(value)
    return refuse(`launch.extensions must be a mapping of string values, got ${shape}`)
  }
  const entries: Array<readonly [string, string]> = []
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== "string") {
      return refuse(`launch.extensions.${name} must be a base64-encoded string, got ${typeName(item)}`)
    }
    entries.push([name, item])
  }
  return Result.succeed(Object.fromEntries(entries))
}

/** What is wrong with the first text that is not base64: the agent that opens the session could not send it. */
export const undecodable = (extensions: Extensions | undefined): string | undefined => {
  const name = Object.entries(extensions ?? {}).find(([, text]) => Result.isFailure(Base64.decode(text)))?.[0]
  return name === undefined
    ? undefined
    : `launch.extensions.${name} must be a base64-encoded string, got text that is not base64`
}

const typeName = (value: Json) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)

const refuse = (message: string) => Result.fail(compilationFailed(message))
