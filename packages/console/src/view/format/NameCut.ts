import { graphemesOf } from "@runplane/domain"

/** Graphemes from which on a name is split, and those of the end that is always shown. */
const LONG = 24
const END = 8
const LONGEST_END = 18

/**
 * A name in two parts. A narrow list shortens the first part and always shows the second. Names of one family differ
 * at their end, so the second part has the version (`@1.0.0`) and a few graphemes before it.
 */
export const nameParts = (name: string): readonly [start: string, end: string] => {
  const letters = [...graphemesOf(name)]
  if (letters.length <= LONG) return [name, ""]
  const version = letters.lastIndexOf("@")
  const suffix = version < 0 ? 0 : letters.length - version
  const end = Math.min(LONGEST_END, suffix + END)
  return [letters.slice(0, -end).join(""), letters.slice(-end).join("")]
}
