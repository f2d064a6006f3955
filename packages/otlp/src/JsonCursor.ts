import type { Sliced } from "@runplane/domain"

/** Levels of JSON inside each other: a value of OTLP nests four levels of JSON for each of its own. */
export const MOST_LEVELS = 1_000
/** Bytes that are scanned before the thread can be given back. */
export const BYTES_PER_SLICE = 65_536

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const COMMA = 0x2c
const COLON = 0x3a
export const OBJECT = [0x7b, 0x7d] as const
export const LIST = [0x5b, 0x5d] as const

/** A body in OTLP's form of JSON is not readable; the text names the part. */
export class JsonUnreadable extends Error {}

const notJson = () => new JsonUnreadable("it is not JSON")

/** A value in the body: its offsets, and what decides how it is parsed. */
export interface JsonPart {
  readonly from: number
  readonly to: number
  /** Objects, lists and commas in it. */
  readonly parts: number
  /** Bytes of its longest text, with the quotes. */
  readonly longest: number
}

export const parsedText = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw notJson()
  }
}

/** A value that is being scanned. */
interface Scan {
  at: number
  /** The brackets that end the objects and lists around the offset. */
  readonly ends: Array<number>
  /** The offset of the text that the scan is inside of. */
  textFrom: number | undefined
  parts: number
  longest: number
}

/** The offset of the quote that ends a text, or the first one behind `until`. */
const endOfText = (bytes: Uint8Array, from: number, until: number): number => {
  let at = from
  while (at < until && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

/** Scans some bytes more, not as a generator: those are slow in loops over bytes. Whether the value has ended. */
const scanned = (bytes: Uint8Array, scan: Scan): boolean => {
  const { ends } = scan
  const until = Math.min(bytes.length, scan.at + BYTES_PER_SLICE)
  let { at, parts } = scan
  let isOver = false
  while (at < until && !isOver) {
    const byte = bytes[at]
    if (scan.textFrom !== undefined || byte === QUOTE) {
      if (scan.textFrom === undefined) scan.textFrom = at++
      at = endOfText(bytes, at, until)
      if (at >= until) break
      at++
      scan.longest = Math.max(scan.longest, at - scan.textFrom)
      scan.textFrom = undefined
      isOver = ends.length === 0
    } else if (byte === OBJECT[0] || byte === LIST[0]) {
      at++
      parts++
      if (ends.push(byte === OBJECT[0] ? OBJECT[1] : LIST[1]) > MOST_LEVELS) {
        throw new JsonUnreadable(`it nests deeper than ${MOST_LEVELS} levels`)
      }
    } else if (byte === COMMA || byte === OBJECT[1] || byte === LIST[1]) {
      if (ends.length === 0) isOver = true
      else {
        at++
        if (byte === COMMA) parts++
        else if (ends.pop() !== byte) throw notJson()
        else isOver = ends.length === 0
      }
    } else at++
  }
  scan.at = at
  scan.parts = parts
  if (isOver) return true
  if (at < bytes.length) return false
  // Only a number or a word ends with the body.
  if (ends.length > 0 || scan.textFrom !== undefined) throw notJson()
  return true
}

/** Moves over the bytes of JSON value by value without parsing them. It can give the thread back meanwhile. */
export class JsonCursor {
  readonly bytes: Uint8Array
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** The next byte behind white space; undefined at the end. */
  next(): number | undefined {
    const { bytes } = this
    let byte = bytes[this.at]
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = bytes[++this.at]
    return byte
  }

  #take(byte: number): void {
    if (this.next() !== byte) throw notJson()
    this.at++
  }

  /** Ends a member or an element: whether another one follows. */
  #isMore(end: number): boolean {
    const byte = this.next()
    if (byte !== COMMA && byte !== end) throw notJson()
    this.at++
    return byte === COMMA
  }

  /** Calls `visit` for each member of the object at the cursor. It moves over the value. */
  *members(visit: (key: string) => Sliced<void>): Sliced<void> {
    this.#take(OBJECT[0])
    if (this.next() === OBJECT[1]) {
      this.at++
      return
    }
    do {
      if (this.next() !== QUOTE) throw notJson()
      const from = this.at
      this.#skipText()
      const key = this.#keyOf(from)
      this.#take(COLON)
      yield* visit(key)
    } while (this.#isMore(OBJECT[1]))
  }

  /**
   * Calls `visit` for each element of the list at the cursor, which moves over it, and `empty` for each `{}`: millions
   * of these make no generators.
   */
  *elements(visit: () => Sliced<void>, empty: (part: JsonPart) => void): Sliced<void> {
    this.#take(LIST[0])
    if (this.next() === LIST[1]) {
      this.at++
      return
    }
    let pause = this.at + BYTES_PER_SLICE
    do {
      if (this.at >= pause) {
        pause = this.at + BYTES_PER_SLICE
        yield
      }
      if (this.next() === OBJECT[0] && this.bytes[this.at + 1] === OBJECT[1]) {
        const from = this.at
        this.at += 2
        empty({ from, to: this.at, parts: 1, longest: 0 })
      } else yield* visit()
    } while (this.#isMore(LIST[1]))
  }

  /** A key, for comparison with those of OTLP: the others may be cut. */
  #keyOf(from: number): string {
    const text = Buffer.from(this.bytes.buffer, this.bytes.byteOffset + from, Math.min(64, this.at - from))
    if (!text.includes(BACKSLASH)) return text.toString("latin1", 1, text.length - 1)
    const key = parsedText(this.bytes.subarray(from, this.at))
    return typeof key === "string" ? key : ""
  }

  /** Moves over a text of some bytes. */
  #skipText(): void {
    const end = endOfText(this.bytes, this.at + 1, this.bytes.length)
    if (end >= this.bytes.length) throw notJson()
    this.at = end + 1
  }

  /** Moves over a value. Brackets match; what is between them is checked when it is parsed. */
  *skip(): Sliced<JsonPart> {
    if (this.next() === undefined) throw notJson()
    const from = this.at
    const scan: Scan = { at: from, ends: [], textFrom: undefined, parts: 0, longest: 0 }
    while (!scanned(this.bytes, scan)) yield
    if (scan.at === from) throw notJson()
    this.at = scan.at
    return { from, to: scan.at, parts: scan.parts, longest: scan.longest }
  }

  /** Moves over a value that nothing reads; a small one is checked. */
  *ignore(): Sliced<void> {
    const { from, to } = yield* this.skip()
    if (to - from <= BYTES_PER_SLICE) parsedText(this.bytes.subarray(from, to))
  }

  /** Only white space may follow. */
  end(): void {
    if (this.next() !== undefined) throw notJson()
  }
}
