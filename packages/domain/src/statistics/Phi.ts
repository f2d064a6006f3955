/** How often two binary features occur together. */
export interface TwoByTwo {
  readonly both: number
  readonly leftOnly: number
  readonly rightOnly: number
  readonly neither: number
}

/** The correlation of two binary features (Pearson's phi); undefined where one of them never or always occurs. */
export const phiOf = ({ both, leftOnly, neither, rightOnly }: TwoByTwo): number | undefined =>
  phiOfSums(both + leftOnly + rightOnly + neither, both + leftOnly, both + rightOnly, both)

/** The same from the number of all, of each feature, and of both together. */
export const phiOfSums = (n: number, left: number, right: number, both: number): number | undefined => {
  const spread = left * (n - left) * (right * (n - right))
  return spread > 0 ? (n * both - left * right) / Math.sqrt(spread) : undefined
}

/** The largest phi of two features with these rates: the rarer one occurs only with the other. Undefined as phi is. */
export const largestPhi = (left: number, right: number): number | undefined => {
  const [low, high] = left < right ? [left, right] : [right, left]
  return low > 0 && high < 1 ? Math.sqrt((low * (1 - high)) / (high * (1 - low))) : undefined
}
