import type { ItemState } from "../ItemLife.ts"

/** A link ends after this time, or with the deadline of its question. Milliseconds. */
export const LINK_LIFE_MS = 24 * 3_600_000
/** A code counts for this time. Milliseconds. */
export const CODE_LIFE_MS = 10 * 60_000
/** Wrong codes after which a link is over. */
export const MAX_WRONG_CODES = 5
/** Codes that are sent for one link. */
export const MAX_SENT_CODES = 5
/** Digits of a code. */
const CODE_DIGITS = 6
/** A code is below this number. */
export const CODE_RANGE = 10 ** CODE_DIGITS

/** A code as a person reads and types it. */
export const codeText = (number: number): string => String(number).padStart(CODE_DIGITS, "0")

/** The link of one person to one question. Who has it has no right by it alone: an answer needs a code too. */
export interface PersonalLink {
  readonly proposalHash: string
  readonly expiresAtUnixMs: number
  /** Wrong codes so far. */
  readonly wrongCodes: number
  /** Codes that were sent so far. */
  readonly sentCodes: number
  /** Until when the last code counts; undefined while none was sent. */
  readonly codeExpiresAtUnixMs: number | undefined
}

/** The question of a link as it is now. */
export interface LinkedQuestion {
  readonly state: ItemState
  readonly proposalHash: string
}

/** Why a link takes no answer any more. */
export type LinkEnd = "wrong-codes" | "closed" | "changed" | "expired"

/** When a link ends that is made now. */
export const linkEndsAtUnixMs = (nowUnixMs: number, deadlineUnixMs: number | undefined): number =>
  Math.min(nowUnixMs + LINK_LIFE_MS, deadlineUnixMs ?? Number.POSITIVE_INFINITY)

/** Why a link is over; undefined for one that is not. */
export const linkEnd = (link: PersonalLink, question: LinkedQuestion, nowUnixMs: number): LinkEnd | undefined => {
  if (link.wrongCodes >= MAX_WRONG_CODES) return "wrong-codes"
  if (question.state !== "open") return "closed"
  if (question.proposalHash !== link.proposalHash) return "changed"
  return nowUnixMs >= link.expiresAtUnixMs ? "expired" : undefined
}

/** What a code comes to, with a link that is not over. A code of the past is not a wrong one. */
export const codeVerdict = (
  { codeExpiresAtUnixMs }: PersonalLink,
  isSame: boolean,
  nowUnixMs: number
): "right" | "wrong" | "none" | "old" => {
  if (codeExpiresAtUnixMs === undefined) return "none"
  if (nowUnixMs >= codeExpiresAtUnixMs) return "old"
  return isSame ? "right" : "wrong"
}

/** An address of which a person recognises its own: `d…@example.net`. */
export const maskedAddress = (address: string): string => {
  const at = address.lastIndexOf("@")
  const [first = ""] = address
  return at < 1 ? "…" : `${first}…${address.slice(at)}`
}
