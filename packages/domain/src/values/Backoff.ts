/** The pauses between tries: each is twice the one before. Milliseconds. */
export interface Backoff {
  readonly firstMs: number
  readonly longestMs: number
}

/** After so many doublings the pause of any setting is the longest. */
const MOST_DOUBLINGS = 53

/** The pause that follows `before` pauses, 0 for the first one. Milliseconds. */
export const backoffMs = ({ firstMs, longestMs }: Backoff, before: number): number =>
  Math.min(firstMs * 2 ** Math.min(before, MOST_DOUBLINGS), longestMs)

/** The pause longer or shorter by up to a part of it; `chance` from 0 to 1 decides. */
export const spreadBy = (part: number, pauseMs: number, chance: number): number =>
  pauseMs * (1 - part + 2 * part * chance)
