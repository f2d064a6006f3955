/** Quantile of the normal distribution for an interval of 95 %. */
export const Z_95 = 1.959_963_984_540_054

export interface Interval {
  readonly low: number
  readonly high: number
}

/**
 * Score interval of 95 % of a share (Wilson 1927), without correction for continuity. Undefined without trials; no
 * successes give the lower end 0, successes alone the upper end 1.
 */
export const wilsonInterval = (successes: number, trials: number): Interval | undefined => {
  if (trials <= 0) return undefined
  const share = successes / trials
  const z2 = Z_95 ** 2
  const center = share + z2 / (2 * trials)
  const half = Z_95 * Math.sqrt((share * (1 - share) + z2 / (4 * trials)) / trials)
  const scale = 1 + z2 / trials
  return {
    low: successes <= 0 ? 0 : Math.max(0, (center - half) / scale),
    high: successes >= trials ? 1 : Math.min(1, (center + half) / scale)
  }
}
