/**
 * A text as lists compare it: without case, and an accented letter as one character
 * (docs/reference/search.md#folding). Upper case makes SS of a sharp s, and the position of a sigma in its word decides
 * its small letter, so both forms become one. The database folds with the function `fold_text`.
 */
export const foldText = (text: string): string =>
  text.normalize("NFC").toLowerCase().toUpperCase().toLowerCase().replaceAll("\u03c2", "\u03c3").normalize("NFC")
