/**
 * Releases of the reference runtime, oldest first, between which its rules differ; the table of the differences is in
 * `packages/stack/test/runtimes/README.md`. A change made between two of these counts from the later one on. The rules
 * after the pinned release are from its release notes: no registry has those releases, so no test runs against them.
 */
export const RELEASES = ["0.6.1", "0.7.6", "0.13.0", "0.13.2", "0.14.0"] as const

export type Release = (typeof RELEASES)[number]

/** The release that the tests against the reference runtime are pinned to. */
export const PINNED_RELEASE: Release = "0.13.0"

/** Whether a release has what `first` introduced. */
export const isReleaseFrom = (release: Release, first: Release): boolean =>
  RELEASES.indexOf(release) >= RELEASES.indexOf(first)
