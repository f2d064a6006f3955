import type * as Schema from "effect/Schema"
import { isJsonObject } from "../values/JsonReader.ts"
import type { JsonObject } from "../values/PayloadDecoder.ts"
import { LEFT_OUT, USAGE_NAMES, type UsageCount } from "./UsageNames.ts"

/** Tokens that one call may claim; a larger count is taken for this many, so that sums stay exact integers. */
export const MAX_TOKENS_PER_CALL = 1_000_000_000

/** Tokens of one model call: whole numbers from 0 to `MAX_TOKENS_PER_CALL`, not all of them 0. */
export interface TokenCounts {
  /** All input tokens, those of a cache included. */
  readonly promptTokens: number
  /** All output tokens, those of reasoning included. */
  readonly completionTokens: number
  /** As stated, and at least the sum of both. */
  readonly totalTokens: number
  /** Part of `promptTokens` that was read from a cache; absent when it is 0 or not stated. */
  readonly cachedTokens?: number
  /** Part of `promptTokens` that was written to a cache, and none of `cachedTokens`. */
  readonly cacheWriteTokens?: number
  /** Part of `completionTokens`. */
  readonly reasoningTokens?: number
}

/** What is stated under a name of `USAGE_NAMES`; undefined when nothing is. */
export type StatedUnder = (name: string) => Schema.Json | undefined

/** The counts that an object states, in any of the known spellings; undefined when all are 0. */
export const countsIn = (object: JsonObject): TokenCounts | undefined => {
  const stated = new Map<string, Schema.Json>()
  for (const [key, value] of Object.entries(object)) {
    for (const { inner, name } of NAMES_BY_MEMBER.get(key) ?? []) {
      const count = inner === undefined ? value : memberOf(value, inner)
      // Both spellings may be there, with the count under one of them.
      if (count !== undefined && tokensOf(count) > 0 && !stated.has(name)) stated.set(name, count)
    }
  }
  return stated.size === 0 ? undefined : countsOf((name) => stated.get(name))
}

/** Whether a known name of a count begins with this member, in one of its spellings. */
export const isUsageName = (member: string): boolean => NAMES_BY_MEMBER.has(member)

/** The counts that are stated under the names of `USAGE_NAMES`; undefined when all are 0. */
export const countsOf = (stated: StatedUnder): TokenCounts | undefined => {
  const input = firstCount(stated, "input")
  const output = firstCount(stated, "output")
  const total = firstCount(stated, "total")
  const cacheRead = firstCount(stated, "cacheRead")
  const cacheWrite = firstCount(stated, "cacheWrite")
  const reasoning = firstCount(stated, "reasoning")
  const inputs: Side = {
    own: input.tokens + firstCount(stated, "toolInput").tokens,
    part: cacheRead.tokens + cacheWrite.tokens,
    isLeftOut: leavesOut(input, cacheRead) || leavesOut(input, cacheWrite)
  }
  const outputs: Side = { own: output.tokens, part: reasoning.tokens, isLeftOut: leavesOut(output, reasoning) }
  const [wholeInput, wholeOutput] = wholes(inputs, outputs, total.tokens)
  const promptTokens = Math.min(wholeInput, MAX_TOKENS_PER_CALL)
  const completionTokens = Math.min(wholeOutput, MAX_TOKENS_PER_CALL)
  return consistentCounts({
    ...{ promptTokens, completionTokens, totalTokens: total.tokens },
    ...{ cachedTokens: cacheRead.tokens, cacheWriteTokens: cacheWrite.tokens, reasoningTokens: reasoning.tokens }
  })
}

/** Counts whose parts are within their wholes; undefined when all are 0. */
export const consistentCounts = (stated: Required<TokenCounts>): TokenCounts | undefined => {
  const { completionTokens, promptTokens } = stated
  const totalTokens = Math.max(stated.totalTokens, promptTokens + completionTokens)
  if (totalTokens === 0) return undefined
  const cachedTokens = Math.min(stated.cachedTokens, promptTokens)
  const cacheWriteTokens = Math.min(stated.cacheWriteTokens, promptTokens - cachedTokens)
  const reasoningTokens = Math.min(stated.reasoningTokens, completionTokens)
  return {
    promptTokens,
    completionTokens,
    totalTokens,
    ...(cachedTokens > 0 && { cachedTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    ...(reasoningTokens > 0 && { reasoningTokens })
  }
}

/** A count with the name that stated it. */
interface NamedCount {
  readonly tokens: number
  readonly name: string
}

/** The input, or the output, of a call. */
interface Side {
  /** Its own count, as stated. */
  readonly own: number
  /** Tokens that are stated as a part of it, or beside it. */
  readonly part: number
  /** Whether by the names the own count excludes the part. */
  readonly isLeftOut: boolean
}

/**
 * All tokens of both sides. SDKs differ in whether a count includes its part. The total decides where it fits one
 * reading; otherwise the part is added where the names exclude it, or where it exceeds the count.
 */
const wholes = (input: Side, output: Side, total: number): readonly [number, number] => {
  const inputs = [input.own, input.own + input.part]
  const outputs = [output.own, output.own + output.part]
  for (const wholeOutput of outputs) {
    for (const wholeInput of inputs) if (wholeInput + wholeOutput === total) return [wholeInput, wholeOutput]
  }
  return [wholeOf(input), wholeOf(output)]
}

const wholeOf = ({ isLeftOut, own, part }: Side): number => (isLeftOut || part > own ? own + part : own)

const leavesOut = (count: NamedCount, part: NamedCount): boolean => LEFT_OUT.get(count.name)?.has(part.name) === true

const NO_COUNT: NamedCount = { tokens: 0, name: "" }

/** The first count above 0: SDKs that state a count under two names leave one of them 0. */
const firstCount = (stated: StatedUnder, count: UsageCount): NamedCount => {
  for (const name of USAGE_NAMES[count]) {
    const tokens = tokensOf(stated(name))
    if (tokens > 0) return { tokens, name }
  }
  return NO_COUNT
}

const DIGITS = /^\d+$/

/** A count as a number, or as the digits in which JSON of protobuf writes 64-bit integers; 0 for anything else. */
const tokensOf = (value: Schema.Json | undefined): number => {
  const number = typeof value === "string" && DIGITS.test(value) ? Number(value) : value
  return typeof number === "number" && number >= 1 ? Math.min(Math.trunc(number), MAX_TOKENS_PER_CALL) : 0
}

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** A known name: in which member of the first one the count is, when it is not the first one itself. */
interface UsageName {
  readonly name: string
  readonly inner: string | undefined
}

/** Whether a member of this name, in one of its spellings, may hold a count. */
export const isCountName = (member: string): boolean => COUNT_MEMBERS.has(member)

/** Last members of all names, in both spellings. */
const COUNT_MEMBERS: ReadonlySet<string> = new Set(
  Object.values(USAGE_NAMES)
    .flat()
    .flatMap((name) => {
      const last = name.slice(name.indexOf(".") + 1)
      return [last, camelCase(last)]
    })
)

/** First member of a name, in both spellings -> the names that begin with it. */
const NAMES_BY_MEMBER: ReadonlyMap<string, ReadonlyArray<UsageName>> = (() => {
  const names = new Map<string, Array<UsageName>>()
  for (const name of Object.values(USAGE_NAMES).flat()) {
    const [first = "", inner] = name.split(".")
    for (const member of new Set([first, camelCase(first)])) {
      names.set(member, [...(names.get(member) ?? []), { name, inner }])
    }
  }
  return names
})()

const memberOf = (holder: Schema.Json, name: string): Schema.Json | undefined =>
  isJsonObject(holder) ? (holder[name] ?? holder[camelCase(name)]) : undefined
