import { cutToWidth } from "../TextWidth.ts"

/**
 * Text of others, made harmless for a terminal: on one line and without control characters. Joiners stay: Persian words
 * and emoji of several people are written with them.
 */
export const plainText = (text: string): string =>
  text.replace(/(?:(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s])+/gu, " ").trim()

/** Columns of a reason that are shown. */
const MAX_REASON = 110

/** `: <reason>`, cut to a length that fits into a line; nothing when there is no reason. */
export const because = (reason: string | undefined): string => {
  const clean = plainText(reason ?? "")
  if (clean === "") return ""
  return `: ${cutToWidth(clean, MAX_REASON)}`
}
