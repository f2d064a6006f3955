import { graphemesOf, wholeStart } from "@runplane/domain"
import stringWidth from "string-width"

/** Code units for each column that a cut reads: the longest emoji of two columns has 35. */
const UNITS_PER_COLUMN = 32

/** Columns of a terminal that a text takes: two for a Japanese letter or an emoji, none for a combining mark. */
export const widthOf = (text: string): number => stringWidth(text)

/** The text itself when it fits into so many columns; else its first graphemes and `…`. */
export const cutToWidth = (text: string, width: number): string => {
  const start = wholeStart(text, width * UNITS_PER_COLUMN)
  if (start.length === text.length && widthOf(text) <= width) return text
  let kept = ""
  let left = width - 1
  for (const grapheme of graphemesOf(start)) {
    left -= widthOf(grapheme)
    if (left < 0) break
    kept += grapheme
  }
  return `${kept}…`
}

/** The text with spaces behind it, up to so many columns. */
export const padToWidth = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)))
