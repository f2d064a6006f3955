export const REDACTED = "[REDACTED]"

/**
 * Characters of text that one search of a pattern sees. A pattern such as `.*token` takes quadratic time on one long
 * line; longer text is searched window by window, which bounds that.
 */
export const REDACTION_WINDOW_CHARS = 8_192
/** Characters that neighbouring windows share: a match up to this long is found wherever it lies (a PEM key fits). */
export const REDACTION_OVERLAP_CHARS = 4_096

/** A part of a text, `end` excluded. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** A comma that is not the one of a quantifier. */
const SEPARATOR = /,(?!(?<=\{\d+,)\d*\})/

/** The patterns of `PROTO_REDACT_PATTERNS`, and the pieces that are none. */
export const readPatterns = (text: string) => {
  const pieces = text.split(SEPARATOR)
  const patterns: Array<RegExp> = []
  const invalid: Array<string> = []
  for (let at = 0; at < pieces.length; at++) {
    const piece = (pieces[at] ?? "").trim()
    if (piece === "") continue
    const pattern = compile(piece) ?? compileJoined(pieces, at)
    if (pattern === undefined) {
      invalid.push(piece)
    } else if (pattern instanceof RegExp) {
      patterns.push(pattern)
    } else {
      patterns.push(pattern.pattern)
      at = pattern.lastPiece
    }
  }
  return { patterns, invalid }
}

const compile = (source: string, flags = "g"): RegExp | undefined => {
  try {
    return new RegExp(source, flags)
  } catch {
    return undefined
  }
}

/**
 * Puts an invalid piece together with those after it until they are a pattern. Only when the last piece is not a
 * pattern of its own, so that a broken pattern never swallows a good one; the Unicode mode judges that, since it
 * refuses a lone bracket.
 */
const compileJoined = (pieces: ReadonlyArray<string>, first: number) => {
  let source = pieces[first] ?? ""
  for (let last = first + 1; last < pieces.length; last++) {
    const piece = pieces[last] ?? ""
    source = `${source},${piece}`
    const pattern = compile(piece, "u") === undefined ? compile(source.trim()) : undefined
    if (pattern !== undefined) return { pattern, lastPiece: last }
  }
  return undefined
}

/** What a pattern matches in a text, in the order of the text, without matches of the empty text. */
export const rangesOf = (pattern: RegExp, text: string): ReadonlyArray<Range> => {
  const ranges: Array<Range> = []
  for (let offset = 0; ; offset += REDACTION_WINDOW_CHARS - REDACTION_OVERLAP_CHARS) {
    const window = text.length <= REDACTION_WINDOW_CHARS ? text : text.slice(offset, offset + REDACTION_WINDOW_CHARS)
    for (const match of window.matchAll(pattern)) {
      const start = offset + match.index
      if (match[0] !== "") ranges.push({ start, end: start + match[0].length })
    }
    if (offset + REDACTION_WINDOW_CHARS >= text.length) break
  }
  return ranges.sort((a, b) => a.start - b.start)
}

/** The text with `[REDACTED]` in place of what the pattern matches. */
export const redactWith = (pattern: RegExp, text: string): string => {
  let output = ""
  let position = 0
  for (const { start, end } of rangesOf(pattern, text)) {
    if (start >= position) output += text.slice(position, start) + REDACTED
    position = Math.max(position, end)
  }
  return output + text.slice(position)
}
