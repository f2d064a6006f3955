/** A sign-in of the last so many seconds is a fresh one. */
export const FRESH_SECONDS = 300

/** How far the clock of an issuer may be ahead. Milliseconds. */
const AHEAD_MS = 60_000

/** Whether a person has signed in at the issuer just now; a sign-in without a time never is fresh. */
export const isFreshSignIn = (signedInAtUnixMs: number | undefined, nowUnixMs: number): boolean => {
  if (signedInAtUnixMs === undefined) return false
  const ageMs = nowUnixMs - signedInAtUnixMs
  return ageMs <= FRESH_SECONDS * 1_000 && ageMs >= -AHEAD_MS
}
