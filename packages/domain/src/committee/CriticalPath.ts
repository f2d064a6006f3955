/**
 * The time until the last of some seats has acted, if no seat waits for another: an estimate of a decision without the
 * others. Undefined where all of them were silent.
 */
export const lastActOf = (
  atMs: ReadonlyArray<number | undefined>,
  isKept: (seat: number) => boolean
): number | undefined => {
  let last: number | undefined
  for (const [seat, at] of atMs.entries()) if (at !== undefined && isKept(seat)) last = Math.max(last ?? 0, at)
  return last
}

/** How much sooner the last of the kept seats acted than the last of all; undefined where no seat has acted. */
export const savedMs = (
  atMs: ReadonlyArray<number | undefined>,
  isKept: (seat: number) => boolean
): number | undefined => {
  const all = lastActOf(atMs, () => true)
  return all === undefined ? undefined : all - (lastActOf(atMs, isKept) ?? 0)
}
