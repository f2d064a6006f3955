/**
 * A part of a sentence: words of the service, or a text that a participant or another person chose. A reader for whom
 * such texts are data alone (docs/reference/mcp.md#bounds) sets the quoted parts apart.
 */
export interface PhrasePart {
  readonly text: string
  readonly isQuoted: boolean
}

export type Phrase = ReadonlyArray<PhrasePart>

/** A sentence: the template is the service's own, and so are numbers and phrases in it; texts in it are quoted. */
export const phrase = (own: TemplateStringsArray, ...inserted: ReadonlyArray<string | number | Phrase>): Phrase =>
  own.flatMap((text, index): Phrase => {
    const next = inserted[index]
    const after =
      next === undefined
        ? []
        : typeof next === "string"
          ? [{ text: next, isQuoted: true }]
          : typeof next === "number"
            ? [{ text: String(next), isQuoted: false }]
            : next
    return [{ text, isQuoted: false }, ...after].filter((part) => part.text !== "")
  })

/** The quoted texts as a list with commas. */
export const listed = (texts: ReadonlyArray<string>): Phrase =>
  texts.flatMap((text, index): Phrase => (index === 0 ? phrase`${text}` : phrase`, ${text}`))

/** The sentence as one text. */
export const phraseText = (parts: Phrase): string => parts.map(({ text }) => text).join("")
