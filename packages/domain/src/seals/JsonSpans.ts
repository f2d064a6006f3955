/** A part of some bytes, `end` excluded. */
export interface Span {
  readonly start: number
  readonly end: number
}

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c] as const
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d] as const

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/**
 * Where the members of an object end, in the JSON without white space that services write. Nothing is decoded but the
 * names, so that a document of any size takes no further memory. Undefined where the bytes are not such an object.
 */
export const memberSpans = (bytes: Uint8Array): ReadonlyMap<string, Span> | undefined => {
  const members = new Map<string, Span>()
  if (bytes[0] !== OPEN_OBJECT) return undefined
  for (let at = 1; at < bytes.length; ) {
    const colon = bytes[at] === QUOTE ? stringEnd(bytes, at) : -1
    const end = bytes[colon] === COLON ? valueEnd(bytes, colon + 1) : -1
    if (end === -1) return undefined
    members.set(utf8.decode(bytes.subarray(at + 1, colon - 1)), { start: colon + 1, end })
    if (bytes[end] === CLOSE_OBJECT) return end + 1 === bytes.length ? members : undefined
    if (bytes[end] !== COMMA) return undefined
    at = end + 1
  }
  return undefined
}

/** The elements of a list, each as its bytes; elements without a separator are one piece. */
export const elementsOf = function* (list: Uint8Array): Generator<Uint8Array> {
  if (list[0] !== OPEN_LIST) return yield list
  if (list.length === 2 && list[1] === CLOSE_LIST) return
  for (let at = 1; at < list.length; ) {
    const end = valueEnd(list, at)
    if (end === -1 || (list[end] !== COMMA && list[end] !== CLOSE_LIST)) return yield list.subarray(at)
    yield list.subarray(at, end)
    at = end + 1
  }
}

/** The offset after the value that begins here; -1 when it does not end. */
const valueEnd = (bytes: Uint8Array, start: number): number => {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      const end = stringEnd(bytes, at)
      if (end === -1) return -1
      if (depth === 0) return end
      at = end - 1
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      // The end of the container of the value, a number or a literal.
      if (depth === 0) return at
      depth -= 1
      if (depth === 0) return at + 1
    } else if (byte === COMMA && depth === 0) return at
  }
  return -1
}

/** The offset after the string that begins here; -1 when it does not end. */
const stringEnd = (bytes: Uint8Array, start: number): number => {
  for (let quote = bytes.indexOf(QUOTE, start + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1
    while (before > start && bytes[before] === BACKSLASH) before -= 1
    if ((quote - before) % 2 === 1) return quote + 1
  }
  return -1
}
