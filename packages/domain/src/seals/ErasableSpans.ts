import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { type ErasureRule, erasableData, erasablePayload } from "./ErasableMembers.ts"
import { elementsOf, memberSpans, type Span } from "./JsonSpans.ts"
import { textOf } from "./Verification.ts"

/** An erasable member in a text: its JSON pointer (RFC 6901), and where the text of its value is. */
export interface ErasableSpan extends Span {
  readonly pointer: string
}

const OPEN_LIST = 0x5b

/**
 * The erasable members of the text of an event, in the order of the text; undefined where it is not an event, and where
 * an object in it has a name twice: what readers read of it is not determined.
 */
export const erasableInEvent = (event: Uint8Array): ReadonlyArray<ErasableSpan> | undefined => {
  const members = memberSpans(event)
  const type = parsed(event, members?.get("type"))
  const data = members?.get("data")
  return typeof type !== "string" || data === undefined
    ? undefined
    : inOrder(spansIn(event, data, erasableData(type), "/data"))
}

/** Those of the text of a raw frame, as `frameText` writes it; undefined where it is not one. */
export const erasableInFrame = (frame: Uint8Array): ReadonlyArray<ErasableSpan> | undefined => {
  if (frame[0] !== OPEN_LIST) return undefined
  const parts = elementSpans(frame)
  const kind = parsed(frame, parts[2])
  const payload = parts[4]
  if (typeof kind !== "string" || payload === undefined || parts.length !== 5) return undefined
  return inOrder(spansIn(frame, payload, erasablePayload(kind), "/payload"))
}

/** Undefined where the order is not that of the text, or two members have one pointer. */
const inOrder = (spans: ReadonlyArray<ErasableSpan>): ReadonlyArray<ErasableSpan> | undefined => {
  const isAscending = spans.every(({ start }, at) => start >= (spans[at - 1]?.end ?? 0))
  return isAscending && new Set(spans.map(({ pointer }) => pointer)).size === spans.length ? spans : undefined
}

const spansIn = (bytes: Uint8Array, span: Span, rule: ErasureRule, pointer: string): ReadonlyArray<ErasableSpan> => {
  if (rule === "kept") return []
  const whole = [{ pointer, ...span }]
  if (rule === "erasable") return whole
  const value = bytes.subarray(span.start, span.end)
  const placed = ({ end, start }: Span): Span => ({ start: span.start + start, end: span.start + end })
  if ("each" in rule) {
    if (value[0] !== OPEN_LIST) return whole
    return elementSpans(value).flatMap((each, index) => spansIn(bytes, placed(each), rule.each, `${pointer}/${index}`))
  }
  const members = memberSpans(value)
  if (members === undefined) return isEmptyObject(value) ? [] : whole
  return [...members].flatMap(([written, member]) => {
    const name = nameOf(written)
    const next = rule.members.get(name) ?? rule.others
    return spansIn(bytes, placed(member), next, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`)
  })
}

const elementSpans = (list: Uint8Array): ReadonlyArray<Span> =>
  Array.from(elementsOf(list), (element) => {
    const start = element.byteOffset - list.byteOffset
    return { start, end: start + element.length }
  })

const isEmptyObject = (value: Uint8Array): boolean => value.length === 2 && value[0] === 0x7b && value[1] === 0x7d

/** A name as it is written between its quotes. */
const nameOf = (written: string): string => {
  if (!written.includes("\\")) return written
  const read: unknown = Result.getOrUndefined(Result.try(() => JSON.parse(`"${written}"`)))
  return typeof read === "string" ? read : written
}

const parsed = (bytes: Uint8Array, span: Span | undefined): Schema.Json | undefined => {
  const text = span === undefined ? undefined : textOf(bytes.subarray(span.start, span.end))
  return text === undefined ? undefined : Result.getOrUndefined(Result.try((): Schema.Json => JSON.parse(text)))
}

const utf8 = new TextEncoder()

/** The bytes with another text in each of the spans, which are in order and do not overlap. */
export const replaceSpans = <S extends Span>(
  bytes: Uint8Array,
  spans: ReadonlyArray<S>,
  textFor: (span: S) => string
): Uint8Array => {
  const parts: Array<Uint8Array> = []
  let from = 0
  for (const span of spans) {
    parts.push(bytes.subarray(from, span.start), utf8.encode(textFor(span)))
    from = span.end
  }
  parts.push(bytes.subarray(from))
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
