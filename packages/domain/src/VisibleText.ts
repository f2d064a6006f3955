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
