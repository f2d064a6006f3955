/**
 * Money is summed in whole billionths of a US dollar, so that no sum is 0.30000000000000004 and the order of its parts
 * does not matter. Amounts stay numbers of dollars everywhere else: a double holds billionths exactly up to 2,000,000
 * dollars, and is within one of them beyond.
 */
const BILLIONTHS = 1_000_000_000

/** An amount of US dollars in whole billionths, half of one rounded up. */
export const nanoUsd = (usd: number): number => Math.round(usd * BILLIONTHS)

/** Whole billionths in US dollars. */
export const usdOfNano = (nano: number): number => nano / BILLIONTHS

/** The sum of two amounts of US dollars. */
export const addUsd = (one: number, other: number): number => usdOfNano(nanoUsd(one) + nanoUsd(other))

/** The sum of amounts of US dollars. */
export const sumUsd = (amounts: Iterable<number>): number => {
  let sum = 0
  for (const usd of amounts) sum += nanoUsd(usd)
  return usdOfNano(sum)
}

/** Digits that a small amount keeps, the same as in the console. */
const SIGNIFICANT = 3
const MOST_DECIMALS = 9

/** `$0.0123`: so many decimals, and more where an amount is so small that they would not show three of its digits. */
export const usdText = (usd: number, decimals: number): string => {
  const digits = usd === 0 ? 0 : SIGNIFICANT - 1 - Math.floor(Math.log10(Math.abs(usd)))
  return `$${usd.toFixed(Math.max(decimals, Math.min(digits, MOST_DECIMALS)))}`
}
