/** So many clients of a run get a snapshot at one time; of more, each gets one at every second, third ... time. */
export const CLIENTS_A_SNAPSHOT = 100
const MOST_TURNS = 10

/**
 * The next time at which a client of a run may be sent a snapshot (docs/reference/http.md#stream); Unix milliseconds.
 * `audience` are the clients of the run, and `place` is which of them this is.
 *
 * The times are those of the clock, so that clients are sent the same few snapshots. A whole state for everybody at
 * once would hold up the events of a popular run, so its clients take turns.
 */
export const snapshotTimeAfter = (
  now: number,
  intervalMs: number,
  { audience, place }: { readonly audience: number; readonly place: number }
): number => {
  const next = Math.floor(now / intervalMs) + 1
  const turns = Math.max(1, Math.min(Math.ceil(audience / CLIENTS_A_SNAPSHOT), MOST_TURNS))
  const passed = (next + place) % turns
  return (passed === 0 ? next : next + turns - passed) * intervalMs
}
