import * as Schedule from "effect/Schedule"

/** Pauses that double from the first to the longest, both in milliseconds; endless unless the caller ends it. */
export const backoff = (firstMs: number, longestMs: number) =>
  Schedule.min([Schedule.exponential(firstMs, 2), Schedule.spaced(longestMs)])

/** The same with each pause spread by a fifth, for callers that would otherwise all come back at the same moment. */
export const jitteredBackoff = (firstMs: number, longestMs: number) => Schedule.jittered(backoff(firstMs, longestMs))
