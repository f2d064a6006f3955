import { shownText } from "@runplane/domain"
import { cutToWidth } from "../TextWidth.ts"

/** What an error says, on one line; validation errors say several things. */
export const oneLine = (error: {
  readonly message: string | ReadonlyArray<string>
  readonly _tag?: string
}): string => {
  const { message } = error
  const text = (typeof message === "string" ? message : message.join("; ")).replace(/\s*[\r\n]+\s*/g, " ").trim()
  return text === "" ? (error._tag ?? "unknown failure") : text
}

/**
 * Text of others, made harmless for a terminal: on one line and without hidden characters. Joiners stay where they are
 * needed: Persian words and emoji of several people are written with them.
 */
export const plainText = (text: string): string =>
  shownText(text.replace(/(?:(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s])+/gu, " ")).trim()

/** Columns of a reason that are shown. */
const MAX_REASON = 110

/** `: <reason>`, cut to a length that fits into a line; nothing when there is no reason. */
export const because = (reason: string | undefined): string => {
  const clean = plainText(reason ?? "")
  if (clean === "") return ""
  return `: ${cutToWidth(clean, MAX_REASON)}`
}
