import * as Schema from "effect/Schema"
import { contextReader, flag, number, text } from "../runner/ContextFields.ts"

/** Days within which a purchase is refunded. */
const REFUND_DAYS = 30

/** What the agents know about a claim: the session context of the scenario `support/refund-claim`. */
export const ClaimContext = Schema.Struct({
  claimId: text("CLM-0"),
  amount: number(0),
  daysSincePurchase: number(0),
  receiptShown: flag(true),
  /** The customer takes the claim back before it is decided. */
  withdrawn: flag(false)
})

export type ClaimContext = typeof ClaimContext.Type

export const claimOf = contextReader(ClaimContext)

/** Whether a refund is right, which the facts of the claim alone say. */
export const isGenuine = ({ daysSincePurchase, receiptShown }: ClaimContext): boolean =>
  receiptShown && daysSincePurchase <= REFUND_DAYS
