/**
 * Without this: one JSON.parse of a span with ten million attributes or of a text of 31 MB holds the thread for
 * seconds, and makes gigabytes of objects; costs this file.
 */
import type { Sliced } from "@runplane/domain"
import { MOST_NAMES, MOST_TEXT_BYTES, type RequestBounds } from "./Bounds.ts"
import {
  BACKSLASH,
  BYTES_PER_SLICE,
  COMMA,
  type JsonPart,
  JsonUnreadable,
  LIST,
  OBJECT,
  parsedText,
  QUOTE
} from "./JsonCursor.ts"

/** A part with fewer objects, lists and commas, and shorter texts, is parsed as it is. */
const MOST_WHOLE_PARTS = 16_384
/** Members of an object of OTLP that are parsed, and elements of unknown lists. */
const MOST_MEMBERS = 64
/** The same of one part together; a part with more is rejected. */
const MOST_PARTS = 400_000

/** Objects, lists and commas that a value in a list has, about. */
const FIELDS_PER_VALUE = 4

/** A span or log record has more members than can be parsed. */
export class TooManyMembers extends Error {}

/** Stands for a text that is not parsed, by its number, and for the members of a list that are cut. */
export const CUT_KEY = ""
const CUT_MEMBERS = `,{"${CUT_KEY}":-1}`

/** A text that is too long to be parsed: its first bytes, and all of its bytes. */
export interface LongText {
  readonly beginning: string
  readonly bytes: number
}

export interface ParsedPart {
  readonly value: unknown
  readonly texts: ReadonlyArray<LongText>
}

interface Level {
  readonly isList: boolean
  readonly kind: "attributes" | "events" | "links" | "values" | undefined
  readonly most: number
  count: number
}

const KINDS = ["attributes", "events", "links", "values"] as const

/** Parses a part of the body. Lists with too many members, and texts that are too long, are cut before. */
export function* parsePart(bytes: Uint8Array, part: JsonPart, bounds: RequestBounds): Sliced<ParsedPart> {
  const own = bytes.subarray(part.from, part.to)
  if (part.parts <= MOST_WHOLE_PARTS && part.longest <= MOST_TEXT_BYTES) return { value: parsedText(own), texts: [] }
  const { kept, texts } = yield* cut(own, bounds)
  return { value: parsedText(kept), texts }
}

function* cut(bytes: Uint8Array, bounds: RequestBounds) {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const kept: Array<Uint8Array> = []
  const texts: Array<LongText> = []
  const levels: Array<Level> = []
  let copied = 0
  let parts = 0
  let values = bounds.limits.valueFields / FIELDS_PER_VALUE
  /** The level whose further members are left out. */
  let cutLevel: number | undefined
  let key = { from: 0, to: 0 }

  const copyTo = (end: number, instead = "") => {
    kept.push(bytes.subarray(copied, end))
    if (instead !== "") kept.push(Buffer.from(instead))
    copied = end
  }
  const mostOf = (isList: boolean, kind: Level["kind"]) => {
    if (!isList) return MOST_MEMBERS
    if (kind === "values") return Number.POSITIVE_INFINITY
    return kind === "attributes" ? MOST_NAMES : kind === undefined ? MOST_MEMBERS : bounds.limits.attributes
  }
  const open = (isList: boolean) => {
    const isKeyed = levels.at(-1)?.isList === false
    const name = isKeyed ? source.toString("latin1", key.from + 1, Math.min(key.to - 1, key.from + 16)) : ""
    const kind = isList ? KINDS.find((one) => one === name) : undefined
    levels.push({ isList, kind, most: mostOf(isList, kind), count: 1 })
  }
  const count = () => {
    if (++parts > MOST_PARTS) throw new TooManyMembers()
  }
  /** A comma: the member behind it is kept, or it and all further ones are left out. */
  const separate = (level: Level, at: number) => {
    if (cutLevel !== undefined) {
      if (cutLevel === levels.length) leaveOut(level)
      return
    }
    level.count++
    const isBeyond = level.kind === "values" ? --values < 0 : level.count > level.most
    if (!isBeyond) return count()
    cutLevel = levels.length
    copyTo(at, level.kind === "values" ? CUT_MEMBERS : "")
    if (level.kind === "values") bounds.drop("values")
    else leaveOut(level)
  }
  const leaveOut = ({ kind }: Level) => {
    if (kind === undefined) bounds.pass()
    else if (kind !== "values") bounds.drop(kind)
  }

  let pause = BYTES_PER_SLICE
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      const from = at
      for (at++; bytes[at] !== QUOTE; at++) {
        if (bytes[at] === BACKSLASH) at++
        if (at >= pause) {
          pause = at + BYTES_PER_SLICE
          yield
        }
      }
      key = { from, to: at + 1 }
      if (at - from > MOST_TEXT_BYTES && cutLevel === undefined) {
        copyTo(from, `{"${CUT_KEY}":${texts.length}}`)
        copied = at + 1
        texts.push({ beginning: beginning(source.subarray(from, from + MOST_TEXT_BYTES)), bytes: at - from - 1 })
      }
    } else if (byte === OBJECT[0] || byte === LIST[0]) {
      if (cutLevel === undefined) count()
      open(byte === LIST[0])
    } else if (byte === OBJECT[1] || byte === LIST[1]) {
      if (cutLevel === levels.length) {
        cutLevel = undefined
        copied = at
      }
      levels.pop()
    } else if (byte === COMMA) {
      const level = levels.at(-1)
      if (level !== undefined) separate(level, at)
    }
    if (at >= pause) {
      pause = at + BYTES_PER_SLICE
      yield
    }
  }
  copyTo(bytes.length)
  return { kept: Buffer.concat(kept), texts }
}

/** The first bytes of a text in JSON, without half an escape at their end. */
const beginning = (bytes: Buffer): string => {
  for (const less of [0, 1, 2, 3, 4, 5, 6]) {
    try {
      return String(JSON.parse(`${new TextDecoder().decode(bytes.subarray(0, bytes.length - less))}"`))
    } catch {
      // The end is inside of an escape.
    }
  }
  throw new JsonUnreadable("it is not JSON")
}
