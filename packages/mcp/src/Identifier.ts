/** Longest identifier, characters, and the most words in one: a longer chain of words is a sentence. */
const MAX_LENGTH = 100
const MAX_WORDS = 8

/** Letters, digits and the signs that ids, versions, times, models and scenario references are written with. */
const FORM = /^[A-Za-z0-9_*$+-][A-Za-z0-9._:/@+#~$*=%-]*$/
/** Words of letters, also where an upper case letter begins one. */
const WORDS = /[A-Z]?[a-z]{2,}|[A-Z]{3,}/g
/** UUIDs and hashes have no words. */
const HEX = /^[0-9a-f-]+$/i
/** Addresses that a client may open or show as a link. */
const ADDRESS = /^(?:https?|wss?|ftp|file|data|javascript|vbscript|mailto|blob):|^\/\/|^www\./i
/** The form of aliases. */
const ALIAS = /^said-\d+$/i

/**
 * Whether a text is an identifier, which an answer may have beside its facts. All other texts stand under `said`
 * (docs/reference/mcp.md#bounds). The empty text is one.
 */
export const isIdentifier = (text: string): boolean =>
  text === "" ||
  (text.length <= MAX_LENGTH &&
    FORM.test(text) &&
    !ADDRESS.test(text) &&
    !ALIAS.test(text) &&
    (HEX.test(text) || (text.match(WORDS) ?? []).length <= MAX_WORDS))
