import { committedWords, outcomeText, standardMode, verdictWord } from "@runplane/domain"

/** An outcome for a reader: "Approved", or the action of the participants' own with its side. */
export const outcomeWords = (outcome: { readonly action: string; readonly positive: boolean | null }): string => {
  const { action, positive } = outcome
  if (positive === null || committedWords(action, positive) === undefined) return outcomeText(outcome)
  // A standard action begins with its mode.
  return verdictWord(positive ? "for" : "against", standardMode(`macp.mode.${action.split(".", 1)[0]}.v1`))
}
