import * as Schema from "effect/Schema"
import { isJsonObject } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { ErasedMember } from "./ErasedMember.ts"

/** What states, explanations and narratives have in the position of an erased text. */
export const ERASED_TEXT = "[erased]"

const isErasedMember = Schema.is(ErasedMember)

/**
 * The data of an event as readers see it: each erased text is `ERASED_TEXT`, so that it differs from an empty one. The
 * member `erased` of the event decides, which agents cannot write; nothing in `data` does.
 */
export const shownData = (data: JsonObject, erased: unknown): JsonObject => {
  if (!Array.isArray(erased)) return data
  return erased.reduce<JsonObject>((shown, member: unknown) => {
    const [, root, ...path] = isErasedMember(member) ? member.pointer.split("/").map(unescaped) : []
    const changed = root === "data" ? withWord(shown, path) : shown
    return isJsonObject(changed) ? changed : shown
  }, data)
}

const unescaped = (token: string): string => token.replaceAll("~1", "/").replaceAll("~0", "~")

const withWord = (value: Schema.Json | undefined, [name, ...inner]: ReadonlyArray<string>): Schema.Json => {
  if (name === undefined) return value === "" ? ERASED_TEXT : (value ?? null)
  if (Array.isArray(value)) return value.map((each, at) => (String(at) === name ? withWord(each, inner) : each))
  return isJsonObject(value) && Object.hasOwn(value, name)
    ? { ...value, [name]: withWord(value[name], inner) }
    : (value ?? null)
}
