/**
 * Without this: one JSON.parse of a body of 32 MiB holds the thread for 250 ms, and its text and its objects are in
 * memory at once; costs this file.
 */
import type { Sliced } from "@runplane/domain"

/** Levels of JSON around and between the values: a value nests four levels of JSON for each of its own. */
const MOST_LEVELS = 1_000
/** Objects and lists around the list of items: the request, its resources, their scopes. */
const AROUND: ReadonlyArray<boolean> = [false, true, false, true, false]
const ITEM_LEVEL = AROUND.length + 1
/** Bytes that are scanned before the thread can be given back. */
const BYTES_PER_SLICE = 65_536

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OBJECT = [0x7b, 0x7d] as const
const LIST = [0x5b, 0x5d] as const

/** A body in OTLP's form of JSON is not readable; the text names the part. */
export class JsonUnreadable extends Error {}

/** Parses a part of the body. Throws JsonUnreadable. */
const parsed = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new JsonUnreadable("it is not JSON")
  }
}

/** A request whose spans or log records are not parsed yet: in their lists are their numbers. */
export interface JsonRequest {
  readonly body: unknown
  /** Parses the item of a number, once; undefined for a number that the sender wrote. Throws JsonUnreadable. */
  readonly take: (number: number) => unknown
}

/**
 * Finds the objects in the lists named `items` at the level of spans, at most `most` of them, and parses what is around
 * them. Further ones are an item without content.
 */
export function* splitJson(bytes: Uint8Array, items: string, most: number): Sliced<JsonRequest> {
  const name = new TextEncoder().encode(`"${items}"`)
  const isName = (from: number, to: number) =>
    to - from === name.length && name.every((byte, index) => bytes[from + index] === byte)
  const found: Array<Uint8Array | undefined> = []
  const around = Buffer.allocUnsafe(bytes.length + most * String(most).length)
  let size = 0
  let copied = 0
  const copyTo = (end: number) => {
    around.set(bytes.subarray(copied, end), size)
    size += end - copied
  }
  const isList: Array<boolean> = []
  let keyFrom = 0
  let keyTo = 0
  let isItems = false
  let itemFrom: number | undefined
  for (let at = 0, pause = BYTES_PER_SLICE; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      keyFrom = at
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
      keyTo = at + 1
    } else if (byte === OBJECT[0] || byte === LIST[0]) {
      if (isList.length === AROUND.length) {
        isItems = byte === LIST[0] && isName(keyFrom, keyTo) && AROUND.every((is, level) => is === isList[level])
      }
      if (isList.length === ITEM_LEVEL && isItems && byte === OBJECT[0]) itemFrom = at
      if (isList.push(byte === LIST[0]) > MOST_LEVELS) {
        throw new JsonUnreadable(`it nests deeper than ${MOST_LEVELS} levels`)
      }
    } else if (byte === OBJECT[1] || byte === LIST[1]) {
      isList.pop()
      if (isList.length === ITEM_LEVEL && itemFrom !== undefined) {
        copyTo(itemFrom)
        copied = at + 1
        const number = found.length < most ? found.push(bytes.subarray(itemFrom, copied)) - 1 : -1
        size += around.write(String(number), size)
        itemFrom = undefined
      }
    }
    if (at >= pause) {
      pause = at + BYTES_PER_SLICE
      yield
    }
  }
  copyTo(bytes.length)
  const take = (number: number) => {
    const item = found[number]
    if (item === undefined) return undefined
    found[number] = undefined
    return parsed(item)
  }
  return { body: parsed(around.subarray(0, size)), take }
}
