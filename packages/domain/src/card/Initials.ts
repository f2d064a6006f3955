import { firstGraphemes } from "../values/Graphemes.ts"

/** The first letters of a name's words, two at most: "impact-analyst" is "IA". */
export const initials = (name: string): string =>
  name
    .replace(/^[a-z]+:\/\//i, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .slice(0, 2)
    .map((word) => firstGraphemes(word, 1).toUpperCase())
    .join("") || "?"
