import type { LaunchRejected } from "@runplane/api"
import * as Result from "effect/Result"
import { distinct, isJsonObject, type Json, type JsonObject } from "../common/Json.ts"
import { compilationFailed } from "../common/LaunchErrors.ts"

const PATH = String.raw`\{\{ *([A-Za-z0-9_.-]+) *\}\}`
const ANYWHERE = new RegExp(PATH, "g")
const WHOLE = new RegExp(`^${PATH}$`)

/**
 * Replaces the `{{ inputs.x }}` placeholders in every text of an object. A text that is one placeholder becomes the
 * value itself, type kept; inside other text the value is written out. Keys are left alone, results are not scanned
 * again, and only own members of the inputs can be reached.
 */
export const interpolate = (template: JsonObject, inputs: JsonObject): Result.Result<JsonObject, LaunchRejected> => {
  const missing: Array<string> = []
  const replaced = replaceInObject(template, (path) => {
    const value = valueAt({ inputs }, path)
    if (value === undefined) missing.push(path)
    return value ?? null
  })
  return missing[0] === undefined
    ? Result.succeed(replaced)
    : Result.fail(compilationFailed(`undefined placeholder: {{ ${missing[0]} }}`))
}

/** The paths of all placeholders in the texts of a value, each once. */
export const placeholdersIn = (value: Json): ReadonlyArray<string> => {
  if (typeof value === "string") return distinct(Array.from(value.matchAll(ANYWHERE), ([, path = ""]) => path))
  if (isJsonObject(value)) return distinct(Object.values(value).flatMap(placeholdersIn))
  return isJsonArray(value) ? distinct(value.flatMap(placeholdersIn)) : []
}

/** Whether a placeholder's path leads to a value of these inputs; null is one. */
export const isSatisfied = (path: string, inputs: JsonObject): boolean => valueAt({ inputs }, path) !== undefined

const replaceInObject = (template: JsonObject, lookup: (path: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(template).map(([key, value]) => [key, replaceIn(value, lookup)]))

const replaceIn = (value: Json, lookup: (path: string) => Json): Json => {
  if (typeof value === "string") {
    const whole = WHOLE.exec(value)?.[1]
    return whole === undefined ? value.replace(ANYWHERE, (_, path: string) => asText(lookup(path))) : lookup(whole)
  }
  if (isJsonObject(value)) return replaceInObject(value, lookup)
  return isJsonArray(value) ? value.map((item) => replaceIn(item, lookup)) : value
}

/** How a value reads inside other text; objects and arrays as JSON. */
export const asText = (value: Json): string =>
  typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value)

const valueAt = (root: JsonObject, path: string): Json | undefined => {
  let value: Json | undefined = root
  for (const segment of path.split(".")) {
    if (isJsonArray(value)) value = /^\d+$/.test(segment) ? value[Number(segment)] : undefined
    else if (isJsonObject(value) && Object.hasOwn(value, segment)) value = value[segment]
    else return undefined
  }
  return value
}

const isJsonArray = (value: Json | undefined): value is ReadonlyArray<Json> => Array.isArray(value)
