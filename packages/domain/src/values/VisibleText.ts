/** Control characters of terminals, line separators, and characters that change the direction of a line. */
const INVISIBLE = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu

const SHORT: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"]
])

/**
 * Text of others on one line for a log: control characters, line separators and direction marks are escaped as in JSON,
 * so a text that is inside of JSON keeps its meaning (docs/reference/operations.md#log-lines).
 */
export const visibleText = (text: string): string =>
  text.replace(INVISIBLE, (character) => SHORT.get(character) ?? `\\u${hexOf(character)}`)

/** The text with a space for each of these characters; as long as before. */
export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, " ")

/**
 * Characters without a form of their own: controls, format characters, separators of lines, ignorable ones such as
 * variation selectors and tags, and halves of pairs. A text can carry hidden instructions in them.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
/** A joiner inside of a word of a script that needs it, or inside of an emoji; one presentation selector of a sign. */
const JOINER =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f[[\p{L}\p{M}]--[\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}]]])[\u200c\u200d](?=[\p{Extended_Pictographic}[[\p{L}\p{M}]--[\p{scx=Latin}\p{scx=Greek}\p{scx=Cyrillic}]]])|(?<=[\p{Emoji}\p{So}\p{Sm}])[\ufe0e\ufe0f]/v
const CUT = new RegExp(`(${JOINER.source})|(\\r\\n?|[\\n\\u2028\\u2029])|${HIDDEN.source}`, "gv")

/**
 * Text of others without what its reader does not see: no control or format characters. Line breaks and tabs stay with
 * `lines`, and are a space otherwise. Joiners stay where a script or an emoji is written with them.
 */
export const shownText = (text: string, { lines = false }: { readonly lines?: boolean } = {}): string =>
  HIDDEN.test(text)
    ? text.replace(CUT, (found: string, joiner?: string, line?: string) => {
        if (joiner !== undefined) return found
        if (line !== undefined) return lines ? "\n" : " "
        return found !== "\t" ? "" : lines ? found : " "
      })
    : text

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** The text for an element or a quoted attribute of HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter)

const hexOf = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, "0")
