import { spread } from "../runner/Seed.ts"
import type { Terms } from "./Terms.ts"

/** One side of a price negotiation: its first price and its limit. Prices in euros. */
export interface Side {
  readonly opening: Terms
  readonly limitPrice: number
  /** `lower` for a buyer, `higher` for a seller. */
  readonly wants: "lower" | "higher"
  /** Payment days that this side settles on in the end. */
  readonly settleDays: number
}

/** How the negotiators may differ in temperament: hundredths of the exponent of their concessions. */
const HASTIEST = 70
const MOST_STEADFAST = 150

/**
 * What a side offers with its n-th offer, counted from 0, when it makes `of` offers at most: it starts at its opening
 * and gives in towards its limit, the hasty early, the patient late. The seed sets the temperament.
 */
export const offerOf = (side: Side, n: number, of: number, seed: string): Terms => {
  const { opening, limitPrice, settleDays } = side
  const temperament = spread(seed, HASTIEST, MOST_STEADFAST) / 100
  const given = of <= 1 ? 0 : Math.min(n / (of - 1), 1) ** temperament
  return {
    ...opening,
    unitPrice: Math.round(opening.unitPrice + (limitPrice - opening.unitPrice) * given),
    paymentDays: Math.round(opening.paymentDays + (settleDays - opening.paymentDays) * given)
  }
}

/** Whether a price is within the side's limit at all. */
export const isAffordable = ({ limitPrice, wants }: Side, price: number): boolean =>
  wants === "lower" ? price <= limitPrice : price >= limitPrice

/**
 * Whether a price is at least as good as the next offer of the side, so that the offer is not needed.
 */
export const isGoodEnough = (side: Side, price: number, next: Terms): boolean =>
  isAffordable(side, price) && (side.wants === "lower" ? price <= next.unitPrice : price >= next.unitPrice)
