import * as Stream from "effect/Stream"

/** Longest log line of an agent, characters; a longer one is passed on in pieces, so that memory stays bounded. */
export const MAX_LINE_LENGTH = 8192

/** Splits a byte stream into its non-empty lines; the last one counts without a line end too. */
export const logLines = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    let rest = ""
    return bytes.pipe(
      Stream.decodeText,
      Stream.flatMap((text) => {
        const split = splitLines(rest + text)
        rest = split.rest
        return Stream.fromIterable(split.lines)
      }),
      Stream.concat(Stream.suspend(() => (rest === "" ? Stream.empty : Stream.make(rest))))
    )
  })

/** The complete lines of a text, and what stays open behind the last line end. */
const splitLines = (text: string): { readonly lines: ReadonlyArray<string>; readonly rest: string } => {
  const parts = text.split(/\r\n|\r|\n/).map(piecesOf)
  const open = parts.pop() ?? []
  const rest = open.pop() ?? ""
  return { lines: [...parts.flat(), ...open], rest }
}

/**
 * A line as a log may hold it: control characters, which could repaint a terminal or forge other lines, are written
 * out.
 */
export const printable = (line: string): string =>
  line.replace(
    /(?!\t)[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const piecesOf = (line: string): Array<string> =>
  Array.from({ length: Math.ceil(line.length / MAX_LINE_LENGTH) }, (_, at) =>
    line.slice(at * MAX_LINE_LENGTH, (at + 1) * MAX_LINE_LENGTH)
  )
