/**
 * Cuts of texts for readers, whose characters are graphemes: an emoji of several code points, a letter with its
 * combining marks, a Persian letter with its joiner. Where one ends depends on the Unicode version of the engine, so
 * nothing that is stored or folded is cut with these.
 */
const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" })

/** Code units of the longest grapheme that stays whole; longer ones are piles of combining marks. */
const MAX_GRAPHEME_UNITS = 64

/** The graphemes of a text, one after another. */
export function* graphemesOf(text: string): Generator<string> {
  for (const { segment } of segmenter.segment(text)) yield segment
}

/** The start of a text of at most so many code units, without a grapheme in part. */
export const wholeStart = (text: string, units: number): string => {
  if (text.length <= units) return text
  const at = segmenter.segment(text.slice(0, units + MAX_GRAPHEME_UNITS)).containing(units)?.index ?? units
  return units - at < MAX_GRAPHEME_UNITS ? text.slice(0, at) : text.slice(0, units).toWellFormed()
}

/** The first graphemes of a text, at most so many; the text itself when it has no more. */
export const firstGraphemes = (text: string, most: number): string => {
  if (text.length <= most) return text
  let start = ""
  let count = 0
  for (const grapheme of graphemesOf(wholeStart(text, most * MAX_GRAPHEME_UNITS))) {
    if (count === most) return start
    start += grapheme
    count += 1
  }
  return start
}
