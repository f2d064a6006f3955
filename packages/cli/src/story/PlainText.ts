/** Text of others, made harmless for a terminal: on one line and without control characters. */
export const plainText = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim()

/** Characters of a reason that are shown. */
const MAX_REASON = 110

/** `: <reason>`, cut to a length that fits into a line; nothing when there is no reason. */
export const because = (reason: string | undefined): string => {
  const clean = plainText(reason ?? "")
  if (clean === "") return ""
  return `: ${clean.length > MAX_REASON ? `${clean.slice(0, MAX_REASON - 1)}…` : clean}`
}
