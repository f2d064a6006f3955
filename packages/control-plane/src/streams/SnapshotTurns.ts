/**
 * Without this: each of 500 clients of a run receives every snapshot and its events wait, 152 to 210 ms at the 99th
 * percentile instead of 75 to 98 (docs/internals/scale.md); costs late snapshots for popular runs.
 */

/** Up to this number, all clients of a run receive snapshots at the same times; more clients take turns. */
export const CLIENTS_A_SNAPSHOT = 100
const MOST_TURNS = 10

/**
 * The next time at which a client of a run receives a snapshot (docs/reference/streams.md#stream), Unix milliseconds.
 * The times are those of the clock, so that clients share the text of few snapshots; the clients of a popular run take
 * turns, because a whole state for each of them would delay its events.
 */
export const snapshotTimeAfter = (
  now: number,
  intervalMs: number,
  { audience, position }: { readonly audience: number; readonly position: number }
): number => {
  const next = Math.floor(now / intervalMs) + 1
  const turns = Math.max(1, Math.min(Math.ceil(audience / CLIENTS_A_SNAPSHOT), MOST_TURNS))
  const passed = (next + position) % turns
  return (passed === 0 ? next : next + turns - passed) * intervalMs
}
