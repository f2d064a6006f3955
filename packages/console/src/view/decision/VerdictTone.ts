import type { VerdictState, VoteSide } from "@runplane/domain"
import type { Tone } from "../format/Status.ts"

const TONES: Readonly<Record<VerdictState, Tone>> = {
  for: "good",
  against: "bad",
  decided: "calm",
  denied: "warn",
  open: "accent",
  suspended: "warn",
  expired: "calm",
  cancelled: "calm",
  none: "calm"
}

/** Green and red are for and against, never the success of a run. */
export const verdictTone = (verdict: VerdictState): Tone => TONES[verdict]

/** Classes that fill the shape of a vote. */
export const voteFill: Readonly<Record<VoteSide, string>> = {
  for: "fill-good",
  against: "fill-bad",
  abstained: "fill-abstained",
  none: "fill-silent"
}
