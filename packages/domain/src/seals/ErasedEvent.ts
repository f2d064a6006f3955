import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ErasedMember } from "../events/ErasedMember.ts"
import { type ErasableSpan, erasableInEvent, replaceSpans } from "./ErasableSpans.ts"
import { memberSpans, type Span } from "./JsonSpans.ts"
import { textOf } from "./Verification.ts"

/** An event as it is served, taken apart: the text that the chain covers, and what the service says beside it. */
export interface ServedEvent {
  readonly text: Uint8Array
  /** Empty for an event without erased members. */
  readonly erased: ReadonlyArray<ErasedMember>
}

const QUOTE = 0x22
const EMPTY_TEXT = '""'
const NULL = "null"

const utf8 = new TextEncoder()

/** The text in the position of an erased value, so that typed clients read on: `""` for a text, else null. */
const placeholderOf = (bytes: Uint8Array, { start }: Span): string => (bytes[start] === QUOTE ? EMPTY_TEXT : NULL)

/**
 * An event as it is served after an erasure: `""` or null in the position of each erased value, and the member `erased`
 * at its end. The member is outside of `data`, which agents write, and no part of the chain. `text` is an event without
 * this member, and `erased` lists all erased members of it. Undefined where one of them is not an erasable member of
 * the event.
 */
export const erasedEvent = (text: Uint8Array, erased: ReadonlyArray<ErasedMember>): Uint8Array | undefined => {
  if (erased.length === 0) return text
  const erasable = new Map(erasableInEvent(text)?.map((span) => [span.pointer, span]))
  const spans: Array<ErasableSpan> = []
  for (const { pointer } of erased) {
    const span = erasable.get(pointer)
    if (span === undefined) return undefined
    spans.push(span)
  }
  spans.sort((one, other) => one.start - other.start)
  const end = { start: text.length - 1, end: text.length }
  const members = JSON.stringify(erased.map(({ at, pointer, reason }) => ({ pointer, at, reason })))
  return replaceSpans<Span>(text, [...spans, end], (span) =>
    span === end ? `,"erased":${members}}` : placeholderOf(text, span)
  )
}

/**
 * Takes an event apart as `erasedEvent` makes it. A member `erased` in another position or form belongs to the text,
 * where the chain finds it. Agents cannot write it: all that they send is in `data`.
 */
export const servedEvent = (served: Uint8Array): ServedEvent => {
  const whole = { text: served, erased: [] }
  const span = memberSpans(served)?.get("erased")
  if (span?.end !== served.length - 1) return whole
  const listed = Result.getOrUndefined(decodeMembers(textOf(served.subarray(span.start, span.end))))
  if (listed === undefined || listed.length === 0) return whole
  const text = replaceSpans(served, [{ start: span.start - BEFORE.length, end: span.end }], () => "")
  return { text, erased: listed }
}

/** What is between the text of an event and the list of its erased members. */
const BEFORE = utf8.encode(',"erased":')

const decodeMembers = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Array(ErasedMember)), {
  onExcessProperty: "error"
})
