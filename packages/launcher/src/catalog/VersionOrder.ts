import type * as Ordering from "effect/Ordering"
import * as Result from "effect/Result"
import * as SemVer from "effect/SemVer"

/**
 * Ascending order of scenario versions: semantic versions by precedence, anything else by text and before them, so that
 * the "latest" version, the last one, is a semantic version whenever there is one.
 */
export const compareVersions = (left: string, right: string): Ordering.Ordering => {
  const a = SemVer.parse(left)
  const b = SemVer.parse(right)
  if (Result.isSuccess(a) && Result.isSuccess(b)) return SemVer.Order(a.success, b.success) || compareTexts(left, right)
  if (Result.isSuccess(a)) return 1
  if (Result.isSuccess(b)) return -1
  return compareTexts(left, right)
}

/** Order by code units, the same on every machine. */
export const compareTexts = (left: string, right: string): Ordering.Ordering =>
  left === right ? 0 : left < right ? -1 : 1
