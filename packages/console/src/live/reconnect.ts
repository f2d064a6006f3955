import * as Schedule from "effect/Schedule"

/** Waits between attempts to reach a service that is away: doubling from 500 ms, at most 10 s. */
export const reconnect = Schedule.min([Schedule.exponential("500 millis", 2), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered
)
