import type { Interval, ShareInterval } from "./Wilson.ts"

/** The difference of two independent shares, `after` less `before`, with its interval (Newcombe 1998, method 10). */
export const shareDifference = (after: ShareInterval, before: ShareInterval): Interval & { readonly value: number } => {
  const value = after.rate - before.rate
  return {
    value,
    low: value - Math.hypot(after.rate - after.low, before.high - before.rate),
    high: value + Math.hypot(after.high - after.rate, before.rate - before.low)
  }
}
