import { isTerminal, type RunState, standardMode, type VerdictState, verdictWord } from "@runplane/domain"
import type { Tone } from "../format/Status.ts"
import { verdictTone } from "./VerdictTone.ts"

/** A verdict as a word in its colour. */
export interface VerdictLabel {
  readonly verdict: VerdictState
  readonly word: string
  readonly tone: Tone
}

export const verdictLabel = (verdict: VerdictState, modeName: string | undefined): VerdictLabel => ({
  verdict,
  word: verdictWord(verdict, standardMode(modeName ?? "")),
  tone: verdictTone(verdict)
})

/** The verdict of a run by its state; undefined while it is open, and for a run that decides nothing. */
export const stateVerdict = ({ decision: { current }, policy, run }: RunState): VerdictLabel | undefined => {
  if (current?.finalized === true) {
    const { outcomePositive = null } = current
    return verdictLabel(outcomePositive === null ? "decided" : outcomePositive ? "for" : "against", run.modeName)
  }
  if (!isTerminal(run.status) || run.status === "cancelled") return undefined
  return (policy.denials ?? []).length > 0 ? verdictLabel("denied", run.modeName) : undefined
}
