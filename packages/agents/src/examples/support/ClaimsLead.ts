import { lead } from "../decision/Lead.ts"
import { claimOf } from "./ClaimContext.ts"

/** The lead of the claims desk. A claim that the customer takes back needs no decision. */
export const claimsLead = lead({
  group: "claims desk",
  scope: "refunds",
  calledOff: ({ context }) => {
    const { claimId, withdrawn } = claimOf(context)
    return withdrawn ? `${claimId} was withdrawn: nothing to decide` : undefined
  }
})
