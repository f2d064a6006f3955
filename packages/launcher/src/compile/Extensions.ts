import type { LaunchRejected } from "@runplane/api"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { isJsonObject, type Json } from "../common/Json.ts"
import { compilationFailed } from "../common/LaunchErrors.ts"

/** Session extensions: base64 texts by name. */
export type Extensions = { readonly [name: string]: string }

/** `launch.extensions` must be a map of base64 texts or absent (docs/launch.md#extensions). */
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
    if (Result.isFailure(Base64.decode(item))) {
      return refuse(`launch.extensions.${name} must be a base64-encoded string, got text that is not base64`)
    }
    entries.push([name, item])
  }
  return Result.succeed(Object.fromEntries(entries))
}

const typeName = (value: Json) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)

const refuse = (message: string) => Result.fail(compilationFailed(message))
