import type * as Schema from "effect/Schema"
import { isJsonArray, isJsonObject } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { type ErasureRule, erasableData, erasablePayload } from "./ErasableMembers.ts"

/** The digest of a member, by its pointer and the text of its value. */
export type DigestMember = (pointer: string, value: string) => string

/**
 * The data of an event with digests in the positions of the erasable values. As JSON it is the same text as
 * `digestedEvent` makes of the text of the event: a writer has the values and needs no offsets in a text.
 */
export const digestedData = (type: string, data: JsonObject, digest: DigestMember): Schema.Json =>
  digestedValue(data, erasableData(type), "/data", digest)

/** The payload of a raw frame likewise. */
export const digestedPayload = (kind: string, payload: JsonObject, digest: DigestMember): Schema.Json =>
  digestedValue(payload, erasablePayload(kind), "/payload", digest)

const digestedValue = (value: Schema.Json, rule: ErasureRule, pointer: string, digest: DigestMember): Schema.Json => {
  if (rule === "kept") return value
  if (rule === "erasable") return digest(pointer, JSON.stringify(value))
  if ("each" in rule) {
    return isJsonArray(value)
      ? value.map((each, index) => digestedValue(each, rule.each, `${pointer}/${index}`, digest))
      : digest(pointer, JSON.stringify(value))
  }
  if (!isJsonObject(value)) return digest(pointer, JSON.stringify(value))
  // Most objects have no erasable member, and are not copied.
  let digested: Record<string, Schema.Json> | undefined
  for (const name in value) {
    const next = rule.members.get(name) ?? rule.others
    if (next === "kept") continue
    const member = value[name]
    if (member === undefined) continue
    const replaced = digestedValue(member, next, `${pointer}/${escaped(name)}`, digest)
    if (replaced === member) continue
    digested ??= { ...value }
    digested[name] = replaced
  }
  return digested ?? value
}

const escaped = (name: string): string =>
  name.includes("~") || name.includes("/") ? name.replaceAll("~", "~0").replaceAll("/", "~1") : name
