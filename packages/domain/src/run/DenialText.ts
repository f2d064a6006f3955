import type { DenialReason } from "./Denials.ts"

/** A reason as one text, with its code and its participants. */
export const denialText = ({ code, message, participants = [], participantsOmitted = 0 }: DenialReason): string => {
  const others = participantsOmitted > 0 ? ` and ${participantsOmitted} more` : ""
  return `${code}: ${message}${participants.length === 0 ? others : ` (${participants.join(", ")}${others})`}`
}
