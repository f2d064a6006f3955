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
