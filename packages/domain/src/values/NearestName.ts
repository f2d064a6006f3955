/** The one of some names that is nearest to a text, and how far from it; none among no names. */
export const nearestName = (
  text: string,
  names: Iterable<string>
): { readonly name: string; readonly distance: number } | undefined => {
  let best: { readonly name: string; readonly distance: number } | undefined
  for (const name of names) {
    const distance = distanceBetween(text, name)
    if (best === undefined || distance < best.distance) best = { name, distance }
  }
  return best
}

/** Longest name that is compared, characters: no name is half as long. */
const LONGEST_NAME = 64

/**
 * The known name that a wrong one is a slip of; undefined when more than a third of its characters, or more than three,
 * differ. Case, `_` and `-` do not count.
 */
export const meantName = (wrong: string, names: Iterable<string>): string | undefined => {
  if (wrong.length > LONGEST_NAME) return undefined
  const plain = (text: string) => text.replace(/[_-]/g, "").toLowerCase()
  const byPlain = new Map(Array.from(names, (name) => [plain(name), name]))
  const nearest = nearestName(plain(wrong), byPlain.keys())
  return nearest !== undefined && nearest.distance <= Math.min(3, Math.floor(nearest.name.length / 3))
    ? byPlain.get(nearest.name)
    : undefined
}

/** Characters to be put in, taken out or replaced to make one text of the other. */
const distanceBetween = (from: string, to: string): number => {
  let above = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    above = current
  }
  return above[to.length] ?? 0
}
