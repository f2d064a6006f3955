import type { BoundPolicy } from "./PolicyRules.ts"

/**
 * Releases of the reference runtime, oldest first, whose rules the sandbox follows where they differ (runtime-wire
 * section 12; `packages/stack/test/runtimes/README.md` lists the differences). A change made between two of these
 * counts from the later one on.
 */
export const RELEASES = ["0.6.1", "0.7.6", "0.13.0", "0.14.0"] as const

export type Release = (typeof RELEASES)[number]

/** The release that the tests against the reference runtime are pinned to. */
export const PINNED_RELEASE: Release = "0.13.0"

export const isFrom = (release: Release, first: Release): boolean =>
  RELEASES.indexOf(release) >= RELEASES.indexOf(first)

/**
 * Why no commitment under this policy can be allowed, in any mode; undefined when its version is evaluated (section
 * 9.2).
 */
export const unsupportedVersion = (policy: BoundPolicy, release: Release): string | undefined =>
  policy.schemaVersion > 2 && !isFrom(release, "0.7.6")
    ? `unsupported policy schema version ${policy.schemaVersion}`
    : undefined
