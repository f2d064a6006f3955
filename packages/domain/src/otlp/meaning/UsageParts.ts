import type * as Schema from "effect/Schema"
import { MAX_TOKENS_PER_CALL } from "../../usage/TokenCounts.ts"
import { isJsonArray, isJsonObject } from "../../values/JsonReader.ts"
import { jsonOf, numberOf } from "../AttributeValues.ts"
import type { UsageParts } from "../Meaning.ts"
import { NEVER_COUNTED } from "../Names.ts"
import type { Attributes } from "../Span.ts"
import { objectIn } from "./UsageObject.ts"

const INPUT = "(?:input|prompt)"
const OUTPUT = "(?:output|completion|candidates)"
const modality = (side: string, kind: string) =>
  new RegExp(`${side}[a-z_]*[._]${kind}(?:_tokens?|_token_count)?$|${kind}_${side}_tokens?$`)

/** The ends of names under which emitters state parts of a count that cost a price of their own, in snake case. */
const PARTS: ReadonlyArray<readonly [part: keyof UsageParts, name: RegExp]> = [
  ["cacheWriteHourTokens", /ephemeral_1h_input_tokens$|cache_(?:write|creation)_1h(?:_input)?_tokens$/],
  ["audioInputTokens", modality(INPUT, "audio")],
  ["audioOutputTokens", modality(OUTPUT, "audio")],
  ["imageInputTokens", modality(INPUT, "image")],
  ["imageOutputTokens", modality(OUTPUT, "image")]
]

/** Names that may be of usage at all. */
const OF_USAGE = /usage|token/i
const DEPTH = 3
/** Members of one object that are read. */
const MOST_MEMBERS = 64

/** Parts of the counts of a call that are not text, or that its provider keeps for an hour; undefined without any. */
export const usageParts = (attributes: Attributes): UsageParts | undefined => {
  const parts: Partial<Record<keyof UsageParts, number>> = {}
  const take = (name: string, value: Schema.Json | undefined) => {
    const tokens = numberOf(value)
    if (tokens === undefined || tokens === 0) return
    const plain = snake(name)
    const part = PARTS.find(([, end]) => end.test(plain))?.[0]
    if (part !== undefined) parts[part] ??= Math.min(Math.trunc(tokens), MAX_TOKENS_PER_CALL)
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (!OF_USAGE.test(name) || name.startsWith(NEVER_COUNTED)) continue
    take(name, value)
    const object = objectIn(name, value)
    if (object !== undefined) members(object, name, DEPTH, take)
  }
  return Object.keys(parts).length === 0 ? undefined : parts
}

const members = (
  object: { readonly [name: string]: Schema.Json },
  path: string,
  depth: number,
  take: (name: string, value: Schema.Json) => void
): void => {
  for (const [name, value] of Object.entries(object).slice(0, MOST_MEMBERS)) {
    const at = `${path}.${name}`
    take(at, value)
    if (isJsonArray(value)) {
      for (const each of value.slice(0, MOST_MEMBERS)) if (isJsonObject(each)) takeModality(each, at, take)
    } else if (isJsonObject(value) && depth > 0) members(value, at, depth - 1, take)
  }
}

/** Google states parts as a list: `{"modality": "AUDIO", "tokenCount": 90}`. */
const takeModality = (
  each: { readonly [name: string]: Schema.Json },
  path: string,
  take: (name: string, value: Schema.Json) => void
): void => {
  const kind = each["modality"]
  const tokens = each["tokenCount"] ?? each["token_count"]
  if (typeof kind === "string" && tokens !== undefined) take(`${path}.${kind.toLowerCase()}_tokens`, tokens)
}

const snake = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase()

/** Names of the service tier of a call, the one that served it before the one that was requested. */
const TIERS = [
  ...["gen_ai.response.service_tier", "gen_ai.openai.response.service_tier", "openai.response.service_tier"],
  ...["llm.response.service_tier", "gen_ai.request.service_tier", "gen_ai.openai.request.service_tier"],
  ...["openai.request.service_tier", "llm.request.service_tier", "service_tier"]
]
const MAX_TIER = 32

/** The service tier that a call states; undefined without one. */
export const serviceTierIn = (attributes: Attributes): string | undefined => {
  const stated = TIERS.map((name) => attributes[name]).find((value) => typeof value === "string" && value !== "")
  if (typeof stated === "string") return stated.slice(0, MAX_TIER)
  for (const [name, value] of Object.entries(attributes)) {
    const object = name === "llm.invocation_parameters" ? jsonOf(value) : objectIn(name, value)
    const tier = isJsonObject(object) ? (object["service_tier"] ?? object["serviceTier"]) : undefined
    if (typeof tier === "string" && tier !== "") return tier.slice(0, MAX_TIER)
  }
  return undefined
}
