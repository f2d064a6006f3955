import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { type ErasableSpan, erasableInEvent, erasableInFrame, replaceSpans } from "../seals/ErasableSpans.ts"
import { textOf } from "../seals/Verification.ts"
import { isJsonObject } from "../values/JsonReader.ts"
import type { TextFinder } from "./TextFinder.ts"

/** The members of an event or a raw frame in which a text was found, by their JSON pointers. */
export interface FoundMembers {
  /** Those whose values can be erased. */
  readonly erasable: ReadonlyArray<string>
  /** Those that stay: the decision is computed with them, or they identify something. */
  readonly kept: ReadonlyArray<string>
}

/** Where the text of an event, without its member `erased`, has what is searched. */
export const foundInEvent = (finder: TextFinder, event: Uint8Array): FoundMembers =>
  foundIn(finder, event, erasableInEvent(event))

/** The same in the text of a raw frame, as `frameText` writes it. */
export const foundInFrame = (finder: TextFinder, frame: Uint8Array): FoundMembers =>
  foundIn(finder, frame, erasableInFrame(frame))

const foundIn = (finder: TextFinder, bytes: Uint8Array, spans: ReadonlyArray<ErasableSpan> = []): FoundMembers => {
  const values = spans.map((span) => ({ span, value: parsed(bytes.subarray(span.start, span.end)) }))
  const erasable = values.flatMap(({ span, value }) =>
    value !== undefined && isFoundIn(finder, value) ? [span.pointer] : []
  )
  // What is not in an erasable member. Nothing is searched twice, and each pointer stays that of the whole text.
  const rest = parsed(replaceSpans(bytes, spans, () => "null"))
  return { erasable, kept: rest === undefined ? [] : [...pointersIn(finder, rest, "")] }
}

const parsed = (bytes: Uint8Array): Schema.Json | undefined => {
  const text = textOf(bytes)
  return text === undefined ? undefined : Result.getOrUndefined(Result.try((): Schema.Json => JSON.parse(text)))
}

/** Whether a value has the text: in one of its texts, of its numbers, or of the names of its members. */
export const isFoundIn = (finder: TextFinder, value: Schema.Json): boolean => {
  if (typeof value === "string") return finder(value)
  if (typeof value === "number") return finder(String(value))
  if (Array.isArray(value)) return value.some((each) => isFoundIn(finder, each))
  return isJsonObject(value) && Object.entries(value).some(([name, each]) => finder(name) || isFoundIn(finder, each))
}

/** The innermost values that have the text; a name that has it counts as its value. */
const pointersIn = function* (finder: TextFinder, value: Schema.Json, pointer: string): Generator<string> {
  if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) yield* pointersIn(finder, each, `${pointer}/${at}`)
  } else if (isJsonObject(value)) {
    for (const [name, each] of Object.entries(value)) {
      const inner = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`
      if (finder(name)) yield inner
      else yield* pointersIn(finder, each, inner)
    }
  } else if (isFoundIn(finder, value)) yield pointer
}

/** The texts in a value, its own and those of its members. */
export const textsIn = (value: Schema.Json): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : []
}
