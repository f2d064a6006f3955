/** The text of these bytes without a byte order mark; undefined when they are no UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const LINE_FEED = 0x0a

/**
 * The first line, from 1, that is not UTF-8. A line feed never is a part of another character, so lines can be told
 * apart.
 */
export const firstBrokenLine = (bytes: Uint8Array): number => {
  let line = 1
  let start = 0
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
    if (decodeUtf8(bytes.subarray(start, end)) === undefined) return line
    start = end + 1
    line++
  }
  return line
}
