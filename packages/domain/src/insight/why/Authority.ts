import { mayCommit } from "../../policies/Evaluation.ts"
import type { SessionTerms } from "../../policies/SessionRecord.ts"
import { type Phrase, phrase } from "../../values/Phrase.ts"

/** Whether the policy lets the sender of the commitment commit, in words. */
export const authorityText = (by: string, terms: SessionTerms): Phrase => {
  const sender = by === "" ? phrase`an unnamed participant` : phrase`${by}`
  const isOne = mayCommit(by, terms)
  switch (terms.policy.rules.commitment.authority) {
    case "initiator_only":
      return isOne
        ? phrase`${sender} opened the session, and its initiator may commit`
        : phrase`${sender} did not open the session, and only its initiator may commit`
    case "any_participant":
      return isOne
        ? phrase`${sender} takes part, and any participant may commit`
        : phrase`${sender} does not take part, and only participants may commit`
    case "designated_role":
      return isOne
        ? phrase`the policy designates ${sender} to commit`
        : phrase`the policy does not designate ${sender} to commit`
  }
}
