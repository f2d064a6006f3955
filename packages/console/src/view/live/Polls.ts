/**
 * Intervals of polls, milliseconds. A page has one poll that is fresh, `OFTEN_MS`, or `SOON_MS` where a person waits
 * for the answer; all else is read again once a minute. Two open windows of any page stay under the default
 * THROTTLE_LIMIT (docs/reference/settings.md). A finished run has no poll.
 */
export const SOON_MS = 5_000
export const OFTEN_MS = 10_000
export const LATER_MS = 60_000
