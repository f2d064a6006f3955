import type { Assessment } from "../decision/Assessment.ts"
import type { Brief } from "../runner/Brief.ts"
import { around, hash, pick } from "../runner/Seed.ts"
import { claimOf, isGenuine } from "./ClaimContext.ts"

/** Of a hundred claims of which a model misreads some, how many a single seat misreads by itself. */
const OWN_SLIPS = 4

/** Hundredths by which confidence varies. */
const CONFIDENCE_VARIES = 8

/**
 * What a reviewer concludes about a claim. The claim and the model decide which claims it misreads, so two seats with
 * one model misread the same ones, a few slips of each seat aside.
 */
export const reviewClaim =
  (model: string, misreadShare: number) =>
  ({ context, seed, self }: Brief): Assessment => {
    const claim = claimOf(context)
    const { claimId, daysSincePurchase: days, receiptShown } = claim
    const chance = (by: string) => hash(`${claimId}:${days}:${receiptShown}:${by}:claim`) % 100
    const isMisread = chance(model) < misreadShare || chance(self) < OWN_SLIPS
    const confidence = around(`${seed}:${self}`, 0.84, CONFIDENCE_VARIES)
    if (isGenuine(claim) !== isMisread) {
      const reason = pick(`${seed}:${self}`, [
        `${claimId} is within what we refund`,
        `the claim reads as a genuine one, ${days} days after the purchase`
      ])
      return { recommendation: "APPROVE", confidence, reason, alerts: [] }
    }
    const reason = pick(`${seed}:${self}`, [
      `${claimId} is not within what we refund`,
      `the claim does not add up, ${days} days after the purchase`
    ])
    return { recommendation: "REJECT", confidence, reason, alerts: [] }
  }
