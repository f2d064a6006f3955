/** Appends to a list that keeps its most recent `cap` items; the input stays as it is. */
export const appendCapped = <A>(items: ReadonlyArray<A>, item: A, cap: number): ReadonlyArray<A> => {
  const next = items.length >= cap ? items.slice(items.length - cap + 1) : items.slice()
  next.push(item)
  return next
}

export const replaceAt = <A>(items: ReadonlyArray<A>, at: number, item: A): ReadonlyArray<A> => {
  const next = items.slice()
  next[at] = item
  return next
}
